import { expect, test } from 'vitest'
import { tokenStateOf } from './token-state.ts'

const now = new Date('2026-11-22T12:00:00Z')
const shown = (status: number, expiresAt: Date | null = null) => tokenStateOf({ status, expiresAt }, now).words

test('a token is enabled, disabled, expired or exhausted; another status is an unknown one', () => {
  expect([1, 2, 3, 4, 9].map((status) => shown(status))).toEqual(['已启用', '已禁用', '已过期', '已耗尽', '未知状态'])
})

test('a token whose time is over is shown as expired, whoever has called it since', () => {
  expect(shown(1, new Date(now.getTime() - 1))).toBe('已过期')
  expect(shown(1, new Date(now.getTime() + 1))).toBe('已启用')
})
