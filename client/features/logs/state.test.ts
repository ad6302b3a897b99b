import { expect, test } from 'vitest'
import { setLanguage } from '../../i18n/t.ts'
import { contentText, detailsOf, failureText, freeText } from './details.ts'
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

test('what failed is worded by us in the reader’s language, and what an upstream said stays', async () => {
  const refusal = { code: 'relay.connection_failed', params: {} }
  const content = 'status code 500: 无法连接上游服务'
  const reason = '无法连接上游服务: http://127.0.0.1:9/v1 (ECONNREFUSED)'
  const attempts = [
    { channel_id: 1, reason, refusal },
    { channel_id: 2, reason: '余额不足' },
  ]
  const row = { content, other: { refusal, admin_info: { attempts } } }
  expect(contentText(row)).toBe(content)
  await setLanguage('en')
  expect(contentText(row)).toBe('status code 500: Cannot reach the upstream service')
  expect(contentText({ content, other: { status_code: 500 } })).toBe(content)
  expect(detailsOf(row).attempts.map((attempt) => failureText(attempt.reason, attempt.refusal))).toEqual([
    'Cannot reach the upstream service: http://127.0.0.1:9/v1 (ECONNREFUSED)',
    '余额不足',
  ])
  await setLanguage('zh')
})

test('a channel test is not called a call without usage', () => {
  expect(freeText({ other: null })).toBe('这次调用没有用量，不收费。')
  expect(freeText({ other: { test_quota: 9 } })).toMatch(/^渠道测试不收费；用户的同样调用收费 \S*0\.000018/)
})

test('an answer is good below 101 seconds and bad from 300 on; its first token below 3 and from 10', () => {
  expect([100_999, 101_000, 299_999, 300_000].map(totalTone)).toEqual(['good', 'warning', 'warning', 'bad'])
  expect([2999, 3000, 9999, 10_000].map(firstTokenTone)).toEqual(['good', 'warning', 'warning', 'bad'])
})
