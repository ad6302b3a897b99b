import { type JsonSchema, sampleOf } from './samples.ts'
import { isTaken } from '#test/support/long.ts'

/** What reaches for something else than a text is meant to: statements, paths, templates, inherited names, lines of a protocol. */
const injections = [
  `'; drop table users; --`,
  '../../../../etc/passwd',
  '${7*7}{{7*7}}<script>alert(1)</script>',
  '__proto__',
  'a\r\nset-cookie: session=stolen',
  '\u0000\ud800\u202e',
]

const huge = 'x'.repeat(50_000)

/** Values that are wrong, or at the edge, of each sort one. */
const sorts: unknown[][] = [
  [null],
  [{}, [], [null], { $gt: '' }, true],
  ['', -1, 1.5, -(2 ** 31) - 1],
  [2 ** 53, 1e308, huge],
  injections,
]

/** One value of each sort, others at each place; in the short form of every second sort, the others at the next place. */
export const badValuesAt = (place: number): unknown[] =>
  sorts.filter((_, sort) => isTaken(2, sort, place)).map((sort) => sort[place % sort.length])

const fieldsOf = (schema: JsonSchema | null): string[] =>
  [schema ?? {}, ...(schema?.anyOf ?? [])].flatMap(({ properties }) => Object.keys(properties ?? {}))

const nested = (depth: number): unknown => {
  let value: unknown = 'end'
  for (let level = 0; level < depth; level += 1) value = [value]
  return value
}

/** A valid input with one thing wrong at a time, and things that are no input at all. */
export function* badInputs(schema: JsonSchema | null, valid: unknown): Generator<unknown> {
  yield* [null, 12, 'a text', [], [{}], {}, nested(500)]
  const base = Object(valid ?? (schema ? sampleOf(schema) : {})) as Record<string, unknown>
  for (const [place, name] of fieldsOf(schema).entries()) {
    const { [name]: _, ...without } = base
    yield without
    for (const value of badValuesAt(place)) yield { ...base, [name]: value }
  }
}
