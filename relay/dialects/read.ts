import { isWideNumber } from '#core/exact-json.ts'
import { type Fields, deepestNesting, isEmptyValue, isObject, nestsDeeperThan } from '#relay/chat/json.ts'
import type { Effort } from '#core/models/parameters.ts'
import type { CacheControl } from '#relay/chat/request.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'

const isList = (value: unknown): value is unknown[] => Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string'
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isTextList = (value: unknown): value is string[] => isList(value) && value.every(isText)

const largestMaxTokens = 1_073_741_823
/** The most answers that one call may ask for. */
const largestChoiceCount = 128

/**
 * Readers of a caller's JSON: absent and null both mean "not given", a wrong type is the caller's fault and names the
 * field. `code` is the documented error code of the dialect.
 */
export function readerFor(code: string) {
  const invalid = (path: string) => new InvalidRequest(code, `${path} is invalid`)
  const required = (path: string) => new InvalidRequest(code, `${path} is required`)
  const typed =
    <Value>(fits: (value: unknown) => value is Value) =>
    (value: unknown, path: string): Value | undefined => {
      if (value === undefined || value === null) return undefined
      if (fits(value)) return value
      throw invalid(path)
    }
  const plainNumber = typed(isNumber)
  const number = (value: unknown, path: string): number | undefined =>
    plainNumber(isWideNumber(value) ? Number(value.rawJSON) : value, path)
  const text = typed(isText)
  const integer = (value: unknown, path: string, [least, most]: readonly [number, number]): number | undefined => {
    const given = number(value, path)
    if (given === undefined || (Number.isInteger(given) && given >= least && given <= most)) return given
    throw invalid(path)
  }
  return {
    invalid,
    required,
    object: typed(isObject),
    list: typed(isList),
    text,
    flag: typed(isFlag),
    number,
    integer,
    texts: typed(isTextList),
    /** The body itself: an object of bounded depth. */
    body(value: unknown): Fields {
      if (!isObject(value)) throw new InvalidRequest(code, 'request body must be a JSON object')
      if (nestsDeeperThan(value, deepestNesting)) throw new InvalidRequest(code, 'request body is nested too deeply')
      return value
    },
    /** A text that must be there and not be empty. */
    name(value: unknown, path: string): string {
      const given = text(value, path)
      if (given === undefined || given === '') throw required(path)
      return given
    },
    maxTokens: (value: unknown, path: string) => integer(value, path, [0, largestMaxTokens]),
    choiceCount: (value: unknown, path: string) => integer(value, path, [1, largestChoiceCount]),
    seed: (value: unknown, path: string) => integer(value, path, [-(2 ** 63), 2 ** 63]),
  }
}

export type Reader = ReturnType<typeof readerFor>

/** What `known` does not name. Own data properties only, so a `__proto__` key of the caller stays a mere name and goes. */
export const leftOver = (fields: Fields, known: ReadonlySet<string>): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !known.has(name) && name !== '__proto__'))

/** Two words name the end user; the second says nothing new, or is not read. */
export const unreadUser = ({ user, safety_identifier: other }: Fields): string[] =>
  (user ?? other) === (other ?? user) ? [] : ['safety_identifier']

/** Fields of something inside the body that reading it passes over, by name; those that say nothing do not count. */
export const unreadNames = (fields: Fields, known: ReadonlySet<string>, path: string): string[] =>
  Object.entries(fields).flatMap(([name, value]) =>
    known.has(name) || isEmptyValue(value) || value === false || name === '__proto__' ? [] : [`${path}.${name}`],
  )

/** A cache marker; anything else that stands in its place is ignored. */
export function readCacheControl(value: unknown): CacheControl | undefined {
  if (!isObject(value) || value['type'] !== 'ephemeral') return undefined
  const ttl = value['ttl']
  return ttl === '5m' || ttl === '1h' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' }
}

/**
 * Leaves out fields whose value is undefined, so that parsed values compare and serialise cleanly. For values made here,
 * never for a caller's own objects.
 */
export function defined<Value extends object>(value: Value): Value {
  const result: Partial<Value> = {}
  for (const key in value) if (value[key] !== undefined) result[key] = value[key]
  return result as Value
}

const efforts: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] satisfies Effort[]
export const isEffort = (value: unknown): value is Effort => isText(value) && efforts.includes(value)

/** A vendor's own word for how much to think (Groq has `default`), which upstreams of that vendor read. */
export const isVendorEffort = (value: unknown): boolean =>
  isText(value) && !isEffort(value) && /^[a-z][\w.-]{0,31}$/i.test(value)
