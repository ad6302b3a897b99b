import { DomainError } from '#core/errors.ts'
import { defaultPageSize, largestPageSize } from '#core/page-sizes.ts'

/** Lenient readers of what clients send: empty, `NaN`, `undefined`, `null` and non-numbers count as not given. */

export function number(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const parsed = Number(value)
  return Number.isFinite(parsed) ? parsed : undefined
}

export const integer = (value: unknown): number | undefined => {
  const parsed = number(value)
  return parsed === undefined ? undefined : Math.trunc(parsed)
}

/**
 * `null` means empty; a list stands for its items with commas between them. An object is no text: what it would make of
 * itself may be a field that its sender wrote.
 * @throws {DomainError} input.invalid
 */
export const text = (value: unknown): string | undefined => {
  if (value === undefined) return undefined
  if (value === null) return ''
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.map((item) => (Array.isArray(item) ? noText() : (text(item) ?? ''))).join(',')
  return noText()
}

const noText = (): never => {
  throw new DomainError('input.invalid', { detail: 'expected a text' })
}

/** In the words that existing servers read, which are also those of scripts that print a switch of their own language. */
const switchWords: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...[true, 1, '1', 't', 'true'].map((word) => [word, true] as const),
  ...[false, 0, '0', 'f', 'false'].map((word) => [word, false] as const),
])

export const boolean = (value: unknown): boolean | undefined =>
  switchWords.get(typeof value === 'string' ? value.trim().toLowerCase() : value)

export const csv = (value: unknown): string[] =>
  (text(value) ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** A whole number as itself or in digits; 0, which nothing has, for anything else: a fraction is not the id beside it. */
export const id = (value: unknown): number => {
  const parsed = typeof value === 'string' && /^\d{1,15}$/.test(value.trim()) ? Number(value) : value
  return typeof parsed === 'number' && Number.isSafeInteger(parsed) ? parsed : 0
}

/** What is no id among them is refused with them, not left out. */
export const ids = (value: unknown): number[] => (Array.isArray(value) ? value.map(id) : [])

/** Of the year 9999. */
export const lastSecond = 253_402_300_799

/** Epoch seconds → instant; 0 and absent are open. */
export const instant = (value: unknown): Date | undefined => {
  const seconds = number(value)
  if (seconds === undefined || seconds <= 0 || seconds > lastSecond) return undefined
  return new Date(Math.floor(seconds) * 1000)
}

type Query = Readonly<Record<string, string | undefined>>

/** What clients write for nothing. */
export const emptyWords: ReadonlySet<string> = new Set(['', 'NaN', 'undefined', 'null'])

/**
 * A number that a list is narrowed by: what cannot be read is not left out as if nothing had been asked.
 * @throws {DomainError} input.invalid
 */
export function askedNumber(query: Query, name: string): number | undefined {
  const value = query[name]?.trim() ?? ''
  if (emptyWords.has(value)) return undefined
  return number(value) ?? notUnderstood(name, value)
}

export function askedInteger(query: Query, name: string): number | undefined {
  const value = askedNumber(query, name)
  return value === undefined || Number.isInteger(value) ? value : notUnderstood(name, String(value))
}

export const askedIntegers = (query: Query, name: string): number[] =>
  csv(query[name])
    .filter((item) => !emptyWords.has(item))
    .map((item) => (/^-?\d{1,15}$/.test(item) ? Number(item) : notUnderstood(name, item)))

type Body = Readonly<Record<string, unknown>>

const isLeftOut = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && emptyWords.has(value.trim()))

/**
 * A number of a body. What cannot be read is refused: taken as left out it would be reported as written.
 * @throws {DomainError} input.invalid
 */
export function givenNumber(body: Body, name: string): number | undefined {
  const value = body[name]
  return isLeftOut(value) ? undefined : (number(value) ?? notUnderstood(name, describe(value)))
}

/** The same for a switch. */
export function givenFlag(body: Body, name: string): boolean | undefined {
  const value = body[name]
  return isLeftOut(value) ? undefined : (boolean(value) ?? notUnderstood(name, describe(value)))
}

const describe = (value: unknown): string => (typeof value === 'object' ? 'an object' : String(value))

const notUnderstood = (name: string, value: string): never => {
  throw new DomainError('input.invalid', { detail: `${name}: ${value.slice(0, 100)}` })
}

/** Like `instant`; behind the end of time nothing is found. */
export const askedInstant = (query: Query, name: string): Date | undefined =>
  instant(Math.min(askedNumber(query, name) ?? 0, lastSecond))

/** A whole second is meant to its end. */
export const askedEnd = (query: Query, name: string): Date | undefined => {
  const second = askedInstant(query, name)
  return second && new Date(second.getTime() + 999)
}

/** Instant → epoch seconds, 0 for none. */
export const seconds = (value: Date | null | undefined): number => (value ? Math.floor(value.getTime() / 1000) : 0)

/** Instant → RFC 3339 or null. */
export const iso = (value: Date | null | undefined): string | null => (value ? value.toISOString() : null)

const clampSize = (value: number | undefined, largest: number): number =>
  value === undefined || value < 1 ? defaultPageSize : Math.min(value, largest)

const clampPage = (value: number): number => Math.min(Math.max(value, 1), 1_000_000)

/** One-based lists (`p` below 1 acts as 1). */
export const pageQueryUpTo =
  (largest: number) =>
  ({ query }: { query: Record<string, string | undefined> }) => ({
    page: clampPage(integer(query['p']) ?? 1),
    pageSize: clampSize(integer(query['page_size']), largest),
  })

export const pageQuery = pageQueryUpTo(largestPageSize)

/** Zero-based lists, with the size under the given name or, where that is not sent, under the usual one; or fixed. */
export const zeroBasedPage =
  (sizeName: string | null, largest: number = largestPageSize) =>
  ({ query }: { query: Record<string, string | undefined> }) => ({
    page: clampPage((integer(query['p']) ?? 0) + 1),
    pageSize: sizeName === null ? defaultPageSize : clampSize(integer(query[sizeName] ?? query['page_size']), largest),
  })
