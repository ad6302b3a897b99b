import { expect, test } from 'vitest'
import { processorMs } from '#server/processor-time.ts'
import { toGeminiSchema, toParameters } from './schema.ts'

test.each([
  [{ type: ['string', 'null'] }, { type: 'string', nullable: true }],
  [
    { type: ['string', 'number'], description: 'd' },
    { anyOf: [{ type: 'string' }, { type: 'number' }], description: 'd' },
  ],
  [
    { anyOf: [{ type: 'string' }, { type: 'null' }], default: 'x' },
    { type: 'string', nullable: true },
  ],
  [{ oneOf: [{ type: 'string' }, { type: 'integer' }] }, { anyOf: [{ type: 'string' }, { type: 'integer' }] }],
  [{ const: 'a' }, { type: 'string', enum: ['a'] }],
  [
    { type: 'integer', enum: [1, 2] },
    { type: 'integer', description: 'One of: 1, 2.' },
  ],
  [
    { type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    { type: 'object', properties: { a: { type: 'string' } } },
  ],
  [
    { type: 'string', enum: ['', 'a'] },
    { type: 'string', enum: ['a'] },
  ],
  [{ type: 'boolean', enum: [true] }, { type: 'boolean' }],
  [
    { type: 'string', format: 'uuid', minLength: 1 },
    { type: 'string', minLength: 1 },
  ],
  [
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date-time' },
  ],
  [
    { type: 'integer', exclusiveMinimum: 0, multipleOf: 2, minimum: 1 },
    { type: 'integer', minimum: 1 },
  ],
  [{ type: 'array' }, { type: 'array', items: { type: 'string' } }],
  [
    { type: 'array', items: [{ type: 'number' }] },
    { type: 'array', items: { type: 'number' } },
  ],
  [
    { type: 'object', properties: { a: { type: 'object' } }, required: ['a', 'b'], additionalProperties: false },
    { type: 'object', properties: { a: { type: 'object' } }, required: ['a'] },
  ],
  [
    { allOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { properties: { b: { type: 'number' } } }] },
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } },
  ],
])('%j', (schema, expected) => {
  expect(toGeminiSchema(schema)).toEqual(expected)
})

test('references are written out, and a circle ends in any object', () => {
  const schema = {
    type: 'object',
    properties: { node: { $ref: '#/$defs/node' } },
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, value: { type: 'string' } } } },
  }
  expect(toGeminiSchema(schema)).toEqual({
    type: 'object',
    properties: {
      node: { type: 'object', properties: { next: { type: 'object' }, value: { type: 'string' } } },
    },
  })
})

test('a chain of twenty thousand references ends in any object', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [`a${index}`, { $ref: `#/$defs/a${index + 1}` }]),
  )
  expect(toGeminiSchema({ $ref: '#/$defs/a0', $defs })).toMatchObject({ type: 'object' })
})

test('references that multiply are cut off', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, level) => [
      `d${level}`,
      {
        type: 'object',
        properties: { a: { $ref: `#/$defs/d${level + 1}` }, b: { $ref: `#/$defs/d${level + 1}` } },
      },
    ]),
  )
  const started = processorMs()
  toGeminiSchema({ $ref: '#/$defs/d0', $defs })
  expect(processorMs() - started).toBeLessThan(60_000)
})

const numbered = <Item>(count: number, item: (name: string) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(`p${index}`))

test.each([
  ['parts', { allOf: numbered(60_000, (name) => ({ properties: { [name]: { type: 'string' } }, required: [name] })) }],
  [
    'parts that are one and the same',
    {
      allOf: numbered(10_000, () => ({ $ref: '#/$defs/x' })),
      $defs: { x: { properties: Object.fromEntries(numbered(50_000, (name) => [name, {}])) } },
    },
  ],
  [
    'fields of which all are required',
    {
      type: 'object',
      properties: Object.fromEntries(numbered(200_000, (name) => [name, {}])),
      required: numbered(200_000, String),
    },
  ],
])('an object of many %s takes time by its size alone', (_, schema) => {
  const started = processorMs()
  expect(toGeminiSchema(schema)).toMatchObject({ type: 'object', properties: { p1: {} } })
  expect(processorMs() - started).toBeLessThan(30_000)
})

test('parts of one object keep the order of their fields, the last saying what a field is', () => {
  const part = (text: string): Record<string, unknown> => JSON.parse(text)
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    required: ['a'],
    allOf: [
      part('{"properties":{"__proto__":{"type":"string"},"c":{"type":"string"}},"required":["c","a"]}'),
      { properties: { a: { type: 'number' } }, description: 'd' },
    ],
  }
  expect(JSON.stringify(toGeminiSchema(schema))).toBe(
    '{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"string"},"__proto__":{"type":"string"},' +
      '"c":{"type":"string"}},"required":["a","c"],"description":"d"}',
  )
})

test('a function without parameters has none', () => {
  expect(toParameters({ type: 'object', properties: {} })).toBeUndefined()
  expect(toParameters(undefined)).toBeUndefined()
})
