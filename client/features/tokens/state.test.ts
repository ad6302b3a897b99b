import { expect, test } from 'vitest'
import { newToken } from './form-schema.ts'
import { countPresets, quotaPresets, validities } from './presets.ts'
import { stateOf } from './state.ts'

const now = new Date('2026-11-22T12:00:00Z')
const shown = (status: number, expiresAt: Date | null = null) => stateOf({ status, expiresAt }, now).words

test('a token is enabled, disabled, expired or exhausted; another status is an unknown one', () => {
  expect([1, 2, 3, 4, 9].map((status) => shown(status))).toEqual(['已启用', '已禁用', '已过期', '已耗尽', '未知状态'])
})

test('a token whose time is over is shown as expired, whoever has called it since', () => {
  expect(shown(1, new Date(now.getTime() - 1))).toBe('已过期')
  expect(shown(1, new Date(now.getTime() + 1))).toBe('已启用')
})

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
