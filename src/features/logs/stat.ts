import { logType } from '#core/statuses.ts'
import type { UserDeps } from '#features/deps.ts'
import { addCommon, addOwn, addTimes, createConditions } from './conditions.ts'
import type { LogFilters, OwnLogFilters } from './schema.ts'
import { resolveUser } from './service.ts'
import { type Query, readInTime } from './timed-query.ts'

export type LogStat = {
  /** Spent in the time range. */
  quota: number
  /** Calls and tokens of the last minute. */
  rpm: number
  tpm: number
}

export const ownLogStat = (deps: UserDeps, input: OwnLogFilters): Promise<LogStat> =>
  statOf(deps, { ...input, username: '', userId: deps.actor.id, channelId: 0 })

export async function logStat(deps: UserDeps, input: LogFilters): Promise<LogStat> {
  const filters = await resolveUser(deps, input)
  return filters ? statOf(deps, filters) : { quota: 0, rpm: 0, tpm: 0 }
}

const statOf = (deps: UserDeps, filters: LogFilters): Promise<LogStat> =>
  readInTime(deps.database.pool, async (query) => ({
    quota: await quotaOf(query, filters, deps.ambient.now()),
    ...(await lastMinute(query, filters)),
  }))

const hourMs = 3_600_000

/** Whole hours come from their sums; the log is read for the broken ones at both ends, and where only it knows. */
async function quotaOf(query: Query, filters: LogFilters, now: Date): Promise<number> {
  if (filters.tokenName !== '' || filters.requestId !== '') return quotaOfLogs(query, filters, filters)
  const { start, end } = filters
  const from = start && new Date(Math.ceil(start.getTime() / hourMs) * hourMs)
  const until = end && end < now ? new Date(Math.floor(end.getTime() / hourMs) * hourMs) : undefined
  if (from && until && from >= until) return quotaOfLogs(query, filters, { start, end })
  const head = start && from && start < from ? { start, end: new Date(from.getTime() - 1) } : null
  const trailing = until && end ? { start: until, end } : null
  return (
    (await quotaOfHours(query, filters, { from, until })) +
    (head ? await quotaOfLogs(query, filters, head) : 0) +
    (trailing ? await quotaOfLogs(query, filters, trailing) : 0)
  )
}

async function quotaOfHours(
  query: Query,
  filters: LogFilters,
  { from, until }: { from: Date | undefined; until: Date | undefined },
): Promise<number> {
  const conditions = createConditions()
  addCommon(conditions, filters)
  if (from) conditions.add((value) => `l.hour >= ${value}`, from)
  if (until) conditions.add((value) => `l.hour < ${value}`, until)
  return sum(
    query,
    `select coalesce(sum(l.quota), 0) as sum from usage_hourly l${conditions.where()}`,
    conditions.values(),
  )
}

async function quotaOfLogs(
  query: Query,
  filters: LogFilters,
  times: { start?: Date | undefined; end?: Date | undefined },
): Promise<number> {
  const conditions = createConditions()
  conditions.add((value) => `l.type = ${value}`, logType.consume)
  addCommon(conditions, filters)
  addOwn(conditions, filters)
  addTimes(conditions, times)
  return sum(query, `select coalesce(sum(l.quota), 0) as sum from logs l${conditions.where()}`, conditions.values())
}

async function sum(query: Query, text: string, values: unknown[]): Promise<number> {
  const [row] = await query<{ sum: string }>(text, values)
  return Number(row?.sum ?? 0)
}

/** Calls and tokens of the last 60 seconds, as the database counts them. */
export async function lastMinute(query: Query, filters: LogFilters): Promise<{ rpm: number; tpm: number }> {
  const conditions = createConditions()
  conditions.add((value) => `l.type = ${value}`, logType.consume)
  conditions.add((value) => `l.created_at >= now() - make_interval(secs => ${value})`, 60)
  addCommon(conditions, filters)
  addOwn(conditions, filters)
  const [row] = await query<{ calls: string; tokens: string }>(
    `select count(*) as calls, coalesce(sum(l.prompt_tokens::bigint + l.completion_tokens), 0) as tokens from logs l${conditions.where()}`,
    conditions.values(),
  )
  return { rpm: Number(row?.calls ?? 0), tpm: Number(row?.tokens ?? 0) }
}
