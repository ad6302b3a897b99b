import { isSpace } from './json-weight.ts'

/**
 * V8 up to 14.6 (nodejs/node#63785) compares a name that is written with an escape in its undecoded letters with the one it
 * expects there: where an object with nearly the same names was read before, `"\""` becomes `\` and `"\u65e5\u671f"` becomes
 * `\u`. It remembers what anybody's objects looked like, so that one caller could rename what another sends.
 */

const quote = '"'.charCodeAt(0)
const colon = ':'.charCodeAt(0)
const backslash = '\\'.charCodeAt(0)

/** The position after a JSON string, from anywhere in it but the second half of an escape. */
function stringEnd(text: string, from: number): number {
  let at = from
  for (;;) {
    const end = text.indexOf('"', at)
    if (end < 0) return text.length
    let before = end - 1
    while (before >= at && text.charCodeAt(before) === backslash) before -= 1
    // After an odd number of backslashes the quote is part of the string.
    if ((end - before) % 2 === 1) return end + 1
    at = end + 1
  }
}

/** Whether the string that ends here is a name. */
function isName(text: string, end: number): boolean {
  let at = end
  while (isSpace(text.charCodeAt(at))) at += 1
  return text.charCodeAt(at) === colon
}

/**
 * Whether a name of a JSON text is written with an escape; it may say so of others too, never the other way round. Looks only at
 * what stands before colons, and from the first backslash on: events of streams are asked, too.
 */
export function hasEscapedNames(text: string): boolean {
  let from = text.indexOf('\\')
  while (from >= 0) {
    const end = text.indexOf(':', from)
    if (end < 0) return false
    from = end + 1
    let at = end - 1
    while (isSpace(text.charCodeAt(at))) at -= 1
    if (text.charCodeAt(at) !== quote) continue
    const last = at
    do at -= 1
    while (text.charCodeAt(at) === backslash)
    const backslashes = last - 1 - at
    // The quote is part of a string, and so is the colon.
    if (backslashes % 2 === 1) continue
    if (backslashes > 0) return true
    while (at >= 0 && text.charCodeAt(at) !== quote && text.charCodeAt(at) !== backslash) at -= 1
    if (text.charCodeAt(at) === backslash || text.charCodeAt(at - 1) === backslash) return true
    from = text.indexOf('\\', end)
  }
  return false
}

/** Begins the names that stand in for those that cannot be written without an escape. */
const mark = '\u007f'

const isMarked = (name: string): boolean => name.startsWith(mark)

/**
 * Reads a JSON text in which every name is written without an escape instead, so that all else is checked by the engine: what
 * is JSON, which of two equal names wins, what a number is.
 * @throws {SyntaxError} when the text is not JSON.
 */
export function readEscapedNames(text: string, read: (text: string) => unknown): unknown {
  const pieces: string[] = []
  const standIns = new Map<string, string>()
  const plain = (literal: string): string => {
    const name = JSON.parse(literal) as string
    const asItIs = `"${name}"`
    // Halves of characters may stand in a text as they are, too.
    if (!isMarked(name) && JSON.stringify(name.toWellFormed()) === asItIs.toWellFormed()) return asItIs
    const standIn = standIns.get(name) ?? `${mark}${standIns.size}`
    standIns.set(name, standIn)
    return `"${standIn}"`
  }
  let copied = 0
  let end = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', end)) {
    end = stringEnd(text, at + 1)
    if (!isName(text, end)) continue
    const literal = text.slice(at, end)
    if (!literal.includes('\\') && !isMarked(literal.slice(1))) continue
    pieces.push(text.slice(copied, at), plain(literal))
    copied = end
  }
  const value = read(pieces.join('') + text.slice(copied))
  return standIns.size === 0 ? value : withNames(value, [...standIns.keys()])
}

/** A value with the names that others stand in for. Walks with a list of its own: it may be as deep as its text is long. */
function withNames(value: unknown, names: readonly string[]): unknown {
  const nameOf = (name: string): string => (isMarked(name) ? (names[Number(name.slice(mark.length))] ?? name) : name)
  const renamed = (fields: object): object =>
    Array.isArray(fields) || !Object.keys(fields).some(isMarked)
      ? fields
      : Object.fromEntries(Object.entries(fields).map(([name, field]) => [nameOf(name), field]))
  const root = [value]
  const unread: object[] = [root]
  for (let holder = unread.pop(); holder; holder = unread.pop()) {
    const parts: Iterable<[string | number, unknown]> = Array.isArray(holder)
      ? holder.entries()
      : Object.entries(holder)
    for (const [place, part] of parts) {
      if (typeof part !== 'object' || part === null) continue
      const named = renamed(part)
      if (named !== part) (holder as Record<string | number, unknown>)[place] = named
      unread.push(named)
    }
  }
  return root[0]
}
