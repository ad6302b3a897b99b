import { expect, test } from 'vitest'
import { ratioTone } from './ratio-tone.ts'

test('a ratio above 5 is red, above 3 orange, above 1 blue, and else green', () => {
  expect([5.1, 5, 3.1, 3, 1.1, 1, 0].map(ratioTone)).toEqual([
    'bad',
    'warning',
    'warning',
    'accent',
    'accent',
    'good',
    'good',
  ])
})
