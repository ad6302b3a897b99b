import fc from 'fast-check'
import superjson from 'superjson'
import { describe, expect, it } from 'vitest'
import { readInput, UnreadableInput } from './input-reader.ts'

/** What travelled: written by a client, parsed from its text. */
const travelled = (value: unknown): unknown => readInput(JSON.parse(superjson.stringify(value)))

/** A name that JSON escapes is read as another by V8 up to 14.6 (nodejs/node#63785) where an object with nearly the same was read before. */
const isPlain = (text: string): boolean => JSON.stringify(text) === `"${text}"`

const name = fc.oneof(
  fc.constantFrom('a', 'start', 'a.b', 'a\\b', 'a\\.b', '', '0', 'toString', 'length'),
  fc
    .string({ maxLength: 4 })
    .filter((text) => isPlain(text) && !['__proto__', 'constructor', 'prototype'].includes(text)),
)

/** What inputs are made of. */
const { input } = fc.letrec((tie) => ({
  input: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, undefined, true, 'text', 0, -0, Number.NaN, Infinity, -Infinity, 1.5),
    fc.date({ noInvalidDate: true }),
    fc.array(tie('input'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('input')), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs)),
  ),
}))

describe('what our own clients send', () => {
  it('is read as the library reads it, dates, undefined and odd numbers included', () => {
    fc.assert(
      fc.property(input, (value) => {
        expect(travelled(value)).toEqual(value)
        expect(travelled(value)).toEqual(superjson.parse(superjson.stringify(value)))
      }),
      { numRuns: 2000 },
    )
  })

  it('may name one object in two places', () => {
    const filter = { start: new Date(5), end: undefined }
    expect(travelled({ first: filter, second: filter })).toEqual({ first: filter, second: filter })
  })
})

const kinds = [
  'Date', 'undefined', 'number', 'bigint', 'map', 'set', 'regexp', 'Error', 'URL', 'symbol', 'class', 'custom', 'constructor',
  '__proto__', 'toString', ['typed-array', 'Uint8Array'], ['typed-array', 'Float64Array'], ['class', 'Object'],
  ['symbol', 'iterator'], ['custom', 'x'], ['Date'], 12, null, {}, [], [['Date']],
] // prettier-ignore

const values = [
  null, 0, -1, 4e9, 1e308, 'NaN', '-0', '2026-01-01', '9'.repeat(10_000), '/(a+)+$/', '', true, { length: 4e9 }, { size: 1e9 },
  { name: 'x', message: 'y', stack: 'z' }, [[1, 2]], [[['a', 1]]],
] // prettier-ignore

const names = [
  'a',
  'b',
  '0',
  'length',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'a.b',
  'a\\',
  '\\',
  '.',
  '',
]

const objectOf = <Value>(value: fc.Arbitrary<Value>) =>
  fc
    .array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 4 })
    // By its text, so that `__proto__` is a field like any other.
    .map((pairs) =>
      JSON.parse(`{${pairs.map(([key, one]) => `${JSON.stringify(key)}:${JSON.stringify(one)}`).join(',')}}`),
    )

const { json, tree } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(...values),
    fc.array(tie('json'), { maxLength: 3 }),
    objectOf(tie('json')),
  ),
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(...kinds),
    fc.constantFrom<unknown>(...kinds).map((kind) => [kind]),
    fc.tuple(fc.constantFrom<unknown>(...kinds), tie('tree')),
    objectOf(tie('tree')),
  ),
}))

const hostile = fc.oneof(
  fc.record(
    {
      json,
      meta: fc.record(
        { values: tree, referentialEqualities: tree, v: fc.constantFrom(0, 1, 'x') },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  ),
  json,
)

/** Everything in a value is what JSON knows, a date or undefined. */
function expectPlain(value: unknown): void {
  if (typeof value !== 'object' || value === null) return expect(typeof value).not.toMatch(/bigint|symbol|function/)
  if (value instanceof Date) return
  expect([Object.prototype, Array.prototype]).toContain(Object.getPrototypeOf(value))
  for (const key of Object.keys(value)) expectPlain((value as Record<string, unknown>)[key])
}

const namesTo = (value: unknown) => Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, value]))

/** What it makes of a payload; a refusal is null. Everything else that is thrown goes through. */
function attempt(payload: unknown): unknown {
  try {
    return readInput(payload)
  } catch (error) {
    if (error instanceof UnreadableInput) return null
    throw error
  }
}

describe('untrusted input', () => {
  it('is read as plain values or refused, whatever it is made of', () => {
    fc.assert(
      fc.property(hostile, (payload) => {
        expectPlain(attempt(JSON.parse(JSON.stringify(payload))))
        expect(({} as Record<string, unknown>)['a']).toBeUndefined()
      }),
      { numRuns: 5000 },
    )
  })

  it.each<[string, unknown, unknown]>([
    ['a typed array of four thousand million', { length: 4e9 }, [['typed-array', 'Uint8Array']]],
    ['nine million digits', '9'.repeat(9_000_000), ['bigint']],
    ['a slow expression', `/${'(a+)+'.repeat(1000)}$/`, ['regexp']],
    ['a map', [[1, 2]], ['map']],
    ['a set', [1, 2], ['set']],
    ['an error', { message: 'x', stack: 'y' }, ['Error']],
    ['an address', 'http://x', ['URL']],
    ['a date of a megabyte', '1'.repeat(1_000_000), ['Date']],
    ['a number of a megabyte', '1'.repeat(1_000_000), ['number']],
    ['a value that is said to be undefined', { a: 1 }, ['undefined']],
    ['a path that leads out', { a: {} }, { '__proto__.polluted': ['undefined'] }],
    ['a path into what is inherited', {}, { toString: ['undefined'] }],
    ['the length of a list', [1], { length: ['undefined'] }],
    ['a path of a megabyte', {}, { ['a.'.repeat(500_000)]: ['Date'] }],
    ['a hundred thousand annotations', namesTo(null), namesTo(['undefined'])],
    ['parts of a date', '2026-01-01', ['Date', { a: ['Date'] }]],
  ])('%s is refused at once', (_what, value, annotations) => {
    const before = process.memoryUsage()
    expect(() => readInput({ json: value, meta: { values: annotations, v: 1 } })).toThrow(UnreadableInput)
    const after = process.memoryUsage()
    expect(after.external + after.arrayBuffers - before.external - before.arrayBuffers).toBeLessThan(10_000_000)
  })

  it('annotations as deep as a text can make them are refused, not walked', () => {
    const depth = 100_000
    const values: unknown = JSON.parse(`${'{"a":'.repeat(depth)}["Date"]${'}'.repeat(depth)}`)
    expect(() => readInput({ json: { a: {} }, meta: { values } })).toThrow(UnreadableInput)
    const lists: unknown = JSON.parse(`${'["Date",'.repeat(depth)}1${']'.repeat(depth)}`)
    expect(() => readInput({ json: {}, meta: { values: lists } })).toThrow(UnreadableInput)
  })

  it('says of equal objects nothing that is followed', () => {
    const payload = { json: { a: {}, b: 1 }, meta: { referentialEqualities: { a: ['b', '__proto__.x'], b: 12 } } }
    expect(readInput(payload)).toEqual({ a: {}, b: 1 })
  })
})
