import { expect, test } from 'vitest'
import { thresholdPresets, usualThreshold } from './thresholds.ts'

test('a balance is warned of below 500000, and 0.2, 1, 5 and 10 dollars are offered instead', () => {
  expect(usualThreshold).toBe(500_000)
  expect(thresholdPresets).toEqual([0.2, 1, 5, 10])
})
