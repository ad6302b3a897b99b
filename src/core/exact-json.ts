import type { JsonWeight } from './json-weight.ts'

declare global {
  /** Part of the language since 2025, which the compiler's own list does not know yet. */
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
    parse(text: string, reviver: (name: string, value: unknown, context: { source?: string }) => unknown): unknown
  }
}

/** Digits enough for a whole number that a double cannot hold, where a value may stand. */
const mayBeWide = /(?:^|[[:,\s])-?\d{16}/

const isInteger = /^-?\d+$/

/** A whole number beyond 2^53, kept as the digits it was written with; it is written again with the same. */
export const isWideNumber = (value: unknown): value is { rawJSON: string } => JSON.isRawJSON(value)

const keepDigits = (_: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && isInteger.test(source)
    ? JSON.rawJSON(source)
    : value

/**
 * JSON that is written again later, so that no digit may change on the way. Reading with a look at each number takes ten times
 * as long, and is done only for texts that hold a long one: `wide` says whether, where the caller knows.
 * @throws {SyntaxError} when the text is not JSON.
 */
export const parseExactly = (text: string, wide: boolean = mayBeWide.test(text)): unknown =>
  wide ? JSON.parse(text, keepDigits) : JSON.parse(text)

/** Shorter texts lie where texts are quickly made; far longer ones the engine keeps elsewhere in any case. */
const leastInPieces = 131_072
const mostInPieces = 1_000_000

/**
 * The value of a JSON text whose weight is known, no digit changed. The longest list of a long object is read in pieces.
 * @throws {SyntaxError} when it is not JSON.
 */
export function parseWeighed(bytes: Buffer, weight: JsonWeight): unknown {
  const parsed = (): unknown => parseExactly(bytes.toString('utf8'), weight.wide)
  if (bytes.length < leastInPieces || bytes.length > mostInPieces) return parsed()
  const list = weight.fields?.toSorted((left, right) => right.end - right.value - (left.end - left.value))[0]
  if (!list || list.name === '__proto__') return parsed()
  const [from, to] = [list.value + 1, list.end - 1]
  const cuts = weight.cuts?.filter((cut) => cut > from && cut < to) ?? []
  if (cuts.length === 0 || bytes[from - 1] !== opening || bytes[to] !== closing) return parsed()
  const rest = parseExactly(bytes.toString('utf8', 0, from) + bytes.toString('utf8', to), weight.wide)
  const items: unknown[] = []
  for (const [index, cut] of [...cuts, to].entries()) {
    const start = index === 0 ? from : (cuts[index - 1] ?? 0) + 1
    const piece = parseExactly(`[${bytes.toString('utf8', start, cut)}]`, weight.wide) as unknown[]
    // A comma with nothing beside it: the whole is no JSON.
    if (piece.length === 0) return parsed()
    for (const item of piece) items.push(item)
  }
  if (typeof rest !== 'object' || rest === null) return parsed()
  return Object.assign(rest, { [list.name]: items })
}

const opening = '['.charCodeAt(0)
const closing = ']'.charCodeAt(0)
