import type { Incoming } from './call.ts'

/** Timers of programs are not exact. */
const toleranceMs = 250

/** Who waits for less gives no upstream the time to answer; who sent slowly has not waited yet. */
const shortestTimeoutSeconds = 10

/**
 * Whether a caller who left had waited for as long as its library says it waits at most (official client libraries tell it with
 * every request), and the upstream, asked at `sentAt`, had its time too.
 */
export function isTimedOut({ req, startedAt }: Pick<Incoming, 'req' | 'startedAt'>, sentAt: number): boolean {
  const seconds = Number(req.headers['x-stainless-timeout'] ?? Number.NaN)
  const now = performance.now()
  const isOver = (since: number, longest: number): boolean => now - since >= longest * 1000 - toleranceMs
  return seconds >= shortestTimeoutSeconds && isOver(startedAt, seconds) && isOver(sentAt, shortestTimeoutSeconds)
}
