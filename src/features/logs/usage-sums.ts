import { logType } from '#core/statuses.ts'
import type { FailureSums, SumRow } from '#core/usage-sums.ts'
import {
  addCommon,
  addIds,
  addOwn,
  addTimes,
  type CommonFilters,
  type Conditions,
  createConditions,
  isCall,
  narrowsRows,
} from './conditions.ts'
import type { OptionsStore } from '#features/options/store.ts'
import { idsBetween } from './rollup.ts'
import type { LogFilters } from './schema.ts'
import type { Query } from './timed-query.ts'

const columns = [
  'calls',
  'quota',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'use_time_ms',
  'first_token_ms',
  'first_token_count',
  'cost',
  'costed_quota',
] as const satisfies (keyof SumRow)[]

/** The same figures of an hour and of a row, of calls that had any usage. */
export const hourSumsOf = (names: readonly (keyof SumRow)[]): string =>
  names.map((name) => `coalesce(sum(l.${name === 'calls' ? 'count' : name}), 0) as ${name}`).join(', ')
type Narrowing = Pick<CommonFilters, 'userId' | 'tokenId' | 'channelId' | 'group'>

/** The smallest table that knows what is asked for: of all users and channels together, hours that are over are added up. */
export function hoursFor({ userId, tokenId, channelId, group }: Narrowing): string {
  if (userId.length + tokenId.length + channelId.length > 0) return 'usage_hourly'
  return group.length > 0 ? 'usage_hourly_models' : 'usage_hourly_all'
}

/** The same; without a filter on models too, an hour that is over is one row. */
export const totalsFor = (filters: CommonFilters): string => {
  const table = hoursFor(filters)
  return table === 'usage_hourly_all' && filters.modelName.length === 0 ? 'usage_hourly_totals' : table
}

/** The same of failures, which of hours that are over are added up by group. */
export const failuresFor = ({ userId, tokenId, channelId, modelName }: CommonFilters): string =>
  userId.length + tokenId.length + channelId.length + modelName.length > 0
    ? 'failures_hourly'
    : 'failures_hourly_groups'

const firstToken = `coalesce((l.other->>'frt')::numeric, -1)`
/** What each figure adds up, and of which rows where not of all. */
const figures: Record<keyof SumRow, { sum: string; of?: string }> = {
  calls: { sum: '1' },
  quota: { sum: 'l.quota' },
  prompt_tokens: { sum: 'l.prompt_tokens::bigint' },
  completion_tokens: { sum: 'l.completion_tokens::bigint' },
  cached_tokens: { sum: `(l.other->>'cache_tokens')::bigint` },
  use_time_ms: { sum: 'l.use_time_ms::bigint' },
  first_token_ms: { sum: firstToken, of: `${firstToken} >= 0` },
  first_token_count: { sum: '1', of: `${firstToken} >= 0` },
  cost: { sum: 'l.cost' },
  costed_quota: { sum: 'l.quota', of: 'l.cost is not null' },
}
/** @param among only of these rows */
const rowSumsOf = (names: readonly (keyof SumRow)[], among?: string): string =>
  names
    .map((name) => {
      const { sum, of } = figures[name]
      const conditions = [among, of].filter((condition) => condition !== undefined).join(' and ')
      return `coalesce(sum(${sum})${conditions && ` filter (where ${conditions})`}, 0) as ${name}`
    })
    .join(', ')

const attempts = `l.other->'admin_info'->'attempts'`
const attemptCount = `case when jsonb_typeof(${attempts}) = 'array' then jsonb_array_length(${attempts}) else 0 end`
/** Every attempt of a call that failed did, and all but the last of one that was answered. */
const failureSums = `count(*) filter (where l.type = ${logType.error}) as failed_calls,
  coalesce(sum(greatest(${attemptCount} - (l.type = ${logType.consume})::int, 0)), 0) as failed_attempts`

/** Hours of models as the tables of sums have them, of the rows that the conditions leave. */
export const hoursOfRows = (conditions: Conditions): string =>
  `select date_trunc('hour', l.created_at, 'UTC') as hour, l.model_name, count(*) as count, ${rowSumsOf(columns)}
   from logs l${conditions.where()} group by 1, 2`

