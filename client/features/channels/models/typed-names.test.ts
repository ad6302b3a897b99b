import { expect, test } from 'vitest'
import { chunksOf } from '../../../lib/chunks.ts'
import { namesIn } from './typed-names.ts'

test('pasted names are distinguished by commas, blanks and lines, each taken once', () => {
  expect(namesIn(' a, b\nc，a ')).toEqual(['a', 'b', 'c'])
})

test('portions keep every name and the order', () => {
  const names = Array.from({ length: 400 }, (_, index) => `vendor/model-with-a-long-name-${index}`)
  const chunks = chunksOf(names)
  expect(chunks.flat()).toEqual(names)
  expect(chunks.length).toBeGreaterThan(1)
  expect(Math.max(...chunks.map((chunk) => encodeURIComponent(JSON.stringify(chunk)).length))).toBeLessThan(4000)
})
