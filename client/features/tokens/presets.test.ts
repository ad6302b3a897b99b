import { expect, test } from 'vitest'
import { newToken } from './form-schema.ts'
import { countPresets, quotaPresets, validities } from './presets.ts'

test('a new token has 500000, never expires, and would be limited to 1000 requests and 10 successes in 60 seconds', () => {
  expect(newToken).toMatchObject({
    remainQuota: 500_000,
    expiresAt: null,
    rateLimitPeriod: 60,
    rateLimitCount: 1000,
    rateLimitSuccess: 10,
  })
})

test('the form offers amounts of 1 to 1000 dollars, 10 to 100 tokens at once, and an hour, a day or thirty days', () => {
  expect(quotaPresets).toEqual([1, 10, 50, 100, 500, 1000])
  expect(countPresets).toEqual([10, 20, 30, 100])
  expect(Object.values(validities)).toEqual([3_600_000, 86_400_000, 2_592_000_000])
})
