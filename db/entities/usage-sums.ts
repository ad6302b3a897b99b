import { p } from '@mikro-orm/postgresql'

const sum = () => p.bigint('number').defaultRaw('0')

/** What an hour of calls came to, in every table that adds calls up. */
export const usageSums = {
  count: sum(),
  promptTokens: sum(),
  completionTokens: sum(),
  cachedTokens: sum(),
  quota: sum(),
  useTimeMs: sum(),
  firstTokenMs: sum(),
  /** Calls that had a first token, the divisor of `firstTokenMs`. */
  firstTokenCount: sum(),
  /** What it cost the operator, in billionths of a dollar, failed attempts included. */
  cost: sum(),
  /** The part of `quota` whose cost is known. */
  costedQuota: sum(),
}
