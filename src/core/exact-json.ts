import { hasEscapedNames, readEscapedNames } from './escaped-names.ts'
import { type JsonWeight, wideDigits } from './json-weight.ts'

declare global {
  /** Part of the language since 2025, which the compiler's own list does not know yet. */
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
    parse(text: string, reviver: (name: string, value: unknown, context: { source?: string }) => unknown): unknown
  }
}

/** Digits enough for a whole number that a double cannot hold, where a value may stand. */
const longDigits = /(?:^|[[:,\s])-?\d{16}/

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** Most texts have no sixteen digits in a row; looking at each sixteenth letter says so at once. */
function mayBeWide(text: string): boolean {
  for (let at = wideDigits - 1; at < text.length; at += wideDigits) {
    if (!isDigit(text.charCodeAt(at))) continue
    let start = at
    while (isDigit(text.charCodeAt(start - 1))) start -= 1
    while (isDigit(text.charCodeAt(at + 1))) at += 1
    if (at + 1 - start >= wideDigits) return longDigits.test(text)
  }
  return false
}

const isInteger = /^-?\d+$/

/** A whole number beyond 2^53, kept as the digits it was written with; it is written again with the same. */
export const isWideNumber = (value: unknown): value is { rawJSON: string } => JSON.isRawJSON(value)

const keepDigits = (_: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && isInteger.test(source)
    ? JSON.rawJSON(source)
    : value

/**
 * JSON that is written again later, so that no digit may change on the way. Reading with a look at each number takes ten times
 * as long, and is done only for texts that hold a long one: `wide` says whether, where the caller knows. Names stay too, which
 * the engine reads wrongly where they are written with escapes.
 * @throws {SyntaxError} when the text is not JSON.
 */
export function parseExactly(text: string, wide: boolean = mayBeWide(text)): unknown {
  const read = wide ? readDigits : readPlain
  return hasEscapedNames(text) ? readEscapedNames(text, read) : read(text)
}

const readDigits = (text: string): unknown => JSON.parse(text, keepDigits)
const readPlain = (text: string): unknown => JSON.parse(text)

/** JSON from others whose numbers are counted with, not written again. @throws {SyntaxError} when the text is not JSON. */
export const parseJson = (text: string): unknown => parseExactly(text, false)

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
