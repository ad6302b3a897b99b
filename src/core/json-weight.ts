const quote = 0x22
const backslash = 0x5c
const brace = 0x7b

/** What a byte outside of texts means for the weight of a JSON text. */
const other = 0
const opener = 1
const closer = 2
const comma = 3
const colon = 4
const text = 5
const digit = 6
const meanings = new Uint8Array(256)
for (const letter of '{[') meanings[letter.charCodeAt(0)] = opener
for (const letter of '}]') meanings[letter.charCodeAt(0)] = closer
meanings[','.charCodeAt(0)] = comma
meanings[':'.charCodeAt(0)] = colon
meanings[quote] = text
for (const letter of '0123456789') meanings[letter.charCodeAt(0)] = digit

/** Deeper than any request; what walks a value by calling itself runs out of stack at some thousands. */
export const deepestJson = 256
/** Far more than any request has in one object; a million take seconds to read. */
export const mostNames = 10_000
/** Objects and lists; each takes twenty times what its two brackets do. */
export const mostContainers = 500_000
/** Numbers, texts and all else; the largest calls of embeddings have some hundred thousand. */
export const mostValues = 2_000_000

/** About what one of them takes in memory beside its own letters. */
const bytesOfContainer = 64
const bytesOfValue = 24

export type JsonWeight = {
  /** What keeps the text from being read at all. */
  problem: 'too deep' | 'too many names in an object' | 'too many values' | null
  /** About what the value takes in memory once it is read. */
  bytes: number
  /** A number has more digits than a double is sure to hold. */
  wide: boolean
  /**
   * The fields of a text that is an object; nothing when one name stands twice or is written with escapes: readers differ on
   * which of two wins. Means something only of a text that turns out to be JSON.
   */
  fields?: JsonField[] | undefined
  /** Commas between what the outermost fields hold, so far from each other that a piece between two is worth reading alone. */
  cuts?: number[] | undefined
}

/** Where a field of the outermost object stands: from its name's quote, its value from `value` up to `end`. */
export type JsonField = { name: string; start: number; value: number; end: number }

/** Every whole number with fewer digits is exact. */
export const wideDigits = 16

const unread = { bytes: 0, wide: false }

/** So far one looks byte by byte: for less, a search costs more than it saves. */
const nearBytes = 32

/** The position after the string whose opening quote stands at `from`. Long texts are passed over by the search for a byte. */
export function skipString(bytes: Uint8Array, from: number): number {
  let at = from + 1
  for (;;) {
    const near = Math.min(bytes.length, at + nearBytes)
    while (at < near) {
      const byte = bytes[at]
      if (byte === quote) return at + 1
      at += byte === backslash ? 2 : 1
    }
    const end = bytes.indexOf(quote, at)
    if (end < 0) return bytes.length + 1
    let before = end - 1
    while (before >= at && bytes[before] === backslash) before -= 1
    // After an odd number of backslashes the quote is part of the text.
    if ((end - before) % 2 === 1) return end + 1
    at = end + 1
  }
}

/** A piece that is read alone; a much longer text is laid out anew by the system each time it is made. */
const pieceBytes = 65_536

/** Of JSON. */
export const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** Takes down the fields of the outermost object while its text is looked through. */
function createOutline(bytes: Uint8Array) {
  const letters = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const fields: JsonField[] = []
  const names = new Set<string>()
  let isPlain = true
  let start = -1
  let nameEnd = 0
  let value = 0
  return {
    text: (from: number, to: number): void => {
      if (start >= 0) return
      start = from
      nameEnd = to
    },
    colon: (at: number): void => {
      value = at + 1
      while (isSpace(bytes[value])) value += 1
    },
    /** A comma, or the end of the object. */
    close: (at: number): void => {
      if (start < 0) return
      let end = at
      while (isSpace(bytes[end - 1])) end -= 1
      const name = letters.toString('utf8', start + 1, nameEnd - 1)
      if (name.includes('\\') || names.has(name)) isPlain = false
      names.add(name)
      fields.push({ name, start, value, end })
      start = -1
    },
    fields: (): JsonField[] | undefined => (isPlain ? fields : undefined),
  }
}

/**
 * What reading a JSON text will cost, estimated from its bytes alone, before anything is built. Texts are skipped, so that
 * looking costs little beside reading.
 */
export function weighJson(bytes: Uint8Array): JsonWeight {
  const { length } = bytes
  const outer: number[] = []
  let names = 0
  let containers = 0
  let values = 0
  let wide = false
  let outline: ReturnType<typeof createOutline> | undefined
  const cuts: number[] = []
  let nextCut = pieceBytes
  let at = 0
  while (at < length) {
    const meaning = meanings[bytes[at] as number]
    if (meaning === other) at += 1
    else if (meaning === text) {
      const start = at
      at = skipString(bytes, at)
      if (outer.length === 1) outline?.text(start, at)
    } else if (meaning === digit) {
      const start = at
      while (meanings[bytes[at] as number] === digit) at += 1
      if (at - start >= wideDigits) wide = true
    } else {
      if (outer.length === 1 && outline && meaning !== opener) {
        if (meaning === colon) outline.colon(at)
        else outline.close(at)
      }
      at += 1
      if (meaning === comma) {
        if (at > nextCut && outer.length === 2) {
          cuts.push(at - 1)
          nextCut = at + pieceBytes
        }
        values += 1
        if (values > mostValues) return { ...unread, problem: 'too many values' }
      } else if (meaning === colon) {
        names += 1
        if (names > mostNames) return { ...unread, problem: 'too many names in an object' }
      } else if (meaning === opener) {
        containers += 1
        if (containers > mostContainers) return { ...unread, problem: 'too many values' }
        if (containers === 1 && bytes[at - 1] === brace) outline = createOutline(bytes)
        if (outer.push(names) > deepestJson) return { ...unread, problem: 'too deep' }
        names = 0
      } else names = outer.pop() ?? 0
    }
  }
  const weight = length + containers * bytesOfContainer + values * bytesOfValue
  return { problem: null, bytes: weight, wide, fields: outline?.fields(), cuts }
}
