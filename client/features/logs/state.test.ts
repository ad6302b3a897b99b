import { expect, test } from 'vitest'
import { kindOf } from './kinds.ts'
import { firstTokenTone, totalTone } from './state.tsx'

test('rows are top-ups, consumption, administration, system, check-ins and errors, and any other is unknown', () => {
  expect([1, 2, 3, 4, 5, 6, 7].map((type) => kindOf(type).words)).toEqual([
    '充值',
    '消费',
    '管理',
    '系统',
    '签到',
    '错误',
    '未知',
  ])
})

test('an answer is good below 101 seconds and bad from 300 on; its first token below 3 and from 10', () => {
  expect([100_999, 101_000, 299_999, 300_000].map(totalTone)).toEqual(['good', 'warning', 'warning', 'bad'])
  expect([2999, 3000, 9999, 10_000].map(firstTokenTone)).toEqual(['good', 'warning', 'warning', 'bad'])
})
