import { oneAtATime } from '#core/one-at-a-time.ts'
import type { OptionKey, OptionsReader } from '#core/options/registry/index.ts'
import { type OptionsSnapshot, snapshotOf } from '#core/options/snapshot.ts'

export type OptionRow = { key: string; value: string }

/** The rows that count now, and those that count from an instant on. */
export type LoadedRows = { rows: OptionRow[]; next: { at: Date; rows: OptionRow[] } | null }

/** Called after a reload with the keys whose text is another one now. */
type OptionsListener = (changed: ReadonlySet<string>) => void

/** The options as this process knows them; reading costs a property look-up. */
export type OptionsStore = OptionsReader & {
  snapshot: () => OptionsSnapshot
  /** Resolves when rows written before the call are live. On failure the former snapshot stays. */
  reload: () => Promise<void>
  /** Returns what ends the listening. */
  onChange: (listener: OptionsListener) => () => void
  /** No changeover is waited for any more. */
  stop: () => void
}

/** Timers of a longer time fire at once. */
const longestTimerMs = 2_000_000_000

/** Starts at the defaults; `load` gives the rows with their secrets readable. */
export function createOptionsStore(deps: {
  load: () => Promise<LoadedRows | OptionRow[]>
  onUnreadable?: (keys: readonly OptionKey[]) => void
  /** The clock that the instants of changeovers are compared with. */
  now?: () => Date
  /** Is called when a changeover has happened: what follows it has to be read. */
  onChangedOver?: () => void
}): OptionsStore {
  let current = snapshotOf([])
  const listeners = new Set<OptionsListener>()

  const now = deps.now ?? (() => new Date())
  let timer: NodeJS.Timeout | undefined

  /** The snapshot that follows is made beforehand, so that at its instant every node changes over at once and as a whole. */
  const awaitChangeover = (next: LoadedRows['next']): void => {
    clearTimeout(timer)
    if (!next) return
    const prepared = snapshotOf(next.rows, current)
    const wait = (): void => {
      const left = next.at.getTime() - now().getTime()
      if (left <= 0) {
        replace(prepared)
        deps.onChangedOver?.()
        return
      }
      // A timer may be early by a part of a millisecond, and no timer is longer than this.
      timer = setTimeout(wait, Math.min(Math.ceil(left), longestTimerMs))
      timer.unref()
    }
    wait()
  }

  const take = async (): Promise<void> => {
    const loaded = await deps.load()
    const { rows, next } = Array.isArray(loaded) ? { rows: loaded, next: null } : loaded
    // What was read before an instant and comes after it must not bring the old back.
    if (!next || next.at > now()) replace(snapshotOf(rows, current))
    awaitChangeover(next)
  }

  const replace = (next: OptionsSnapshot): void => {
    const changed = changedKeys(current, next)
    if (next.unreadable.length > 0 && (changed.size > 0 || current.unreadable.length === 0)) {
      deps.onUnreadable?.(next.unreadable)
    }
    current = next
    if (changed.size > 0) for (const listener of listeners) listener(changed)
  }

  return {
    get: (key) => current.values[key],
    snapshot: () => current,
    reload: oneAtATime(take),
    stop: () => clearTimeout(timer),
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function changedKeys(before: OptionsSnapshot, after: OptionsSnapshot): Set<string> {
  const changed = new Set<string>()
  for (const [key, text] of after.texts) if (before.texts.get(key) !== text) changed.add(key)
  for (const key of before.texts.keys()) if (!after.texts.has(key)) changed.add(key)
  return changed
}
