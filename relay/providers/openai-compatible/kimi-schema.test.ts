import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Json, listOf, recordOf, recordsOf } from '../shared/json.ts'
import { fitToolSchemas } from './kimi-schema.ts'

const firstTool = (body: Json): Json => recordOf(listOf(body['tools'])[0]) ?? {}

function fitted(schema: Json): Json {
  const chat: Json = { tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] }
  const messages: Json = { tools: [{ name: 'f', input_schema: schema }] }
  for (const body of [chat, messages]) fitToolSchemas(body)
  const result = recordOf(firstTool(messages)['input_schema']) ?? {}
  expect(firstTool(chat)['function']).toEqual({ name: 'f', parameters: result })
  return result
}

const inside = (schema: Json): unknown =>
  recordOf(fitted({ type: 'object', properties: { p: schema } })['properties'])?.['p']

const text = { type: 'string' }
const a = { a: text }

describe('schemas of tools towards Kimi', () => {
  test.each<[string, Json, Json]>([
    [
      'a type beside alternatives',
      { type: 'string', description: 'd', anyOf: [{ minLength: 1 }, { type: 'string', enum: ['x'] }] },
      {
        description: 'd',
        anyOf: [
          { type: 'string', minLength: 1 },
          { type: 'string', enum: ['x'] },
        ],
      },
    ],
    [
      'several types beside alternatives of one each',
      { type: ['string', 'array'], anyOf: [{ type: 'array', items: text }, text] },
      { anyOf: [{ type: 'array', items: text }, text] },
    ],
    [
      'what only the alternatives require',
      { type: 'object', properties: { ...a, b: text }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      {
        anyOf: [
          { type: 'object', properties: { ...a, b: text }, required: ['a'] },
          { type: 'object', properties: { ...a, b: text }, required: ['b'] },
        ],
      },
    ],
    [
      'alternatives that are closed',
      { type: 'object', anyOf: [{ type: 'object', properties: a, additionalProperties: false }] },
      { anyOf: [{ type: 'object', properties: a, additionalProperties: false }] },
    ],
    [
      'a property of which both say something',
      { type: 'object', properties: a, anyOf: [{ properties: { a: { const: 'x' } }, required: ['a'] }] },
      { anyOf: [{ type: 'object', properties: { a: { type: 'string', const: 'x' } }, required: ['a'] }] },
    ],
    [
      'a list by place',
      { type: 'array', items: [text, { type: 'number' }], additionalItems: false },
      { type: 'array', prefixItems: [text, { type: 'number' }], maxItems: 2 },
    ],
    [
      'a list by place with others behind it',
      { type: 'array', items: [text], additionalItems: { type: 'number' }, minItems: 1 },
      { type: 'array', prefixItems: [text], items: { type: 'number' }, minItems: 1 },
    ],
  ])('%s is said in words that it takes', (_, given, taken) => {
    expect(inside(given)).toEqual(taken)
    expect(inside({ type: 'array', items: given })).toEqual({ type: 'array', items: taken })
  })

  test('alternatives by reference stay where what they refer to is of the type, and the definitions at the root', () => {
    const $defs = { x: { type: 'object', properties: a } }
    const reference = { $ref: '#/$defs/x' }
    const properties = { p: { type: 'object', anyOf: [reference] } }
    expect(fitted({ type: 'object', properties, $defs })).toEqual({
      type: 'object',
      properties: { p: { anyOf: [reference] } },
      $defs,
    })
    const allOf = [{ anyOf: [reference] }]
    expect(fitted({ type: 'object', anyOf: [reference], $defs })).toEqual({ type: 'object', allOf, $defs })
  })

  test('the root is an object in any case, and has its alternatives one level below', () => {
    const properties = { ...a, b: text }
    const branches = [
      { type: 'object', properties, required: ['a'] },
      { type: 'object', properties, required: ['b'] },
    ]
    const anyOf = [{ required: ['a'] }, { required: ['b'] }]
    const taken = { type: 'object', properties, allOf: [{ anyOf: branches }] }
    expect(fitted({ type: 'object', properties, anyOf })).toEqual(taken)
    expect(fitted({ properties, anyOf })).toEqual(taken)
    expect(fitted({ properties })).toEqual({ type: 'object', properties })
    expect(fitted({})).toEqual({ type: 'object' })
    expect(fitted({ oneOf: anyOf })).toEqual({ type: 'object', oneOf: anyOf })
    // Beside a reference no type may stand.
    const referring = { $ref: '#/$defs/x', $defs: { x: { type: 'object', properties } } }
    expect(fitted(referring)).toEqual(referring)
    // What cannot be said in each alternative stands beside them all.
    const open = { type: 'object', properties: {}, additionalProperties: false }
    expect(fitted({ ...open, anyOf: [{ properties: a }] })).toEqual({
      ...open,
      allOf: [{ anyOf: [{ properties: a }] }],
    })
  })

  test.each<[string, Json]>([
    ['its root’s alternatives', { anyOf: [{ type: 'object', properties: a }, { $ref: '#/anyOf/0' }] }],
    [
      'a list by place',
      {
        type: 'object',
        properties: { a: { type: 'array', items: [text] }, b: { $ref: '#/properties/a/items/0' } },
      },
    ],
  ])('a schema that refers into %s stays as it is, for they would stand elsewhere', (_, schema) => {
    expect(fitted(schema)).toEqual(schema)
  })

  test.each<[string, Json]>([
    ['takes', { type: 'object', properties: { a: { anyOf: [text, { type: 'null' }] } }, required: ['a'] }],
    ['contradicts itself', { type: 'object', anyOf: [{ type: 'string' }] }],
    ['refers elsewhere', { type: 'object', anyOf: [{ $ref: 'https://host.test/x' }] }],
    [
      'is closed to what an alternative describes',
      { type: 'object', properties: {}, additionalProperties: false, anyOf: [{ properties: a }] },
    ],
    [
      'forbids by pattern',
      { type: 'object', properties: a, anyOf: [{ patternProperties: { '^a': { type: 'number' } } }] },
    ],
    [
      'is too long to repeat',
      { type: 'object', enum: ['x'.repeat(60_000)], anyOf: [{ required: [] }, { required: [] }] },
    ],
  ])('one that it %s stays as it is', (_, schema) => {
    const tools = [{ name: 'f', input_schema: { type: 'object', properties: { p: schema } } }]
    const body: Json = { tools }
    fitToolSchemas(body)
    expect(body['tools']).toBe(tools)
  })

  test('each allows what it allowed, and nothing else', () => {
    const names = ['a', 'b', 'c']
    const word = fc.constantFrom('string', 'number', 'integer', ['object', 'string'], ['integer', 'array'])
    const plainWords = fc.record({ type: word, enum: fc.constantFrom(['x', 1], [1]) }, { requiredKeys: [] })
    const schemaOf = (depth: number): fc.Arbitrary<Json> => {
      if (depth === 0) return plainWords
      const inner = schemaOf(depth - 1)
      const some = { minLength: 1, maxLength: 2 }
      const objectWords = {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom(...names), inner, { maxKeys: 2 }),
        required: fc.subarray(names, { maxLength: 1 }),
        additionalProperties: fc.oneof(fc.boolean(), plainWords),
      }
      const branch = fc.oneof(inner, fc.record(objectWords, { requiredKeys: [] }))
      const listWords = {
        type: fc.constantFrom('array', ['array', 'string']),
        items: fc.oneof(inner, fc.array(inner, some)),
        additionalItems: fc.oneof(fc.boolean(), inner),
        maxItems: fc.nat(2),
      }
      return fc.oneof(
        plainWords,
        fc.record({ ...objectWords, anyOf: fc.array(branch, some) }, { requiredKeys: ['type', 'anyOf'] }),
        fc.record({ ...listWords, anyOf: fc.array(inner, some) }, { requiredKeys: ['type'] }),
      )
    }
    const valueOf = (depth: number): fc.Arbitrary<unknown> => {
      const plain = fc.constantFrom<unknown>('x', 'y', 1, 1.5, null)
      if (depth === 0) return plain
      const inner = valueOf(depth - 1)
      const record = fc.dictionary(fc.constantFrom(...names), inner, { maxKeys: 3 })
      return fc.oneof(plain, record, fc.array(inner, { maxLength: 3 }))
    }
    fc.assert(
      fc.property(schemaOf(2), fc.array(valueOf(2), { maxLength: 6 }), (given, values) => {
        const inner = { type: 'object', properties: { p: given } }
        const body: Json = { tools: [given, inner].map((schema) => ({ name: 'f', input_schema: schema })) }
        fitToolSchemas(body)
        const [atRoot, below] = recordsOf(body['tools']).map((tool) => tool['input_schema'])
        for (const each of values) {
          // What a tool is called with is an object.
          if (recordOf(each)) expect(allows(atRoot, each)).toBe(allows(given, each))
          expect(allows(below, { p: each })).toBe(allows(given, each))
        }
      }),
      { numRuns: 3000 },
    )
  })
})

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'object' ? 'object' : typeof value

