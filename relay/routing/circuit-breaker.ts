import type { AttemptFailed } from '#relay/attempt/failure.ts'

/** Failures in a row that start a cool-down without the upstream asking for one. */
const failuresBeforeRest = 3
const firstRestMs = 5_000
/** Short of ten seconds: so soon a key that is well again is found out. */
const longestRestMs = 8_000
const longestAskedRestMs = 300_000
/** How long one try after a cool-down keeps the others away. */
const probeMs = 10_000
/** Entries of channels that have since gone are dropped when there are many. */
const mostEntries = 50_000

type Entry = {
  failures: number
  restUntil: number
  /** The upstream named the time itself. */
  asked: boolean
  /** The rest as it was before the try that is under way. */
  before: { restUntil: number; asked: boolean } | null
}

/**
 * Which keys of which channels are resting for a model after failures. Apart from disabling: nothing is stored, and it ends
 * by itself. After a rest one call tries first; when it succeeds the key is healthy again, when it fails it rests longer.
 */
export type Health = {
  /** Nothing rests: the usual case, told without looking at anything. */
  readonly allHealthy: boolean
  isHealthy: (channelId: number, key: number, model: string) => boolean
  /** How long the upstream still wants to be left alone by this key; 0 where it did not ask. */
  askedRestMs: (place: Place) => number
  /** A call goes there now. */
  started: (place: Place) => void
  failed: (place: Place, error: AttemptFailed) => void
  succeeded: (place: Place) => void
  /** The call ended without telling anything about the place. */
  left: (place: Place) => void
  /** A channel is another now: what is known of its keys is told of others. */
  forget: (channelId: number) => void
  /** For the console: what rests now. */
  resting: () => { channelId: number; key: number; model: string; until: Date }[]
}

export type Place = { channelId: number; key: number; model: string }

const nameOf = ({ channelId, key, model }: Place): string => `${channelId}:${key}:${model}`

export function createHealth(now: () => number): Health {
  const entries = new Map<string, Entry>()
  const entryOf = (place: Place): Entry | undefined => (entries.size > 0 ? entries.get(nameOf(place)) : undefined)

  const restFor = (entry: Entry, error: AttemptFailed): number => {
    if (error.retryAfterMs !== null && error.retryAfterMs > 0) return Math.min(error.retryAfterMs, longestAskedRestMs)
    if (entry.failures < failuresBeforeRest) return 0
    return Math.min(firstRestMs * 2 ** (entry.failures - failuresBeforeRest), longestRestMs)
  }
  const left = (place: Place): void => {
    const entry = entryOf(place)
    if (entry?.before) Object.assign(entry, entry.before, { before: null })
  }

  return {
    get allHealthy() {
      return entries.size === 0
    },
    isHealthy: (channelId, key, model) => {
      const entry = entries.get(nameOf({ channelId, key, model }))
      return entry === undefined || entry.restUntil <= now()
    },
    askedRestMs: (place) => {
      const entry = entryOf(place)
      return entry?.asked ? Math.max(0, entry.restUntil - now()) : 0
    },
    started: (place) => {
      const entry = entryOf(place)
      if (!entry || entry.restUntil === 0) return
      // After a rest the first call is a probe: until it is back the others go elsewhere.
      const until = now() + probeMs
      if (until <= entry.restUntil) return
      entry.before ??= { restUntil: entry.restUntil, asked: entry.asked }
      entry.restUntil = until
      entry.asked = false
    },
    failed: (place, error) => {
      if (error.local) return left(place)
      // It said no to this call, and so is up.
      if (!isOverload(error)) return void entries.delete(nameOf(place))
      if (entries.size > mostEntries) entries.clear()
      const entry = entries.get(nameOf(place)) ?? { failures: 0, restUntil: 0, asked: false, before: null }
      entry.failures += 1
      const rest = restFor(entry, error)
      entry.restUntil = rest > 0 ? now() + rest : 0
      entry.asked = error.retryAfterMs !== null && error.retryAfterMs > 0
      entry.before = null
      entries.set(nameOf(place), entry)
    },
    succeeded: (place) => {
      if (entries.size > 0) entries.delete(nameOf(place))
    },
    left,
    forget: (channelId) => {
      for (const name of entries.keys()) if (name.startsWith(`${channelId}:`)) entries.delete(name)
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
const isOverload = ({ connection, failure }: AttemptFailed): boolean =>
  connection || failure.status === 429 || failure.status >= 500
