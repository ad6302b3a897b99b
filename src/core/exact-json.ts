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
