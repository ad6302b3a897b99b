import { DomainError } from '#core/errors.ts'
import type { UserDeps } from '#features/deps.ts'
import {
  addCommon,
  addOwn,
  type CommonFilters,
  type Conditions,
  createConditions,
  isCall,
  narrowsRows,
} from '#features/logs/conditions.ts'
import { logType, type LogType } from '#core/statuses.ts'
import { knownZone } from '#core/time-zone.ts'
import { idsOf, tiedTo, resolveNames } from '#features/logs/service.ts'
import { lastMinute } from '#features/logs/stat.ts'
import { accountsNamed } from '#features/users/service/named-accounts.ts'
import type { FailureSums, SumRow } from '#core/usage-sums.ts'
import { failuresFor, figuresBetween, hoursFor, hoursOfRows, totalsFor } from '#features/logs/usage-sums.ts'
import { type Query, readInTime } from '#features/logs/timed-query.ts'
import { type LogFilters, logFilters } from '#features/logs/schema.ts'
import type { Filters, OwnFilters, Range, Series, UsageInput } from './schema.ts'
import { seriesByInterval, seriesByModel } from './series-query.ts'
import {
  type HourlyUsage,
  type OperatorTotals,
  type PointRow,
  type SeriesPoint,
  toHourlyUsage,
  toOperatorTotals,
  toPoints,
  type Totals,
  toTotals,
  type UsageColumns,
} from './view.ts'

const hourMs = 3_600_000
const longestRangeMs = 366 * 24 * hourMs
const longestOwnUsageMs = 2_592_000_000

/** The hours that a range touches, at most a year back from its end. */
function hoursOf({ start, end }: Range): { from: Date; until: Date } {
  const until = new Date((Math.floor(end.getTime() / hourMs) + 1) * hourMs)
  const from = Math.max(Math.floor(start.getTime() / hourMs) * hourMs, until.getTime() - longestRangeMs)
  return { from: new Date(Math.min(from, until.getTime())), until }
}

/** Filters with users and channels by number; nobody has the number -1. */
const resolved = async (deps: UserDeps, filters: Filters): Promise<Filters> =>
  (await resolveNames(deps, filters)) ?? { ...filters, userId: [-1] }

const asLogFilters = (filters: Filters): LogFilters => ({ ...logFilters.parse({}), ...filters })

/** On rows of a type, where only they know what is asked for. */
function rowConditionsOf(filters: LogFilters, { type, from, until }: Hours & { type: LogType }): Conditions {
  const conditions = conditionsOf(filters, { column: 'created_at', from, until })
  if (type === logType.consume) conditions.addFixed(isCall)
  else conditions.add((value) => `l.type = ${value}`, type)
  addOwn(conditions, filters)
  return conditions
}

function conditionsOf(filters: CommonFilters, times: { column: string; from: Date; until: Date }): Conditions {
  const conditions = createConditions()
  conditions.add((value) => `l.${times.column} >= ${value}`, times.from)
  conditions.add((value) => `l.${times.column} < ${value}`, times.until)
  addCommon(conditions, filters)
  return conditions
}

export type Overview<Sums = Totals> = { from: Date; until: Date; current: Sums; previous: Sums }

export const ownOverview = (deps: UserDeps, input: OwnFilters & Range): Promise<Overview> =>
  overviewOf(deps, tiedTo(deps.actor.id, input), { range: input, view: toTotals })

export const overview = async (deps: UserDeps, input: Filters & Range): Promise<Overview<OperatorTotals>> =>
  overviewOf(deps, await resolved(deps, input), { range: input, view: toOperatorTotals })

/** Sums of the range, the very figures of the log under the same filters, and of the equally long one before it. */
async function overviewOf<Sums>(
  deps: UserDeps,
  filters: Filters,
  { range, view }: { range: Range; view: (row: SumRow, failures: FailureSums) => Sums },
): Promise<Overview<Sums>> {
  const until = range.end
  const from = new Date(Math.max(range.start.getTime(), until.getTime() - longestRangeMs))
  const before = new Date(2 * from.getTime() - until.getTime())
  const rowFilters = asLogFilters(filters)
  return readInTime(deps.database.pool, async (query) => {
    const totals = async (start: Date, end: Date): Promise<Sums> => {
      const between = { start, end, now: deps.ambient.now(), options: deps.options }
      const { sums, failures } = await figuresBetween(query, rowFilters, between)
      return view(sums, failures)
    }
    return {
      from,
      until,
      current: await totals(from, until),
      previous: await totals(before, new Date(from.getTime() - 1)),
    }
  })
}

