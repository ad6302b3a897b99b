/** What retries may add to the load while every channel is in a cooldown. */
const share = 0.1
/** An idle period saves up a few, and one a second may always be made: neither can keep an upstream down. */
const most = 10
const perSecond = 1

/**
 * Retries into an outage help nobody and keep the upstream down, so they are rationed: every call earns a tenth of one.
 */
export type RetryBudget = {
  /** A call has arrived. */
  earn: () => void
  /** Whether one more retry may be made; takes it. */
  take: () => boolean
}

/** `now` in milliseconds. */
export function createRetryBudget(now: () => number): RetryBudget {
  let saved = most
  let countedAt = now()
  return {
    earn: () => {
      saved = Math.min(most, saved + share)
    },
    take: () => {
      const at = now()
      saved = Math.min(most, saved + (Math.max(0, at - countedAt) / 1000) * perSecond)
      countedAt = at
      // Ten tenths come out a hair below one.
      if (saved < 1 - 1e-9) return false
      saved -= 1
      return true
    },
  }
}
