import { expect, it, vi } from 'vitest'
import { createObjectEnd } from './object-end.ts'

const ends = (pieces: string[]): boolean[] => {
  const object = createObjectEnd()
  return pieces.map((piece) => {
    object.add(piece)
    return object.isComplete()
  })
}

it.each([
  [
    ['{"a":"}', '\\', '"}', '"', '}', ' \n'],
    [false, false, false, false, true, true],
  ],
  [
    [' {"a":[{}', ']}'],
    [false, true],
  ],
  [
    ['{}', '{}'],
    [true, false],
  ],
  [
    ['[{}]', ''],
    [false, false],
  ],
  [
    ['}', '{}'],
    [false, false],
  ],
  [
    ['{"a":]', '}'],
    [false, false],
  ],
  [['1 {}'], [false]],
])('%j is an object where its last bracket closes', (pieces, complete) => {
  expect(ends(pieces)).toEqual(complete)
})

it('is read as JSON once, however many brackets close', () => {
  const parse = vi.spyOn(JSON, 'parse')
  try {
    const complete = ends(['{"rows":[', ...Array.from({ length: 1000 }, () => '{},'), '{}]}'])
    expect([complete.filter(Boolean).length, parse.mock.calls.length]).toEqual([1, 1])
  } finally {
    parse.mockRestore()
  }
})
