import superjson from 'superjson'
import { describe, expect, test } from 'vitest'
import { writeOutput } from './output-writer.ts'

const at = new Date('2026-11-23T01:02:03.456Z')

const travelled = (value: unknown): unknown =>
  superjson.deserialize(JSON.parse(JSON.stringify(writeOutput(value))) as Parameters<typeof superjson.deserialize>[0])

describe('an answer', () => {
  test.each<[string, unknown]>([
    ['words and figures', { name: 'gpt-4o', price: 1.5, on: true, nothing: null, list: [1, 'two', [3]] }],
    ['dates wherever they stand', { at, rows: [{ at }, { inner: { at } }], list: [at, [at]] }],
    ['names with dots and backslashes', { 'gpt-4.1': { 'a\\b.c': at }, '.': at, '': at, '\\': { '\\.': at } }],
    ['a date alone', at],
    ['nothing', undefined],
    ['null', null],
    ['nothing in a list', [1, undefined, at]],
    ['numbers that JSON cannot write', { a: Number.NaN, b: -0, c: [Number.POSITIVE_INFINITY], at }],
    ['large integers, maps and sets', { a: 12n, b: new Map([['x', at]]), c: new Set([1]), at }],
    ['the same object twice', ((one) => ({ first: one, second: [one] }))({ at })],
    ['an object without a prototype', Object.assign(Object.create(null), { at })],
  ])('reads as it was written: %s', (_, value) => {
    expect(travelled(value)).toEqual(value)
  })

  test('is refused where a name leads out of the object', () => {
    expect(() => writeOutput({ constructor: { at } })).toThrow('prototype pollution')
  })

  test('is not copied, however long it is', () => {
    const points = Array.from({ length: 8000 }, (_, hour) => ({ time: new Date(hour * 3_600_000), calls: hour }))
    expect(writeOutput(points).json).toBe(points)
    expect(JSON.stringify(writeOutput(points))).toBe(JSON.stringify(superjson.serialize(points)))
  })
})
