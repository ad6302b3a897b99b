import { logType } from '#core/statuses.ts'
import type { IdRange } from './rollup.ts'
import type { LogFilters } from './schema.ts'

/** A growing list of conditions with their values in order. */
export type Conditions = {
  add: (text: (placeholder: string) => string, value: unknown) => void
  /** One that no value of a caller is in. */
  addFixed: (text: string) => void
  /** ` where …`, or nothing. */
  where: () => string
  values: () => unknown[]
}

export function createConditions(): Conditions {
  const texts: string[] = []
  const values: unknown[] = []
  return {
    add: (text, value) => {
      values.push(value)
      texts.push(text(`$${values.length}`))
    },
    addFixed: (text) => void texts.push(text),
    where: () => (texts.length === 0 ? '' : ` where ${texts.join(' and ')}`),
    values: () => values,
  }
}

/** Only `%` is a wildcard, and repeating it means no more than one. */
export const patternOf = (text: string): string => text.replace(/[\\_]/g, '\\$&').replace(/%+/g, '%')

/** A single value is compared by itself: an index then gives the rows in its order. */
function addAnyOf(conditions: Conditions, column: string, values: readonly (string | number)[]): void {
  if (values.length === 0) return
  if (values.length === 1) conditions.add((value) => `${column} = ${value}`, values[0])
  else conditions.add((value) => `${column} = any(${value})`, values)
}

/** What the log and its hourly sums have in common. */
export type CommonFilters = Pick<LogFilters, 'modelName' | 'group' | 'channelId' | 'userId' | 'tokenId'>

export function addCommon(conditions: Conditions, filters: CommonFilters): void {
  addAnyOf(conditions, 'l.user_id', filters.userId)
  addAnyOf(conditions, 'l.token_id', filters.tokenId)
  addAnyOf(conditions, 'l.channel_id', filters.channelId)
  addAnyOf(conditions, 'l."group"', filters.group)
  addModels(conditions, filters.modelName)
}

export const hasPattern = (names: readonly string[]): boolean => names.some((name) => name.includes('%'))

function addModels(conditions: Conditions, names: readonly string[]): void {
  if (!hasPattern(names)) return addAnyOf(conditions, 'l.model_name', names)
  if (names.length === 1) conditions.add((value) => `l.model_name like ${value}`, patternOf(names[0] ?? ''))
  else {
    conditions.add((value) => `l.model_name like any(${value}::text[])`, names.map(patternOf))
  }
}

type RowFilters = Pick<
  LogFilters,
  'tokenName' | 'requestId' | 'session' | 'agent' | 'project' | 'outcome' | 'minMs' | 'maxMs' | 'minQuota' | 'maxQuota'
>

const outcomeConditions = {
  success: `(l.type = ${logType.consume} and l.other->>'end' is null)`,
  interrupted: `(l.type = ${logType.consume} and l.other->>'end' is not null)`,
  failed: `l.type = ${logType.error}`,
}

/** Whether a filter is set that only the rows themselves can answer, not their sums by the hour. */
export const narrowsRows = (filters: RowFilters): boolean =>
  filters.tokenName.length > 0 ||
  filters.requestId !== '' ||
  filters.session !== '' ||
  filters.agent.length > 0 ||
  filters.project.length > 0 ||
  filters.outcome.length > 0 ||
  [filters.minMs, filters.maxMs, filters.minQuota, filters.maxQuota].some((value) => value !== undefined)

/** Filters on log rows, apart from the time and the type. */
export function addOwn(conditions: Conditions, filters: RowFilters): void {
  addAnyOf(conditions, 'l.token_name', filters.tokenName)
  if (filters.requestId !== '') conditions.add((value) => `l.request_id = ${value}`, filters.requestId)
  if (filters.session !== '') conditions.add((value) => `l.other->>'session' = ${value}`, filters.session)
  addAnyOf(conditions, "l.other->>'agent'", filters.agent)
  addAnyOf(conditions, "l.other->>'project'", filters.project)
  if (filters.outcome.length > 0) {
    const any = filters.outcome.map((outcome) => outcomeConditions[outcome]).join(' or ')
    conditions.add((value) => `(${any}) = ${value}`, true)
  }
  if (filters.minMs !== undefined) conditions.add((value) => `l.use_time_ms >= ${value}`, filters.minMs)
  if (filters.maxMs !== undefined) conditions.add((value) => `l.use_time_ms <= ${value}`, filters.maxMs)
  if (filters.minQuota !== undefined) conditions.add((value) => `l.quota >= ${value}`, filters.minQuota)
  if (filters.maxQuota !== undefined) conditions.add((value) => `l.quota <= ${value}`, filters.maxQuota)
}

/** Rows of calls as the sums by the hour count them: a test of a channel is nobody's usage. */
export const isCall = `l.type = ${logType.consume} and l.other->'test_quota' is null`

export function addIds(conditions: Conditions, { first, last }: IdRange): void {
  if (first !== undefined) conditions.add((value) => `l.id >= ${value}`, first)
  if (last !== undefined) conditions.add((value) => `l.id <= ${value}`, last)
}

export function addTimes(conditions: Conditions, times: { start?: Date | undefined; end?: Date | undefined }): void {
  if (times.start) conditions.add((value) => `l.created_at >= ${value}`, times.start)
  if (times.end) conditions.add((value) => `l.created_at <= ${value}`, times.end)
}
