import { expect, test } from 'vitest'
import { badgeText, unreadEveryMs } from './unread.ts'

test('the inbox is asked every 30 seconds, and its badge shows 99+ above 99', () => {
  expect(unreadEveryMs).toBe(30_000)
  expect([1, 99, 100].map(badgeText)).toEqual(['1', '99', '99+'])
})
