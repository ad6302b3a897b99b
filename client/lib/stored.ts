import { useSyncExternalStore } from 'react'

type Format<Value> = { parse: (text: string) => Value; format: (value: Value) => string | null; fallback: Value }

export type Stored<Value> = {
  get: () => Value
  set: (value: Value) => void
  subscribe: (listener: () => void) => () => void
}

const read = (key: string): string | null => {
  try {
    return localStorage.getItem(key)
  } catch {
    // Storage may be forbidden; the page then remembers only until it is left.
    return null
  }
}

const write = (key: string, text: string | null) => {
  try {
    if (text === null) localStorage.removeItem(key)
    else localStorage.setItem(key, text)
  } catch {
    // As above: nothing is lost but the memory.
  }
}

/** One value in local storage, watched by this tab and followed across tabs. */
export function createStored<Value>(key: string, { parse, format, fallback }: Format<Value>): Stored<Value> {
  const listeners = new Set<() => void>()
  const load = (): Value => {
    const text = read(key)
    if (text === null) return fallback
    try {
      return parse(text)
    } catch {
      return fallback
    }
  }
  let value = load()
  const notify = () => listeners.forEach((listener) => listener())
  if (typeof window !== 'undefined') {
    window.addEventListener('storage', (event) => {
      if (event.key !== key && event.key !== null) return
      value = load()
      notify()
    })
  }
  return {
    get: () => value,
    set: (next) => {
      value = next
      write(key, format(next))
      notify()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** As `createStored`, for a value that JSON can hold. */
export const createStoredJson = <Value>(key: string, fallback: Value): Stored<Value> =>
  createStored<Value>(key, {
    parse: (text) => JSON.parse(text) as Value,
    format: (value) => (value === null || value === undefined ? null : JSON.stringify(value)),
    fallback,
  })

export const useStored = <Value>(stored: Stored<Value>): Value =>
  useSyncExternalStore(stored.subscribe, stored.get, stored.get)
