import { expect, test } from 'vitest'
import { maskError } from './mask-error.ts'

const key = 'sk-Zx81QmPv93LrTw60BnYc'
const held = { type: 1, key, baseUrl: '', proxy: undefined }

test('an error keeps its kind and loses the key: in its message, stack, fields, causes and parts, also where they refer to one another', () => {
  const cause = new Error(`inner ${key}`)
  const error = Object.assign(new TypeError(`Invalid URL: ${key}`, { cause }), {
    input: `https://x/?key=${key}`,
    port: 7,
  })
  cause.cause = new AggregateError([new Error(`one of ${key}`), error], 'all')
  maskError(error, held)
  const texts = [
    error.message,
    error.stack,
    error.input,
    cause.message,
    cause.stack,
    String(Object(cause.cause).errors),
  ]
  expect(texts.filter((text) => text?.includes(key))).toEqual([])
  expect([error.message, error.input, error.port, error.name]).toEqual([
    'Invalid URL: ***',
    'https://x/?key=***',
    7,
    'TypeError',
  ])
  maskError(key, held)
  maskError(undefined, held)
})
