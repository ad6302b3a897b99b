import { expect, test } from 'vitest'
import { processorMs } from '#server/processor-time.ts'
import { toClaudeSchema } from './schema.ts'

const object = (properties: Record<string, unknown>, more = {}) => ({ type: 'object', properties, ...more })
const closed = (properties: Record<string, unknown>) => object(properties, { additionalProperties: false })

test('a schema of what the model is held to stays as it is, its objects closed', () => {
  const schema = closed({
    a: { type: 'string', format: 'date' },
    b: { type: 'array', items: { type: 'integer' }, minItems: 1 },
  })
  expect(toClaudeSchema(schema)).toEqual({ schema, lost: false })
  expect(toClaudeSchema(object({ a: { enum: ['x', 1, null] } }))).toEqual({
    schema: closed({ a: { enum: ['x', 1, null] } }),
    lost: false,
  })
})

test('the model is held to none with a type that is none', () => {
  expect(toClaudeSchema(object({ a: { type: [{ toString: 1 }, 'null'], minimum: 1 } }))).toBeUndefined()
})

test('types that may be several become alternatives, references what they stand for', () => {
  expect(toClaudeSchema(object({ a: { type: ['string', 'null'], description: 'd', format: 'uuid' } }))).toEqual({
    schema: closed({ a: { description: 'd', anyOf: [{ type: 'string', format: 'uuid' }, { type: 'null' }] } }),
    lost: false,
  })
  expect(toClaudeSchema({ $ref: '#/$defs/a', $defs: { a: object({ b: { type: 'boolean' } }) } })?.schema).toEqual(
    closed({ b: { type: 'boolean' } }),
  )
  expect(toClaudeSchema(object({ a: { oneOf: [{ type: 'string' }, { const: 1 }] } }))?.schema).toEqual(
    closed({ a: { anyOf: [{ type: 'string' }, { const: 1 }] } }),
  )
})

test.each([
  [
    { type: 'integer', minimum: 1 },
    { type: 'integer', description: '{minimum: 1}' },
  ],
  [
    { type: 'string', minLength: 2, description: 'd' },
    { type: 'string', description: 'd\n\n{minLength: 2}' },
  ],
  [
    { type: 'string', pattern: '(?=a)' },
    { type: 'string', description: '{pattern: "(?=a)"}' },
  ],
  [
    { type: 'array', items: { type: 'string' }, minItems: 2 },
    { type: 'array', items: { type: 'string' }, description: '{minItems: 2}' },
  ],
])('what %j limits is put into words, and that it is', (given, fitted) => {
  expect(toClaudeSchema(object({ a: given }))).toEqual({ schema: closed({ a: fitted }), lost: true })
})

test.each([
  [{}],
  [true],
  [{ type: 'object' }],
  [{ type: 'object', additionalProperties: { type: 'string' } }],
  [{ type: 'array' }],
  [{ type: 'array', items: {} }],
  [{ enum: [{}] }],
  [{ $ref: 'https://example.com/schema' }],
  [{ $ref: '#' }],
  [{ allOf: [{ $ref: '#/properties/b' }] }],
])('%j leaves open what may stand there, so that nobody can be held to it', (given) => {
  expect(toClaudeSchema(object({ a: given, b: { type: 'string' } }))).toBeUndefined()
})

test('a chain of twenty thousand references is not followed to its end', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [`a${index}`, { $ref: `#/$defs/a${index + 1}` }]),
  )
  expect(toClaudeSchema({ $ref: '#/$defs/a0', $defs })).toBeUndefined()
})

test('what would multiply on its way down is not written out', () => {
  const pair = (below: Record<string, unknown>) => closed({ l: below, r: below })
  const $defs = Object.fromEntries(
    Array.from({ length: 41 }, (_, level) => [
      `a${level}`,
      level === 40 ? { type: 'string' } : pair({ $ref: `#/$defs/a${level + 1}` }),
    ]),
  )
  const started = processorMs()
  expect(toClaudeSchema({ $ref: '#/$defs/a0', $defs })).toBeUndefined()
  expect(toClaudeSchema({ $ref: '#/$defs/a34', $defs })?.lost).toBe(false)
  let nested: Record<string, unknown> = { type: 'string' }
  for (let level = 0; level < 40; level += 1) nested = { ...closed({ a: nested }), type: ['object', 'object'] }
  expect(toClaudeSchema(nested)?.lost).toBe(false)
  expect(processorMs() - started).toBeLessThan(8_000)
})
