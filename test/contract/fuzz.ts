import fc from 'fast-check'
import type { JsonSchema } from './samples.ts'

/** Things that are no value of anything, or at the edge of what is one. */
const oddities = fc.constantFrom<unknown>(
  null,
  true,
  '',
  -1,
  1.5,
  2 ** 53,
  '\u0000\ud800',
  `'; drop table users; --`,
  [],
  {},
  [null],
  { $gt: '' },
  'x'.repeat(5000),
)

/** What a schema of the document takes, and now and then what it does not. */
export function arbitraryOf(schema: JsonSchema, depth = 0): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: fittingOf(schema, depth) }, { weight: 1, arbitrary: oddities })
}

function fittingOf(schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return fc.oneof(...choices.map((choice) => fittingOf(choice, depth)))
  switch (schema.type) {
    case 'string':
      return fc.string({ maxLength: 40, unit: 'grapheme' })
    case 'integer':
      // Small ones are what most numbers are of: of tokens, pages, images.
      return fc.oneof(fc.integer({ min: schema.minimum ?? -5, max: 100 }), fc.integer({ min: 0, max: 2_147_483_647 }))
    case 'number':
      return fc.double({ min: schema.minimum ?? -2, max: 1e6, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(arbitraryOf(schema.items ?? {}, depth + 1), { minLength: schema.minItems ?? 0, maxLength: 3 })
    default:
      return recordOf(schema, depth)
  }
}

function recordOf({ properties, required = [] }: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  if (!properties)
    return depth > 3
      ? fc.constant({})
      : fc.oneof(fc.constant({}), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })))
  const fields = Object.entries(properties).map(([name, field]) => [name, arbitraryOf(field, depth + 1)] as const)
  return fc.record(Object.fromEntries(fields), { requiredKeys: required.filter((name) => name in properties) })
}
