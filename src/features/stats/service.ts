import { DomainError } from '#core/errors.ts'
import { User } from '#db/entities/user.ts'
import type { UserDeps } from '#features/deps.ts'
import { addCommon, type Conditions, createConditions } from '#features/logs/conditions.ts'
import { lastMinute } from '#features/logs/stat.ts'
import { type Query, readInTime } from '#features/logs/timed-query.ts'
import { logType } from '#core/statuses.ts'
import { logFilters } from '#features/logs/schema.ts'
import type { Filters, OwnFilters, Range, Series, UsageInput } from './schema.ts'
import {
  type HourlyUsage,
  type SeriesPoint,
  type SumRow,
  toHourlyUsage,
  toPoint,
  type Totals,
  toTotals,
  type UsageRow,
} from './view.ts'

const hourMs = 3_600_000
const longestRangeMs = 366 * 24 * hourMs
const longestOwnUsageMs = 2_592_000_000
const namedModels = 10

/** The hours that a range touches, at most a year back from its end. */
function hoursOf({ start, end }: Range): { from: Date; until: Date } {
  const until = new Date((Math.floor(end.getTime() / hourMs) + 1) * hourMs)
  const from = Math.max(Math.floor(start.getTime() / hourMs) * hourMs, until.getTime() - longestRangeMs)
  return { from: new Date(Math.min(from, until.getTime())), until }
}

const tiedTo = (deps: UserDeps, filters: OwnFilters): Filters => ({
  ...filters,
  username: '',
  userId: deps.actor.id,
  channelId: 0,
})

/** Filters with the user by number; nobody has the number -1. */
async function resolveUser({ em }: UserDeps, filters: Filters): Promise<Filters> {
  if (filters.username === '') return filters
  const user = await em.findOne(User, { username: filters.username }, { disableIdentityMap: true })
  return { ...filters, userId: user?.id ?? -1 }
}

function conditionsOf(filters: Filters, times: { column: string; from: Date; until: Date }): Conditions {
  const conditions = createConditions()
  conditions.add((value) => `l.${times.column} >= ${value}`, times.from)
  conditions.add((value) => `l.${times.column} < ${value}`, times.until)
  addCommon(conditions, filters)
  if (filters.userId < 0) conditions.add((value) => `l.user_id = ${value}`, filters.userId)
  return conditions
}

const sums = `coalesce(sum(l.count), 0) as calls, coalesce(sum(l.quota), 0) as quota, coalesce(sum(l.prompt_tokens), 0) as prompt_tokens,
  coalesce(sum(l.completion_tokens), 0) as completion_tokens, coalesce(sum(l.cached_tokens), 0) as cached_tokens,
  coalesce(sum(l.use_time_ms), 0) as use_time_ms, coalesce(sum(l.first_token_ms), 0) as first_token_ms,
  coalesce(sum(l.first_token_count), 0) as first_token_count`

export type Overview = { from: Date; until: Date; current: Totals; previous: Totals }

export const ownOverview = (deps: UserDeps, input: OwnFilters & Range): Promise<Overview> =>
  overviewOf(deps, tiedTo(deps, input), input)

export const overview = async (deps: UserDeps, input: Filters & Range): Promise<Overview> =>
  overviewOf(deps, await resolveUser(deps, input), input)

/** Sums of the range and of the equally long one before it. */
async function overviewOf(deps: UserDeps, filters: Filters, range: Range): Promise<Overview> {
  const { from, until } = hoursOf(range)
  const before = new Date(2 * from.getTime() - until.getTime())
  const countsErrors = deps.options.get('LogErrorEnabled')
  return readInTime(deps.database.pool, async (query) => {
    const totals = async (first: Date, end: Date): Promise<Totals> =>
      toTotals(
        await totalsBetween(query, filters, { from: first, until: end }),
        countsErrors ? await errorsBetween(query, filters, { from: first, until: end }) : null,
      )
    return { from, until, current: await totals(from, until), previous: await totals(before, from) }
  })
}

type Hours = { from: Date; until: Date }

async function totalsBetween(query: Query, filters: Filters, hours: Hours): Promise<SumRow | undefined> {
  const conditions = conditionsOf(filters, { column: 'hour', ...hours })
  const [row] = await query<SumRow>(`select ${sums} from usage_hourly l${conditions.where()}`, conditions.values())
  return row
}

/** Failed attempts have no sums of their own; an index over their type finds them in the log. */
async function errorsBetween(query: Query, filters: Filters, hours: Hours): Promise<number> {
  const conditions = conditionsOf(filters, { column: 'created_at', ...hours })
  conditions.add((value) => `l.type = ${value}`, logType.error)
  const [row] = await query<{ count: string }>(`select count(*) from logs l${conditions.where()}`, conditions.values())
  return Number(row?.count ?? 0)
}