/** What the standard says of the words above. */
function allows(schema: unknown, value: unknown): boolean {
  if (typeof schema === 'boolean') return schema
  const words = recordOf(schema) ?? {}
  const types = [words['type'] ?? []].flat()
  const isType = (type: unknown): boolean =>
    type === typeOf(value) || (type === 'integer' && typeof value === 'number' && Number.isInteger(value))
  if (types.length > 0 && !types.some(isType)) return false
  if (words['enum'] !== undefined && !listOf(words['enum']).includes(value)) return false
  if (!listOf(words['allOf']).every((each) => allows(each, value))) return false
  if (words['anyOf'] !== undefined && !listOf(words['anyOf']).some((branch) => allows(branch, value))) return false
  if (Array.isArray(value)) {
    const places = listOf(words['prefixItems'] ?? words['items'])
    const rest = Array.isArray(words['items']) ? words['additionalItems'] : words['items']
    if (typeof words['maxItems'] === 'number' && value.length > words['maxItems']) return false
    return value.every((each, index) => allows(places[index] ?? rest ?? true, each))
  }
  const record = recordOf(value)
  if (!record) return true
  if (!listOf(words['required']).every((name) => Object.hasOwn(record, String(name)))) return false
  const known = recordOf(words['properties']) ?? {}
  return Object.entries(record).every(([name, each]) =>
    allows(Object.hasOwn(known, name) ? known[name] : (words['additionalProperties'] ?? true), each),
  )
}
