import type { FailureSums, SumRow } from '#core/usage-sums.ts'

const quotient = (part: number, total: number): number | null => (total > 0 ? part / total : null)

const toSums = (row: SumRow) => {
  const promptTokens = Number(row.prompt_tokens)
  const cachedTokens = Number(row.cached_tokens)
  const calls = Number(row.calls)
  return {
    quota: Number(row.quota),
    calls,
    promptTokens,
    completionTokens: Number(row.completion_tokens),
    cachedTokens,
    /** Of the prompt, 0 to 1; null without a prompt. */
    cachedShare: quotient(cachedTokens, promptTokens),
    /** Means in milliseconds; null where nothing was measured. */
    firstTokenMs: quotient(Number(row.first_token_ms), Number(row.first_token_count)),
    useTimeMs: quotient(Number(row.use_time_ms), calls),
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

/** What charts draw of a model in an interval. */
export const pointColumns = [
  'calls',
  'quota',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'first_token_ms',
  'first_token_count',
] as const
/** `rank`: the place among the models that cost most, from 1; null with the others. */
export type PointRow = Pick<SumRow, (typeof pointColumns)[number]> & {
  time: Date
  model: string | null
  rank: number
}

const toModelPoint = ({ model, ...row }: PointRow) => ({
  model,
  quota: Number(row.quota),
  calls: Number(row.calls),
  promptTokens: Number(row.prompt_tokens),
  completionTokens: Number(row.completion_tokens),
  cachedTokens: Number(row.cached_tokens),
  firstTokenMs: quotient(Number(row.first_token_ms), Number(row.first_token_count)),
})
type ModelPoint = ReturnType<typeof toModelPoint>
export type SeriesPoint = { time: Date; models: ModelPoint[] }

/** Rows in the order of their times, each time once. */
export const toPoints = (rows: readonly PointRow[]): SeriesPoint[] =>
  Array.from(
    Map.groupBy(rows, ({ time }) => time.getTime()),
    ([time, here]) => ({ time: new Date(time), models: here.map(toModelPoint) }),
  )

/** Hours of models, column by column: a month has so many that to read them row by row takes longer than to find them. */
export type UsageColumns = { seconds: number[]; models: string[]; counts: number[]; quotas: number[]; tokens: number[] }

/** Without a user they stand for everybody. */
export const toHourlyUsage = (
  { seconds, models, counts, quotas, tokens }: UsageColumns,
  user: { id: number; username: string } | null,
) =>
  models.map((modelName, index) => ({
    id: user ? index + 1 : 0,
    userId: user?.id ?? 0,
    username: user?.username ?? '',
    modelName,
    hour: new Date((seconds[index] ?? 0) * 1000),
    tokens: tokens[index] ?? 0,
    count: counts[index] ?? 0,
    quota: quotas[index] ?? 0,
  }))
export type HourlyUsage = ReturnType<typeof toHourlyUsage>[number]
