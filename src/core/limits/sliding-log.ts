/** At most `limit` uses in any span of `windowMs`; a limit of 0 is none. */
export type SlidingRule = { limit: number; windowMs: number }

/**
 * How long a further use has to wait, in milliseconds; 0 lets it in. `times` are the instants of the last accepted uses,
 * oldest first: a full log whose oldest is younger than the window refuses.
 */
export function slidingWait(times: readonly number[], rule: SlidingRule, now: number): number {
  if (rule.limit <= 0 || rule.windowMs <= 0) return 0
  const oldest = times.at(-rule.limit)
  if (times.length < rule.limit || oldest === undefined) return 0
  return Math.max(0, oldest + rule.windowMs - now)
}
