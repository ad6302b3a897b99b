import { expect, test } from 'vitest'
import { fill } from './t.ts'

test('a sentence counts one as one and everything else as several', () => {
  const sentence = '{count} {count|model has|models have} no price in {place}'
  const texts = [0, 1, '1', 2, '1,001'].map((count) => fill(sentence, { count, place: 'vip' }))
  expect(texts).toEqual([
    '0 models have no price in vip',
    '1 model has no price in vip',
    '1 model has no price in vip',
    '2 models have no price in vip',
    '1,001 models have no price in vip',
  ])
  expect(fill(sentence)).toBe(sentence)
})
