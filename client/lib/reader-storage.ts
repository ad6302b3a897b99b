import type { Store } from './store.ts'
import { createStoredJson } from './stored.ts'

/** What this browser keeps of one reader apart from all others; each is a name before the reader's number. */
const storedNames = [
  'playground-conversations',
  'playground-settings',
  'playground-drafts',
  'playground-draft-images',
  'log-views',
] as const

export const readerKey = (name: (typeof storedNames)[number], userId: number): string => `${name}-${userId}`

/** One store for each reader, made when it is first asked for. */
export function perReader<Value>(make: (userId: number) => Store<Value>): (userId: number) => Store<Value> {
  const stores = new Map<number, Store<Value>>()
  return (userId) => {
    const store = stores.get(userId) ?? make(userId)
    stores.set(userId, store)
    return store
  }
}

/** Whether what is stored of a reader goes when they sign out. */
export const forgetsAtSignOut = perReader((userId) => createStoredJson<boolean>(`forget-at-sign-out-${userId}`, false))

/** Removes it from the storage and from the memory of this tab; other tabs notice by themselves. */
export function forgetReader(userId: number): void {
  for (const key of storedNames.map((name) => readerKey(name, userId))) {
    try {
      localStorage.removeItem(key)
      sessionStorage.removeItem(key)
    } catch {
      // Where storage is forbidden nothing was stored.
    }
    window.dispatchEvent(new StorageEvent('storage', { key }))
  }
}
