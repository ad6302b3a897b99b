import { expect, test } from 'vitest'
import { nameOf, newRedemption, quotaPresets } from './values.ts'
import { isUsedUp, type Redemption, stateOf } from './words.ts'

const now = new Date('2026-11-26T12:00:00Z')
const wordsOf = (more: Partial<Redemption>) =>
  stateOf({ status: 1, isGift: false, maxUses: -1, usedCount: 0, validUntil: null, ...more } as Redemption, now).words

test('a code is unused, disabled or used; another status is an unknown one', () => {
  expect([1, 2, 3, 9].map((status) => wordsOf({ status }))).toEqual(['未使用', '已禁用', '已使用', '未知状态'])
})

test('a code that nobody can use any more is not shown as one that is unused', () => {
  expect(wordsOf({ validUntil: new Date('2026-11-26T11:59:59Z') })).toBe('已过期')
  expect(wordsOf({ validUntil: new Date('2026-11-26T12:00:01Z') })).toBe('未使用')
  expect(wordsOf({ isGift: true, maxUses: 2, usedCount: 2 })).toBe('已用完')
  expect(wordsOf({ status: 2, validUntil: new Date(0) })).toBe('已禁用')
})

test('a gift code is used up once it has been used as often as it may be, and never where that is not limited', () => {
  const used = (more: Partial<Redemption>) =>
    isUsedUp({ isGift: true, maxUses: 2, usedCount: 2, ...more } as Redemption)
  expect([used({}), used({ usedCount: 1 }), used({ maxUses: -1 }), used({ isGift: false })]).toEqual([
    true,
    false,
    false,
    false,
  ])
})

test('a new code is one of 100000, used without a limit; amounts of 1 to 1000 dollars are offered', () => {
  expect(newRedemption).toMatchObject({ quota: 100_000, count: 1, maxUses: -1 })
  expect(quotaPresets).toEqual([1, 10, 50, 100, 500, 1000])
})

test('codes without a name are called what they are worth', () => {
  expect(nameOf({ name: '', quota: 500_000 })).toBe('$1.00')
  expect(nameOf({ name: 'spring', quota: 500_000 })).toBe('spring')
})
