import { expect, test } from 'vitest'
import { compatibleProfile } from './profile.ts'

const parameters = (schema: Record<string, unknown>) => compatibleProfile.schemas?.parameters?.(schema).schema

test('parameters say what OpenAI wants to be said: properties of the root and items of every list', () => {
  expect(parameters({})).toEqual({ type: 'object', properties: {} })
  expect(parameters({ type: 'object' })).toEqual({ type: 'object', properties: {} })
  const list = { type: ['array', 'null'] }
  const lists = { a: list, b: { anyOf: [{ type: 'array', items: list }, { type: 'object' }] } }
  expect(parameters({ type: 'object', properties: lists, $defs: { c: { type: 'array' } } })).toEqual({
    type: 'object',
    properties: {
      a: { ...list, items: {} },
      b: { anyOf: [{ type: 'array', items: { ...list, items: {} } }, { type: 'object' }] },
    },
    $defs: { c: { type: 'array', items: {} } },
  })
})

test('parameters that lack nothing are the same object', () => {
  const complete = { type: 'object', properties: { items: { type: 'string' }, a: { type: 'array', items: {} } } }
  expect(parameters(complete)).toBe(complete)
})

test('strict parameters without properties stay strict', () => {
  expect(compatibleProfile.schemas?.strict?.({ type: 'object', additionalProperties: false })).toEqual({
    type: 'object',
    properties: {},
    additionalProperties: false,
  })
})
