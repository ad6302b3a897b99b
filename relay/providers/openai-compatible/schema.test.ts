import { expect, test } from 'vitest'
import { toStrictSchema } from './schema.ts'

const strict = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

test('a schema that can be strict loses only words that hold nobody to anything', () => {
  const schema = strict({
    a: { type: ['string', 'null'] },
    b: { type: 'array', items: strict({ c: { type: 'integer', minimum: 1 } }) },
  })
  expect(toStrictSchema({ $schema: 'x', ...schema })).toEqual(schema)
  expect(toStrictSchema(strict({ a: { type: 'string', default: 'x' } }))).toEqual(strict({ a: { type: 'string' } }))
  expect(toStrictSchema(strict({ a: { oneOf: [{ type: 'string' }, strict({})] } }))).toEqual(
    strict({ a: { anyOf: [{ type: 'string' }, strict({})] } }),
  )
})

test.each([
  ['a field that may be missing', { ...strict({ a: { type: 'string' } }), required: [] }],
  ['an open object', { ...strict({}), additionalProperties: true }],
  ['an object that says nothing of other fields', { type: 'object', properties: {} }],
  ['a map', strict({ a: { type: 'object', additionalProperties: { type: 'string' } } })],
  ['any value', strict({ a: {} })],
  ['alternatives at the root', { anyOf: [strict({})] }],
  ['all of several', strict({ a: { allOf: [{ type: 'string' }] } })],
  ['a length', strict({ a: { type: 'string', minLength: 1 } })],
])('%s cannot be kept to the letter', (_, schema) => {
  expect(toStrictSchema(schema)).toBeUndefined()
})