type Times = { start?: Date | undefined; end?: Date | undefined }

const hourMs = 3_600_000
const zero = '0'
const nothing = Object.fromEntries(columns.map((column) => [column, zero])) as SumRow

async function rowConditions(query: Query, filters: LogFilters, times: Times): Promise<Conditions> {
  const conditions = createConditions()
  addCommon(conditions, filters)
  addOwn(conditions, filters)
  addTimes(conditions, times)
  addIds(conditions, await idsBetween(query, times))
  return conditions
}

async function sumsOfRows(query: Query, filters: LogFilters, times: Times): Promise<SumRow> {
  const conditions = await rowConditions(query, filters, times)
  conditions.addFixed(isCall)
  const [row] = await query<SumRow>(
    `select ${rowSumsOf(columns)} from logs l${conditions.where()}`,
    conditions.values(),
  )
  return row ?? nothing
}

type FailureRow = { failed_calls: string; failed_attempts: string }
const toFailures = (row: FailureRow | undefined): FailureSums => ({
  calls: Number(row?.failed_calls ?? 0),
  attempts: Number(row?.failed_attempts ?? 0),
})
const addAnswersAndFailures = (conditions: Conditions): void =>
  conditions.add((value) => `l.type = any(${value}::int[])`, [logType.consume, logType.error])

/** As far as failures are logged. */
async function failuresOfRows(query: Query, filters: LogFilters, times: Times): Promise<FailureSums> {
  const conditions = await rowConditions(query, filters, times)
  addAnswersAndFailures(conditions)
  const [row] = await query<FailureRow>(`select ${failureSums} from logs l${conditions.where()}`, conditions.values())
  return toFailures(row)
}

/** Both in one pass, where a filter is set that only rows know: many may fit it, and lie on as many pages. */
async function figuresOfRows(query: Query, filters: LogFilters, { sums, ...times }: Times & Wanted): Promise<Figures> {
  const conditions = await rowConditions(query, filters, times)
  addAnswersAndFailures(conditions)
  const [row] = await query<SumRow & FailureRow>(
    `select ${rowSumsOf(sums, isCall)}, ${failureSums} from logs l${conditions.where()}`,
    conditions.values(),
  )
  return { sums: { ...nothing, ...row }, failures: toFailures(row) }
}

/** The end is the first hour that does not count. */
function addHours(conditions: Conditions, { start, end }: Times): void {
  if (start) conditions.add((value) => `l.hour >= ${value}`, start)
  if (end) conditions.add((value) => `l.hour < ${value}`, end)
}

async function sumsOfHours(query: Query, filters: CommonFilters, times: Times): Promise<SumRow> {
  const conditions = createConditions()
  addCommon(conditions, filters)
  addHours(conditions, times)
  const [row] = await query<SumRow>(
    `select ${hourSumsOf(columns)} from ${totalsFor(filters)} l${conditions.where()}`,
    conditions.values(),
  )
  return row ?? nothing
}

type Between = Times & { hasRows: boolean; now: Date }
type Parts = { hours?: Times; rows: Times[] }

/**
 * Both times included. Whole hours come from their sums; rows are read for the broken ones at both ends. While they are
 * not logged (`hasRows`), broken hours count whole.
 */
function partsOf({ start, end, hasRows, now }: Between): Parts {
  const round = hasRows ? Math.ceil : Math.floor
  const from = start && new Date(round(start.getTime() / hourMs) * hourMs)
  const isOver = end !== undefined && end < now
  const until = isOver ? new Date((Math.floor(end.getTime() / hourMs) + (hasRows ? 0 : 1)) * hourMs) : undefined
  if (hasRows && from && until && from >= until) return { rows: [{ start, end }] }
  const rows: Times[] = []
  if (hasRows && start && from && start < from) rows.push({ start, end: new Date(from.getTime() - 1) })
  if (hasRows && until && end) rows.push({ start: until, end })
  return { hours: { start: from, end: until }, rows }
}

async function sumsBetween(query: Query, filters: LogFilters, between: Between): Promise<SumRow> {
  const { hours, rows } = partsOf(between)
  const parts = hours ? [await sumsOfHours(query, filters, hours)] : []
  for (const times of rows) parts.push(await sumsOfRows(query, filters, times))
  return added(parts)
}