/** The same by interval, for those in which any attempt failed. */
async function errorSeries(query: Query, filters: Filters, { interval, timeZone, ...hours }: Intervals) {
  const conditions = conditionsOf(filters, { column: 'created_at', ...hours })
  conditions.add((value) => `l.type = ${value}`, logType.error)
  const at = conditions.values().length
  const rows = await query<{ time: Date; count: string }>(
    `select date_trunc($${at + 1}, l.created_at, $${at + 2}) as time, count(*) from logs l${conditions.where()}
     group by 1 order by 1`,
    [...conditions.values(), interval, timeZone],
  )
  return rows.map(({ time, count }) => ({ time, count: Number(count) }))
}

type Intervals = Hours & Pick<Series, 'interval' | 'timeZone'>

export type ModelSeries = {
  from: Date
  until: Date
  models: string[]
  points: SeriesPoint[]
  /** Failed attempts; null while they are not logged. */
  errors: { time: Date; count: number }[] | null
}

export const ownSeries = (deps: UserDeps, input: OwnFilters & Series): Promise<ModelSeries> =>
  seriesOf(deps, tiedTo(deps, input), input)

export const modelSeries = async (deps: UserDeps, input: Filters & Series): Promise<ModelSeries> =>
  seriesOf(deps, await resolveUser(deps, input), input)

/** Sums by model and interval: the ten models that cost most by name, all others together under null. */
async function seriesOf(deps: UserDeps, filters: Filters, input: Series): Promise<ModelSeries> {
  const { from, until } = hoursOf(input)
  const countsErrors = deps.options.get('LogErrorEnabled')
  return readInTime(deps.database.pool, async (query) => {
    const conditions = conditionsOf(filters, { column: 'hour', from, until })
    const top = await query<{ model_name: string }>(
      `select l.model_name from usage_hourly l${conditions.where()} group by 1
       order by sum(l.quota) desc, sum(l.count) desc, 1 limit ${namedModels}`,
      conditions.values(),
    )
    const models = top.map(({ model_name: model }) => model)
    const values = [...conditions.values(), input.interval, input.timeZone, models]
    const at = conditions.values().length
    const rows = await query<SumRow & { time: Date; model: string | null }>(
      `select date_trunc($${at + 1}, l.hour, $${at + 2}) as time,
         case when l.model_name = any ($${at + 3}::text[]) then l.model_name end as model, ${sums}
       from usage_hourly l${conditions.where()} group by 1, 2 order by 1, 2`,
      values,
    )
    const { interval, timeZone } = input
    const errors = countsErrors ? await errorSeries(query, filters, { from, until, interval, timeZone }) : null
    return { from, until, models, points: rows.map(toPoint), errors }
  })
}

export type Live = { rpm: number; tpm: number }

export const ownLive = (deps: UserDeps, input: OwnFilters): Promise<Live> => liveOf(deps, tiedTo(deps, input))

export const live = async (deps: UserDeps, input: Filters): Promise<Live> => {
  const filters = await resolveUser(deps, input)
  return filters.userId < 0 ? { rpm: 0, tpm: 0 } : liveOf(deps, filters)
}

const liveOf = (deps: UserDeps, filters: Filters): Promise<Live> =>
  readInTime(deps.database.pool, (query) => lastMinute(query, { ...logFilters.parse({}), ...filters }))

/** The caller's own hours, by model. */
export async function ownUsage(deps: UserDeps, range: Range): Promise<HourlyUsage[]> {
  if (range.end.getTime() - range.start.getTime() > longestOwnUsageMs) throw new DomainError('stats.range_too_long')
  return usageBetween(deps, range, { id: deps.actor.id, username: deps.actor.username })
}

/** One user's hours by model, or everybody's added up. */
export async function usage(deps: UserDeps, input: UsageInput): Promise<HourlyUsage[]> {
  if (input.username === '') return usageBetween(deps, input, null)
  const user = await deps.em.findOne(User, { username: input.username }, { disableIdentityMap: true })
  return user ? usageBetween(deps, input, user) : []
}

async function usageBetween(
  { database }: UserDeps,
  { start, end }: Range,
  user: { id: number; username: string } | null,
): Promise<HourlyUsage[]> {
  const conditions = createConditions()
  const first = new Date(Math.max(start.getTime(), end.getTime() - longestRangeMs))
  conditions.add((value) => `l.hour >= ${value}`, first)
  conditions.add((value) => `l.hour <= ${value}`, end)
  if (user) conditions.add((value) => `l.user_id = ${value}`, user.id)
  const rows = await readInTime(database.pool, (query) =>
    query<UsageRow>(
      `select l.hour, l.model_name, sum(l.count) as count, sum(l.quota) as quota,
         sum(l.prompt_tokens + l.completion_tokens) as tokens
       from usage_hourly l${conditions.where()} group by 1, 2 order by 1, 2`,
      conditions.values(),
    ),
  )
  return rows.map((row, index) => toHourlyUsage(row, user ? { number: index + 1, ...user } : null))
}
