import type { FailureSums, SumRow } from '#core/usage-sums.ts'

const quotient = (part: number, total: number): number | null => (total > 0 ? part / total : null)

const toSums = (row: SumRow | undefined) => {
  const promptTokens = Number(row?.prompt_tokens ?? 0)
  const cachedTokens = Number(row?.cached_tokens ?? 0)
  const calls = Number(row?.calls ?? 0)
  return {
    quota: Number(row?.quota ?? 0),
    calls,
    promptTokens,
    completionTokens: Number(row?.completion_tokens ?? 0),
    cachedTokens,
    /** Of the prompt, 0 to 1; null without a prompt. */
    cachedShare: quotient(cachedTokens, promptTokens),
    /** Means in milliseconds; null where nothing was measured. */
    firstTokenMs: quotient(Number(row?.first_token_ms ?? 0), Number(row?.first_token_count ?? 0)),
    useTimeMs: quotient(Number(row?.use_time_ms ?? 0), calls),
  }
}

/** `errors`: calls that failed for good; `failedAttempts`: those of calls that were answered in the end included. */
export const toTotals = (row: SumRow, failures: FailureSums) => ({
  ...toSums(row),
  errors: failures.calls,
  failedAttempts: failures.attempts,
})
export type Totals = ReturnType<typeof toTotals>

/** What only administrators see: what the calls cost, in billionths of a dollar, and the part of `quota` whose cost is known. */
export const toOperatorTotals = (row: SumRow, failures: FailureSums) => ({
  ...toTotals(row, failures),
  cost: Number(row.cost),
  costedQuota: Number(row.costed_quota),
})
export type OperatorTotals = ReturnType<typeof toOperatorTotals>

export const toPoint = ({ time, model, ...row }: SumRow & { time: Date; model: string | null }) => ({
  time,
  model,
  ...toSums(row),
})
export type SeriesPoint = ReturnType<typeof toPoint>

export type UsageRow = { hour: Date; model_name: string; count: string; quota: string; tokens: string }

/** Without a user the row stands for everybody. */
export const toHourlyUsage = (row: UsageRow, user: { number: number; id: number; username: string } | null) => ({
  id: user?.number ?? 0,
  userId: user?.id ?? 0,
  username: user?.username ?? '',
  modelName: row.model_name,
  hour: row.hour,
  tokens: Number(row.tokens),
  count: Number(row.count),
  quota: Number(row.quota),
})
export type HourlyUsage = ReturnType<typeof toHourlyUsage>
