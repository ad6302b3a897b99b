import { type JsonField, weighJson } from '#core/json-weight.ts'
import type { NativeBody } from '../types.ts'
import type { Json } from './json.ts'

const isSame = (fields: JsonField[], wanted: Json, original: Json): boolean =>
  fields.every(({ name }) => Object.hasOwn(wanted, name) && wanted[name] === original[name]) &&
  Object.keys(wanted).every((name) => wanted[name] === undefined || Object.hasOwn(original, name))

const fieldText = (name: string, value: unknown): string => `${JSON.stringify(name)}:${JSON.stringify(value)}`

/** The fields of `wanted` in the caller's order, those that did not change as the caller's own bytes. */
function piecesOf(
  bytes: Uint8Array,
  present: JsonField[],
  { wanted, original }: { wanted: Json; original: Json },
): Uint8Array[] {
  const fields = present.filter(({ name }) => wanted[name] !== undefined)
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
  const fields = body.fields ?? weighJson(body.bytes).fields
  if (!fields) return wanted
  if (isSame(fields, wanted, body.json)) return body.bytes
  const pieces = piecesOf(body.bytes, fields, { wanted, original: body.json })
  const joined = pieces.flatMap((piece, index) => (index === 0 ? [piece] : [Buffer.from(','), piece]))
  return Buffer.concat([Buffer.from('{'), ...joined, Buffer.from('}')])
}
