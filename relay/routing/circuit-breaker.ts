import type { AttemptFailed } from '#relay/attempt/failure.ts'

/** Failures in a row that start a cooldown without the upstream asking for one. */
const failuresBeforeCooldown = 3
const firstCooldownMs = 5_000
/** Short of ten seconds, so that a key that works again is soon used. */
const longestCooldownMs = 8_000
const longestAskedCooldownMs = 300_000
/** How long one attempt after a cooldown keeps the others away. */
const probeMs = 10_000
/** Entries of channels that have since gone are dropped when there are many. */
const mostEntries = 50_000

/** A number that rises with each call and each cooldown: the smaller one began first. */
type Start = number

type Entry = {
  failures: number
  /** When the cooldown began; calls that began before say nothing of what is now. */
  since: Start
  /** 0 for none. */
  cooldownUntil: number
  /** The upstream named the time itself. */
  asked: boolean
  /** The cooldown as it was before the attempt that is under way, and whose that is. */
  before: { cooldownUntil: number; asked: boolean; by: Start } | null
}

/**
 * Which keys of which channels are in a cooldown for a model after failures. Independent of disabling: nothing is stored, and it ends
 * by itself. After it one call goes first; when it succeeds the key is healthy again, when it fails the next cooldown is longer.
 */
export type CircuitBreaker = {
  /** No cooldown: the usual case, known without looking at anything. */
  allHealthy: () => boolean
  isHealthy: (channelId: number, key: number, model: string) => boolean
  /** How long the cooldown that the upstream asked for still lasts; 0 where it asked for none. */
  askedCooldownMs: (place: Place) => number
  /** A call goes there now. What it returns goes with its end: a call that began before a cooldown does not end it. */
  started: (place: Place) => Start
  failed: (place: Place, start: Start, error: AttemptFailed) => void
  /** Without a start: of what is now. */
  succeeded: (place: Place, start?: Start) => void
  /** The call ended without telling anything about the place. */
  left: (place: Place, start: Start) => void
  /** A channel was changed: what is known of its keys concerns others. */
  forget: (channelId: number) => void
  /** For the console: current cooldowns. */
  coolingDown: () => { channelId: number; key: number; model: string; until: Date }[]
}

export type Place = { channelId: number; key: number; model: string }

/** The `model` of a place, for such a call. */
export const limitedModel = ({ limitedApart }: { limitedApart?: 'batches' | undefined }, model: string): string =>
  limitedApart === undefined ? model : `${model} ${limitedApart}`

/** Why a place is in a cooldown, and until when. */
export type Cooldown = { until: Date; status: number; reason: string }

function placeOf(name: string): Place {
  const [channelId, key, ...model] = name.split(':')
  return { channelId: Number(channelId), key: Number(key), model: model.join(':') }
}

const nameOf = ({ channelId, key, model }: Place): string => `${channelId}:${key}:${model}`

/** `onChange` is called for every cooldown that begins, and with null for every one that ends before its time. */
export function createCircuitBreaker(
  now: () => number,
  onChange: (place: Place, cooldown: Cooldown | null) => void = () => {},
): CircuitBreaker {
  const entries = new Map<string, Entry>()
  let lastStart: Start = 0
  const forgetPlace = (place: Place): void => {
    const entry = entryOf(place)
    if (entry && entries.delete(nameOf(place)) && entry.cooldownUntil > 0) onChange(place, null)
  }
  const entryOf = (place: Place): Entry | undefined => (entries.size > 0 ? entries.get(nameOf(place)) : undefined)

  const cooldownFor = (entry: Entry, error: AttemptFailed): number => {
    if (error.retryAfterMs !== null && error.retryAfterMs > 0)
      return Math.min(error.retryAfterMs, longestAskedCooldownMs)
    if (entry.failures < failuresBeforeCooldown) return 0
    return Math.min(firstCooldownMs * 2 ** (entry.failures - failuresBeforeCooldown), longestCooldownMs)
  }
  const left = (place: Place, start: Start): void => {
    const entry = entryOf(place)
    if (entry?.before?.by !== start) return
    const { cooldownUntil, asked } = entry.before
    Object.assign(entry, { cooldownUntil, asked, before: null })
  }
  const isBefore = (start: Start, { cooldownUntil, since }: Entry): boolean => cooldownUntil > now() && start < since
  const succeeded = (place: Place, start: Start = Infinity): void => {
    const entry = entryOf(place)
    if (entry && !isBefore(start, entry)) forgetPlace(place)
  }

  return {
    allHealthy: () => entries.size === 0,
    isHealthy: (channelId, key, model) => {
      const entry = entries.get(nameOf({ channelId, key, model }))
      return entry === undefined || entry.cooldownUntil <= now()
    },
    askedCooldownMs: (place) => {
      const entry = entryOf(place)
      return entry?.asked ? Math.max(0, entry.cooldownUntil - now()) : 0
    },
    started: (place) => {
      const start = (lastStart += 1)
      const entry = entryOf(place)
      if (!entry || entry.cooldownUntil === 0) return start
      // After a cooldown the first call is a probe: until it is back the others go elsewhere.
      const until = now() + probeMs
      if (until <= entry.cooldownUntil) return start
      entry.before ??= { cooldownUntil: entry.cooldownUntil, asked: entry.asked, by: start }
      entry.cooldownUntil = until
      entry.asked = false
      return start
    },
    failed: (place, start, error) => {
      if (error.local) return left(place, start)
      // It said no to this call, and so is up.
      if (!isOverload(error)) return succeeded(place, start)
      if (entries.size > mostEntries) entries.clear()
      const entry = entries.get(nameOf(place)) ?? {
        failures: 0,
        since: 0,
        cooldownUntil: 0,
        asked: false,
        before: null,
      }
      entry.failures += 1
      const cooldown = cooldownFor(entry, error)
      const until = cooldown > 0 ? now() + cooldown : 0
      const running = entry.before ?? entry
      const remains = running.asked && running.cooldownUntil > Math.max(until, now())
      const asks = error.retryAfterMs !== null && error.retryAfterMs > 0
      if (!isBefore(start, entry) || (asks && !remains)) entry.since = lastStart += 1
      entry.cooldownUntil = remains ? running.cooldownUntil : until
      entry.asked = remains || asks
      entry.before = null
      entries.set(nameOf(place), entry)
      if (cooldown > 0 && !remains) {
        const { status, message, original } = error.failure
        onChange(place, { until: new Date(until), status, reason: original?.message ?? message })
      }
    },
    succeeded,
    left,
    forget: (channelId) => {
      for (const name of entries.keys()) if (name.startsWith(`${channelId}:`)) forgetPlace(placeOf(name))
    },
    coolingDown: () =>
      [...entries].flatMap(([name, entry]) => {
        if (entry.cooldownUntil <= now()) return []
        return [{ ...placeOf(name), until: new Date(entry.cooldownUntil) }]
      }),
  }
}

/** The upstream is too busy or broken; what a caller sent is never the channel's fault. */
const isOverload = ({ connection, failure }: AttemptFailed): boolean =>
  connection || failure.status === 429 || failure.status >= 500