const added = (parts: readonly SumRow[]): SumRow =>
  Object.fromEntries(
    columns.map((column) => [column, String(parts.reduce((sum, part) => sum + Number(part[column]), 0))]),
  ) as SumRow

async function failuresBetween(query: Query, filters: LogFilters, between: Between): Promise<FailureSums> {
  const { hours, rows } = partsOf(between)
  const parts = hours ? [await failuresOfHours(query, filters, hours)] : []
  for (const times of rows) parts.push(await failuresOfRows(query, filters, times))
  return addedFailures(parts)
}

function addedFailures(parts: readonly FailureSums[]): FailureSums {
  const sumOf = (name: keyof FailureSums) => parts.reduce((sum, part) => sum + part[name], 0)
  return { calls: sumOf('calls'), attempts: sumOf('attempts') }
}

async function failuresOfHours(query: Query, filters: CommonFilters, times: Times): Promise<FailureSums> {
  const conditions = createConditions()
  addCommon(conditions, filters)
  addHours(conditions, times)
  const [row] = await query<FailureRow>(
    `select sum(l.calls) as failed_calls, sum(l.attempts) as failed_attempts from ${failuresFor(filters)} l${conditions.where()}`,
    conditions.values(),
  )
  return toFailures(row)
}

/** Whole hours of a token's name are added up, if nothing else narrows the rows and no other sums are wanted. */
const knowsTokenName = (filters: LogFilters, { sums }: Wanted): boolean =>
  filters.tokenName.length > 0 &&
  !narrowsRows({ ...filters, tokenName: [] }) &&
  [filters.userId, filters.tokenId, filters.channelId, filters.modelName, filters.group].every(
    (any) => any.length === 0,
  ) &&
  sums.every((name) => name === 'calls' || name === 'quota')

async function figuresOfTokenNames(query: Query, filters: LogFilters, times: Between & Wanted): Promise<Figures> {
  const { hours, rows } = partsOf(times)
  const parts = hours ? [await figuresOfTokenNameHours(query, filters.tokenName, hours)] : []
  for (const part of rows) parts.push(await figuresOfRows(query, filters, { ...part, sums: times.sums }))
  return { sums: added(parts.map(({ sums }) => sums)), failures: addedFailures(parts.map(({ failures }) => failures)) }
}

async function figuresOfTokenNameHours(query: Query, names: readonly string[], times: Times): Promise<Figures> {
  const conditions = createConditions()
  conditions.add((value) => `l.token_name = any(${value})`, names)
  addHours(conditions, times)
  const [row] = await query<Pick<SumRow, 'calls' | 'quota'> & FailureRow>(
    `select coalesce(sum(l.calls), 0) as calls, coalesce(sum(l.quota), 0) as quota, sum(l.failed_calls) as failed_calls,
       sum(l.failed_attempts) as failed_attempts from token_name_sums l${conditions.where()}`,
    conditions.values(),
  )
  return { sums: { ...nothing, ...row }, failures: toFailures(row) }
}

/** The other sums may be zero. */
type Wanted = { sums: readonly (keyof SumRow)[] }
type Figures = { sums: SumRow; failures: FailureSums }
type Logged = Times & Partial<Wanted> & { now: Date; options: Pick<OptionsStore, 'get'> }

/** Both times included. What only rows know, such as a session, is summed up from them. */
export async function figuresBetween(
  query: Query,
  filters: LogFilters,
  { start, end, now, options, sums = columns }: Logged,
): Promise<Figures> {
  if (knowsTokenName(filters, { sums }))
    return figuresOfTokenNames(query, filters, { start, end, now, hasRows: true, sums })
  if (narrowsRows(filters)) return figuresOfRows(query, filters, { start, end, sums })
  const hasRows = options.get('LogConsumeEnabled')
  // An attempt counts for the channel that failed, a row stands under the last one of its call.
  const hasFailures = hasRows && options.get('LogErrorEnabled') && filters.channelId.length === 0
  return {
    sums: await sumsBetween(query, filters, { start, end, now, hasRows }),
    failures: await failuresBetween(query, filters, { start, end, now, hasRows: hasFailures }),
  }
}