/** Calls that failed, for the intervals in which any did. */
async function errorSeries(query: Query, filters: Filters, { interval, timeZone, ...hours }: Intervals) {
  const rowFilters = asLogFilters(filters)
  const ofRows = narrowsRows(rowFilters)
  const conditions = ofRows
    ? rowConditionsOf(rowFilters, { type: logType.error, ...hours })
    : conditionsOf(filters, { column: 'hour', ...hours })
  const { time, calls, source } = ofRows
    ? { time: 'l.created_at', calls: 'count(*)', source: 'logs' }
    : { time: 'l.hour', calls: 'sum(l.calls)', source: failuresFor(filters) }
  const at = conditions.values().length
  const rows = await query<{ time: Date; count: string }>(
    `select date_trunc($${at + 1}, ${time}, $${at + 2}) as time, ${calls} as count from ${source} l${conditions.where()}
     group by 1 having ${calls} > 0 order by 1`,
    [...conditions.values(), interval, timeZone],
  )
  return rows.map((row) => ({ time: row.time, count: Number(row.count) }))
}

type Hours = { from: Date; until: Date }
type Intervals = Hours & Pick<Series, 'interval' | 'timeZone'>

export type ModelSeries = {
  from: Date
  until: Date
  models: string[]
  /** In order; a time without calls is left out. */
  points: SeriesPoint[]
  /** Calls that failed. */
  errors: { time: Date; count: number }[]
}

export const ownSeries = (deps: UserDeps, input: OwnFilters & Series): Promise<ModelSeries> =>
  seriesOf(deps, tiedTo(deps.actor.id, input), input)

export const modelSeries = async (deps: UserDeps, input: Filters & Series): Promise<ModelSeries> =>
  seriesOf(deps, await resolved(deps, input), input)

/** Hours are read from a table of sums, or are the rows themselves, added up as a common table expression. */
function seriesQuery(
  filters: Filters,
  { interval, timeZone, from, until }: Intervals,
): [text: string, values: unknown[]] {
  const ofIntervals = (conditions: Conditions) => {
    const at = conditions.values().length
    const places = { interval: `$${at + 1}`, timeZone: `$${at + 2}`, from: `$${at + 3}`, until: `$${at + 4}` }
    return { places, values: [...conditions.values(), interval, timeZone, from, until] }
  }
  const rowFilters = asLogFilters(filters)
  if (narrowsRows(rowFilters)) {
    const conditions = rowConditionsOf(rowFilters, { type: logType.consume, from, until })
    const { places, values } = ofIntervals(conditions)
    const withQueries = `row_hours as materialized (${hoursOfRows(conditions)}), `
    return [seriesByInterval({ source: 'row_hours l where true', withQueries, places }), values]
  }
  const conditions = createConditions()
  addCommon(conditions, filters)
  const { places, values } = ofIntervals(conditions)
  const source = `${hoursFor(filters)} l${conditions.where() || ' where true'}`
  const totals = totalsFor(filters)
  const text =
    totals === 'usage_hourly_totals'
      ? seriesByModel({ source, places, totals: `${totals} l where true` })
      : seriesByInterval({ source, places })
  return [text, values]
}

/** Sums by model and interval: the ten models that cost most by name, all others together under null. */
async function seriesOf(deps: UserDeps, filters: Filters, input: Series): Promise<ModelSeries> {
  const { from, until } = hoursOf(input)
  // The sums are those of whole hours of UTC: in a zone that is half an hour off they begin at half past. In one that the database
  // does not know days begin with those of UTC.
  const timeZone = input.interval === 'hour' ? 'UTC' : (knownZone(input.timeZone, await deps.database.zones()) ?? 'UTC')
  const intervals = { from, until, interval: input.interval, timeZone }
  return readInTime(deps.database.pool, async (query) => {
    const rows = await query<PointRow>(...seriesQuery(filters, intervals))
    const ranks = new Map(rows.flatMap(({ model, rank }) => (model === null ? [] : [[model, rank] as const])))
    const models = [...ranks.keys()].toSorted((left, right) => (ranks.get(left) ?? 0) - (ranks.get(right) ?? 0))
    const errors = await errorSeries(query, filters, intervals)
    return { from, until, models, points: toPoints(rows), errors }
  })
}

