import type { AttemptFailed } from './failure.ts'

/** Failures in a row that start a cool-down without the upstream asking for one. */
const failuresBeforeRest = 3
const firstRestMs = 5_000
const longestRestMs = 60_000
const longestAskedRestMs = 300_000
/** How long one try after a cool-down keeps the others away. */
const probeMs = 10_000
/** Entries of channels that have since gone are dropped when there are many. */
const mostEntries = 50_000

type Entry = { failures: number; restUntil: number }

/**
 * Which keys of which channels are resting for a model after failures. Apart from disabling: nothing is stored, and it ends
 * by itself. After a rest one call tries first; when it succeeds the key is healthy again, when it fails it rests longer.
 */
export type Health = {
  /** Nothing rests: the usual case, told without looking at anything. */
  readonly allHealthy: boolean
  isHealthy: (channelId: number, key: number, model: string) => boolean
  /** A call goes there now. */
  started: (place: Place) => void
  failed: (place: Place, error: AttemptFailed) => void
  succeeded: (place: Place) => void
  /** For the console: what rests now. */
  resting: () => { channelId: number; key: number; model: string; until: Date }[]
}

type Place = { channelId: number; key: number; model: string }

const nameOf = ({ channelId, key, model }: Place): string => `${channelId}:${key}:${model}`

export function createHealth(now: () => number): Health {
  const entries = new Map<string, Entry>()

  const restFor = (entry: Entry, error: AttemptFailed): number => {
    if (error.retryAfterMs !== null && error.retryAfterMs > 0) return Math.min(error.retryAfterMs, longestAskedRestMs)
    if (entry.failures < failuresBeforeRest) return 0
    return Math.min(firstRestMs * 2 ** (entry.failures - failuresBeforeRest), longestRestMs)
  }

  return {
    get allHealthy() {
      return entries.size === 0
    },
    isHealthy: (channelId, key, model) => {
      const entry = entries.get(nameOf({ channelId, key, model }))
      return entry === undefined || entry.restUntil <= now()
    },
    started: (place) => {
      const entry = entries.size > 0 ? entries.get(nameOf(place)) : undefined
      // After a rest the first call is a probe: until it is back the others go elsewhere.
      if (entry && entry.failures >= failuresBeforeRest) entry.restUntil = Math.max(entry.restUntil, now() + probeMs)
    },
    failed: (place, error) => {
      if (!isOverload(error)) return
      if (entries.size > mostEntries) entries.clear()
      const entry = entries.get(nameOf(place)) ?? { failures: 0, restUntil: 0 }
      entry.failures += 1
      entry.restUntil = now() + restFor(entry, error)
      entries.set(nameOf(place), entry)
    },
    succeeded: (place) => {
      if (entries.size > 0) entries.delete(nameOf(place))
    },
    resting: () =>
      [...entries].flatMap(([name, entry]) => {
        if (entry.restUntil <= now()) return []
        const [channelId = '0', key = '0', ...model] = name.split(':')
        return [
          { channelId: Number(channelId), key: Number(key), model: model.join(':'), until: new Date(entry.restUntil) },
        ]
      }),
  }
}

/** The upstream is too busy or broken; what a caller sent is never the channel's fault. */
const isOverload = ({ local, connection, failure }: AttemptFailed): boolean =>
  !local && (connection || failure.status === 429 || failure.status >= 500)
