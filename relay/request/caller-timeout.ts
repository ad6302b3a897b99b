import type { Incoming } from './call.ts'

/** Timers of programs are not exact. */
const toleranceMs = 250

/**
 * Whether a caller who left had waited for as long as its library says it waits at most: official client libraries tell
 * it with every request.
 */
export function isTimedOut({ req, startedAt }: Pick<Incoming, 'req' | 'startedAt'>): boolean {
  const seconds = Number(req.headers['x-stainless-timeout'] ?? Number.NaN)
  return seconds > 0 && performance.now() - startedAt >= seconds * 1000 - toleranceMs
}
