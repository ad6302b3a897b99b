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
  const { limit, remaining, resetMs } = tightest
  if (dialect.id === 'claude') {
    res.setHeader('anthropic-ratelimit-requests-limit', String(limit))
    res.setHeader('anthropic-ratelimit-requests-remaining', String(remaining))
    const resetAt = new Date(receivedAt.getTime() + resetMs).toISOString()
    res.setHeader('anthropic-ratelimit-requests-reset', resetAt.replace(/\.\d+Z$/, 'Z'))
    return
  }
  res.setHeader('x-ratelimit-limit-requests', String(limit))
  res.setHeader('x-ratelimit-remaining-requests', String(remaining))
  res.setHeader('x-ratelimit-reset-requests', `${Math.ceil(resetMs / 1000)}s`)
}
