import { skipString } from '#core/json-weight.ts'
import type { NativeBody } from '../types.ts'
import type { Json } from './json.ts'

const quote = 0x22
const colon = 0x3a
const comma = 0x2c
const isOpener = (byte: number): boolean => byte === 0x7b || byte === 0x5b
const isCloser = (byte: number): boolean => byte === 0x7d || byte === 0x5d

/** Where a top-level field of the body stands: from its name's quote, its value from `value` up to `end`. */
type Field = { name: string; start: number; value: number; end: number }
type Layout = { fields: Field[] }

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (isSpace(bytes[at])) at += 1
  return at
}

function skipValue(bytes: Uint8Array, from: number): number {
  let depth = 0
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (byte === quote) {
      at = skipString(bytes, at)
    } else {
      if (isOpener(byte)) depth += 1
      else if (isCloser(byte)) {
        if (depth === 0) return at
        depth -= 1
      } else if (depth === 0 && (byte === comma || isSpace(byte))) return at
      at += 1
    }
    if (depth === 0 && (byte === quote || isCloser(byte))) return at
  }
  return at
}

/**
 * The top-level fields of a body already known to be a JSON object. Nothing when one name stands twice or is written with
 * escapes: readers differ on which of two wins, so such a body is never sent on as it is.
 */
function layoutOf(bytes: Uint8Array): Layout | undefined {
  const fields: Field[] = []
  const names = new Set<string>()
  let at = skipSpace(bytes, 0)
  at = skipSpace(bytes, at + 1)
  while (bytes[at] === quote) {
    const start = at
    const nameEnd = skipString(bytes, at)
    const name = Buffer.from(bytes.buffer, bytes.byteOffset + start + 1, nameEnd - start - 2).toString('utf8')
    if (name.includes('\\') || names.has(name)) return undefined
    names.add(name)
    at = skipSpace(bytes, nameEnd)
    if (bytes[at] !== colon) return undefined
    const value = skipSpace(bytes, at + 1)
    const end = skipValue(bytes, value)
    fields.push({ name, start, value, end })
    at = skipSpace(bytes, end)
    if (bytes[at] !== comma) break
    at = skipSpace(bytes, at + 1)
  }
  return bytes[at] === 0x7d ? { fields } : undefined
}

const isSame = (layout: Layout, wanted: Json, original: Json): boolean =>
  layout.fields.every(({ name }) => Object.hasOwn(wanted, name) && wanted[name] === original[name]) &&
  Object.keys(wanted).every((name) => wanted[name] === undefined || Object.hasOwn(original, name))

const fieldText = (name: string, value: unknown): string => `${JSON.stringify(name)}:${JSON.stringify(value)}`

/** The fields of `wanted` in the caller's order, those that did not change as the caller's own bytes. */
function piecesOf(
  bytes: Uint8Array,
  layout: Layout,
  { wanted, original }: { wanted: Json; original: Json },
): Uint8Array[] {
  const fields = layout.fields.filter(({ name }) => wanted[name] !== undefined)
  const pieces = fields.map((field) =>
    wanted[field.name] === original[field.name]
      ? bytes.subarray(field.start, field.end)
      : Buffer.from(fieldText(field.name, wanted[field.name])),
  )
  const added = Object.entries(wanted).filter(([name, value]) => value !== undefined && !Object.hasOwn(original, name))
  return [...pieces, ...added.map(([name, value]) => Buffer.from(fieldText(name, value)))]
}

/**
 * The caller's body with the top-level fields of `wanted`, a changed shallow copy of `body.json`: the same bytes when
 * nothing differs, else only the differing values are written anew, for parsing and writing a long conversation again
 * costs more than sending it.
 */
export function rewriteBody(body: NativeBody, wanted: Json): Uint8Array | Json {
  const layout = layoutOf(body.bytes)
  if (!layout) return wanted
  if (isSame(layout, wanted, body.json)) return body.bytes
  const pieces = piecesOf(body.bytes, layout, { wanted, original: body.json })
  const joined = pieces.flatMap((piece, index) => (index === 0 ? [piece] : [Buffer.from(','), piece]))
  return Buffer.concat([Buffer.from('{'), ...joined, Buffer.from('}')])
}
