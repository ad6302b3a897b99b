import type { LogFilters } from './schema.ts'

/** A growing list of conditions with their values in order. */
export type Conditions = {
  add: (text: (placeholder: string) => string, value: unknown) => void
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
    where: () => (texts.length === 0 ? '' : ` where ${texts.join(' and ')}`),
    values: () => values,
  }
}

/** Only `%` is a wildcard, and repeating it means no more than one. */
const patternOf = (text: string): string => text.replace(/[\\_]/g, '\\$&').replace(/%+/g, '%')

/** What the log and its hourly sums have in common. */
export type CommonFilters = Pick<LogFilters, 'modelName' | 'group' | 'channelId' | 'userId' | 'tokenId'>

export function addCommon(conditions: Conditions, filters: CommonFilters): void {
  const { modelName, group, channelId, userId, tokenId } = filters
  if (userId > 0) conditions.add((value) => `l.user_id = ${value}`, userId)
  if (tokenId > 0) conditions.add((value) => `l.token_id = ${value}`, tokenId)
  if (channelId > 0) conditions.add((value) => `l.channel_id = ${value}`, channelId)
  if (group !== '') conditions.add((value) => `l."group" = ${value}`, group)
  if (modelName.includes('%')) conditions.add((value) => `l.model_name like ${value}`, patternOf(modelName))
  else if (modelName !== '') conditions.add((value) => `l.model_name = ${value}`, modelName)
}

/** Filters on log rows, apart from the time and the type. */
export function addOwn(conditions: Conditions, filters: Pick<LogFilters, 'tokenName' | 'requestId'>): void {
  if (filters.tokenName !== '') conditions.add((value) => `l.token_name = ${value}`, filters.tokenName)
  if (filters.requestId !== '') conditions.add((value) => `l.request_id = ${value}`, filters.requestId)
}

export function addTimes(conditions: Conditions, times: { start?: Date | undefined; end?: Date | undefined }): void {
  if (times.start) conditions.add((value) => `l.created_at >= ${value}`, times.start)
  if (times.end) conditions.add((value) => `l.created_at <= ${value}`, times.end)
}
