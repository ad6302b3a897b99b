import { expect, test } from 'vitest'
import { thresholdPresets } from './thresholds.ts'

test('0.2, 1, 5 and 10 dollars are offered as thresholds of warnings', () => {
  expect(thresholdPresets).toEqual([0.2, 1, 5, 10])
})