export type Live = { rpm: number; tpm: number }

export const ownLive = (deps: UserDeps, input: OwnFilters): Promise<Live> => liveOf(deps, tiedTo(deps.actor.id, input))

export const live = async (deps: UserDeps, input: Filters): Promise<Live> => {
  const filters = await resolveNames(deps, input)
  return filters ? liveOf(deps, filters) : { rpm: 0, tpm: 0 }
}

const liveOf = (deps: UserDeps, filters: Filters): Promise<Live> =>
  readInTime(deps.database.pool, (query) => lastMinute(query, asLogFilters(filters)))

/** So many hours of models are put into one answer. */
const mostHours = 1_000_000

/** The caller's own hours, by model. @throws {DomainError} stats.range_too_long */
export async function ownUsage(deps: UserDeps, range: Range): Promise<HourlyUsage[]> {
  if (range.end.getTime() - range.start.getTime() > longestOwnUsageMs) throw new DomainError('stats.range_too_long')
  return usageBetween(deps, range, { ids: [deps.actor.id], username: deps.actor.username })
}

/** The hours by model of whoever has the name or had it, or everybody's added up. @throws {DomainError} query.too_slow */
export async function usage(deps: UserDeps, input: UsageInput): Promise<HourlyUsage[]> {
  if (input.username === '') return usageBetween(deps, input, null)
  const accounts = await idsOf(deps.database.pool, accountsNamed, [input.username])
  return usageBetween(deps, input, { ids: accounts, username: input.username })
}

async function usageBetween(
  { database, ambient }: UserDeps,
  { start, end }: Range,
  user: { ids: number[]; username: string } | null,
): Promise<HourlyUsage[]> {
  const [id] = user?.ids ?? [0]
  if (id === undefined) return []
  const conditions = createConditions()
  // An end in some far year stands for now.
  const last = Math.min(end.getTime(), ambient.now().getTime())
  conditions.add((value) => `l.hour >= ${value}`, start)
  conditions.add((value) => `l.hour <= ${value}`, new Date(last))
  if (user) conditions.add((value) => `l.user_id = any(${value}::int[])`, user.ids)
  const [columns] = await readInTime(database.pool, (query) =>
    query<UsageColumns>(
      `select coalesce(json_agg(extract(epoch from u.hour)::bigint), '[]') as seconds, coalesce(json_agg(u.model_name), '[]') as models,
         coalesce(json_agg(u.count), '[]') as counts, coalesce(json_agg(u.quota), '[]') as quotas, coalesce(json_agg(u.tokens), '[]') as tokens
       from (${user ? usageOfRows(conditions.where()) : usageOfAll(conditions.where())} order by 1, 2 limit ${mostHours + 1}) u`,
      conditions.values(),
    ),
  )
  // All that was asked for or nothing: a part of it would be taken for the whole.
  if ((columns?.seconds.length ?? 0) > mostHours) throw new DomainError('query.too_slow')
  return columns ? toHourlyUsage(columns, user && { id, username: user.username }) : []
}

const usageOfRows = (where: string): string =>
  `select l.hour, l.model_name, sum(l.count)::bigint as count, sum(l.quota)::bigint as quota,
     sum(l.prompt_tokens + l.completion_tokens)::bigint as tokens from usage_hourly l${where} group by 1, 2`

/** Hours that are over are added up already. */
const usageOfAll = (where: string): string =>
  `select l.hour, l.model_name, l.count, l.quota, l.prompt_tokens + l.completion_tokens as tokens
   from usage_by_hour l${where} and l.hour < (select usage_rolled_until())
   union all ${usageOfRows(`${where} and l.hour >= (select usage_rolled_until())`)}`
