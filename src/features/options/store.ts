import { oneAtATime } from '#core/one-at-a-time.ts'
import type { OptionKey, OptionsReader } from '#core/options/registry/index.ts'
import { type OptionsSnapshot, snapshotOf } from '#core/options/snapshot.ts'

export type OptionRow = { key: string; value: string }

/** Called after a reload with the keys whose text is another one now. */
type OptionsListener = (changed: ReadonlySet<string>) => void

/** The options as this process knows them; reading costs a property look-up. */
export type OptionsStore = OptionsReader & {
  snapshot: () => OptionsSnapshot
  /** Resolves when rows written before the call are live. On failure the former snapshot stays. */
  reload: () => Promise<void>
  /** Returns what ends the listening. */
  onChange: (listener: OptionsListener) => () => void
}

/** Starts at the defaults; `load` gives the rows with their secrets readable. */
export function createOptionsStore(deps: {
  load: () => Promise<OptionRow[]>
  onUnreadable?: (keys: readonly OptionKey[]) => void
}): OptionsStore {
  let current = snapshotOf([])
  const listeners = new Set<OptionsListener>()

  const take = async (): Promise<void> => {
    const next = snapshotOf(await deps.load(), current)
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
