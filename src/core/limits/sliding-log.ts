/** At most `limit` uses in any span of `windowMs`; a limit of 0 is none. */
export type SlidingRule = { limit: number; windowMs: number }

export type Verdict = { allowed: true } | { allowed: false; retryAfterSeconds: number }

export const allowed: Verdict = { allowed: true }

export const refusedFor = (milliseconds: number): Verdict => ({
  allowed: false,
  retryAfterSeconds: Math.max(1, Math.ceil(milliseconds / 1000)),
})

/**
 * Looks without recording. `times` are the instants of the last accepted uses in milliseconds, oldest first: a full log
 * whose oldest is younger than the window refuses.
 */
export function slidingVerdict(times: readonly number[], rule: SlidingRule, now: number): Verdict {
  if (rule.limit <= 0 || rule.windowMs <= 0) return allowed
  const oldest = times.at(-rule.limit)
  if (times.length < rule.limit || oldest === undefined || oldest + rule.windowMs <= now) return allowed
  return refusedFor(oldest + rule.windowMs - now)
}

/** The log with one more use; what can no longer decide anything is dropped. */
export function slidingRecord(times: readonly number[], rule: SlidingRule, now: number): number[] {
  if (rule.limit <= 0 || rule.windowMs <= 0) return []
  return [...times, now].slice(-rule.limit).filter((time) => time + rule.windowMs > now)
}
