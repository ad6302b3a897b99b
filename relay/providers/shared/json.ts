import { isWideNumber, parseExactly } from '#core/exact-json.ts'
import { MalformedUpstream } from '#relay/chat/events.ts'

/** Narrow readers of JSON nobody vouches for: a field of the wrong kind reads as absent. */
export type Json = Record<string, unknown>

export const recordOf = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isWideNumber(value)
    ? (value as Json)
    : undefined

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

export const recordsOf = (value: unknown): Json[] =>
  listOf(value).flatMap((entry) => {
    const record = recordOf(entry)
    return record ? [record] : []
  })

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Text with something in it. */
export const wordOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

/**
 * A count as the upstream wrote it, possible or not, for `normaliseUsage` to check. What is no number at all reads as NaN,
 * so that it is flagged there instead of passing for "not reported".
 */
export const countOf = (value: unknown): number | undefined => {
  if (value === undefined || value === null) return undefined
  return typeof value === 'number' ? value : Number.NaN
}

/** The sum of counts of which at least one was reported. An impossible part makes the sum impossible. */
export const sumOf = (...counts: (number | undefined)[]): number | undefined => {
  const reported = counts.filter((count) => count !== undefined)
  if (reported.length === 0) return undefined
  const possible = reported.every((count) => Number.isInteger(count) && count >= 0)
  return possible ? reported.reduce((total, count) => total + count, 0) : Number.NaN
}

/** @throws {MalformedUpstream} when the text is not a JSON object. */
export function parseRecord(text: string): Json {
  let value: unknown
  try {
    value = parseExactly(text)
  } catch {
    throw new MalformedUpstream('the upstream sent text that is not JSON')
  }
  const record = recordOf(value)
  if (!record) throw new MalformedUpstream('the upstream sent JSON that is not an object')
  return record
}

/** The value in a text, or nothing when that is no JSON. */
export function tryJson(text: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    return undefined
  }
}

/** The object in a text, or nothing when there is none. */
export const tryRecord = (text: string): Json | undefined => recordOf(tryJson(text))

/** Leaves out fields that hold `undefined`, so that a body shows exactly what is sent. */
export const withoutAbsent = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
