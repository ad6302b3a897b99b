import { LRUCache } from 'lru-cache'
import { entryLimit } from '#core/cache-limit.ts'

/** One use of `key` is counted (`by` 1) or taken back (-1). `name` and `seconds` say which uses are counted together. */
export type UseAsk = { name: string; key: string; seconds: number; by: 1 | -1 }
export type UseCount = { used: number; msBeforeNext: number }

/** Counts uses in windows that open with the first of them, in one place for all who must agree. */
export type UseStore = (ask: UseAsk) => Promise<UseCount>

/** Of each kind of use; whoever was not seen for longest is forgotten first: a flood of names must not fill the memory. */
const mostKeys = 200_000

/** A window neither ends early nor lasts for hours because the machine's clock was set meanwhile. */
const steadyNow = (): number => performance.timeOrigin + performance.now()

type Window = { used: number; endsAt: number }

/** Counts in this process. */
export function createUseStore(now: () => number = steadyNow): UseStore {
  const kinds = new Map<string, LRUCache<string, Window>>()

  return async ({ name, key, seconds, by }) => {
    const kind = `${name}:${seconds}`
    const windows = kinds.get(kind) ?? new LRUCache<string, Window>(entryLimit(mostKeys))
    kinds.set(kind, windows)
    const at = now()
    const known = windows.get(key)
    const isOpen = known !== undefined && known.endsAt > at
    if (!isOpen && by < 0) return { used: 0, msBeforeNext: 0 }
    const window = isOpen ? known : { used: 0, endsAt: at + seconds * 1000 }
    window.used = Math.max(0, window.used + by)
    if (!isOpen) windows.set(key, window)
    return { used: window.used, msBeforeNext: window.endsAt - at }
  }
}
