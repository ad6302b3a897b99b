import { createStore, type Store } from './store.ts'

type Format<Value> = {
  parse: (text: string) => Value
  format: (value: Value) => string | null
  fallback: Value
  /** What another tab stored is adopted, at once where nothing is said. */
  follow?: (value: Value, adopt: () => void) => void
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
export function createStored<Value>(key: string, { parse, format, fallback, follow }: Format<Value>): Store<Value> {
  const load = (): Value => {
    const text = read(key)
    if (text === null) return fallback
    try {
      return parse(text)
    } catch {
      return fallback
    }
  }
  const store = createStore(load())
  if (typeof window !== 'undefined') {
    window.addEventListener('storage', (event) => {
      if (event.key !== key && event.key !== null) return
      const next = load()
      if (follow) follow(next, () => store.set(next))
      else store.set(next)
    })
  }
  return {
    ...store,
    set: (next) => {
      write(key, format(next))
      store.set(next)
    },
  }
}

/** As `createStored`, for a value that JSON can hold. */
export const createStoredJson = <Value>(key: string, fallback: Value): Store<Value> =>
  createStored<Value>(key, {
    parse: (text) => JSON.parse(text) as Value,
    format: (value) => (value === null || value === undefined ? null : JSON.stringify(value)),
    fallback,
  })
