import type { Standing } from '#core/limits/request-limit.ts'
import type { Incoming } from './call.ts'

/** The names a web page may read beside those that are always open to it. */
export const limitHeaders = ['limit', 'remaining', 'reset'].flatMap((what) => [
  `x-ratelimit-${what}-requests`,
  `anthropic-ratelimit-requests-${what}`,
])

/** Tells how much of the tightest limit is left, in the headers that the caller's vendor uses. */
export function tellStanding({ res, dialect, receivedAt }: Incoming, standings: readonly Standing[]): void {
  const [tightest] = standings.toSorted((left, right) => left.remaining - right.remaining)
  if (!tightest || res.headersSent) return
  for (const [name, value] of Object.entries(dialect.rateLimitHeaders(tightest, receivedAt))) res.setHeader(name, value)
}
