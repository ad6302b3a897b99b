import type { FailureSums } from '#core/usage-sums.ts'
import { logType } from '#core/statuses.ts'
import type { UserDeps } from '#features/deps.ts'
import { addCommon, addOwn, createConditions } from './conditions.ts'
import type { LogFilters, OwnLogStat } from './schema.ts'
import { resolveNames, tiedTo } from './service.ts'
import { type Query, readInTime } from './timed-query.ts'
import { figuresBetween } from './usage-sums.ts'

export type LogStat = {
  /** Spent in the time range. */
  quota: number
  /** Answered calls of the range. */
  calls: number
  /** Failed calls of the range and failed attempts, those of calls that were answered in the end included. */
  failures: FailureSums
  /** Calls and tokens of the last minute. */
  rpm: number
  tpm: number
}

const nothing: LogStat = { quota: 0, calls: 0, failures: { calls: 0, attempts: 0 }, rpm: 0, tpm: 0 }

export const ownLogStat = (deps: UserDeps, input: OwnLogStat): Promise<LogStat> =>
  statOf(deps, { ...tiedTo(deps.actor.id, input), channelId: input.channelId })

export async function logStat(deps: UserDeps, input: LogFilters): Promise<LogStat> {
  const filters = await resolveNames(deps, input)
  return filters ? statOf(deps, filters) : nothing
}

const statOf = (deps: UserDeps, filters: LogFilters): Promise<LogStat> =>
  readInTime(deps.database.pool, async (query) => {
    const { start, end } = filters
    const between = { start, end, now: deps.ambient.now(), options: deps.options, sums: ['calls', 'quota'] as const }
    const { sums, failures } = await figuresBetween(query, filters, between)
    return {
      quota: Number(sums.quota),
      calls: Number(sums.calls),
      failures,
      ...(await lastMinute(query, filters)),
    }
  })

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
