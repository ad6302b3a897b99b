import { expect, test } from 'vitest'
import { chunksOf } from './chunks.ts'
import { driftOf, mappedNames, namesIn } from './drift.ts'

test('what the upstream has beyond the channel was added, what it has no more is gone', () => {
  expect(driftOf(['a', 'b'], ['b', 'c'])).toEqual({ added: ['c'], gone: ['a'] })
})

test('a name that the channel maps to another is not gone', () => {
  expect(driftOf(['mine', 'b'], ['b'], mappedNames('{"mine":"b"}'))).toEqual({ added: [], gone: [] })
})

test('pasted names are told apart by commas, blanks and lines, each taken once', () => {
  expect(namesIn(' a, b\nc，a ')).toEqual(['a', 'b', 'c'])
})

test('portions keep every name and the order', () => {
  const names = Array.from({ length: 400 }, (_, index) => `vendor/model-with-a-long-name-${index}`)
  const chunks = chunksOf(names)
  expect(chunks.flat()).toEqual(names)
  expect(chunks.length).toBeGreaterThan(1)
  expect(Math.max(...chunks.map((chunk) => encodeURIComponent(JSON.stringify(chunk)).length))).toBeLessThan(4000)
})
