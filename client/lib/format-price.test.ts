import { expect, test } from 'vitest'
import { priceText } from './format.ts'

test.each([
  [0, '$0.00'],
  [2.5, '$2.50'],
  [2.49999, '$2.50'],
  [0.075, '$0.075'],
  [0.00000012, '$0.00000012'],
  [0.000000123456, '$0.00000012346'],
  [1234.567, '$1,234.57'],
  [-0.5, '-$0.50'],
])('%s dollars are written %s', (dollars, written) => {
  expect(priceText(dollars)).toBe(written)
})
