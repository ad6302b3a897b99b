import type { Store } from './store.ts'
import { createStoredJson } from './stored.ts'

/** What this browser keeps of one reader apart from all others; each is a name before the reader's number. */
const storedNames = ['playground-conversations', 'playground-settings'] as const

export const readerKey = (name: (typeof storedNames)[number], userId: number): string => `${name}-${userId}`

const choices = new Map<number, Store<boolean>>()

/** Whether what is stored of a reader goes when they sign out. */
export function forgetsAtSignOut(userId: number): Store<boolean> {
  const known = choices.get(userId)
  if (known) return known
  const stored = createStoredJson<boolean>(`forget-at-sign-out-${userId}`, false)
  choices.set(userId, stored)
  return stored
}

/** Removes it from the storage and from the memory of this tab; other tabs notice by themselves. */
export function forgetReader(userId: number): void {
  for (const key of storedNames.map((name) => readerKey(name, userId))) {
    try {
      localStorage.removeItem(key)
    } catch {
      // Where storage is forbidden nothing was stored.
    }
    window.dispatchEvent(new StorageEvent('storage', { key }))
  }
}
