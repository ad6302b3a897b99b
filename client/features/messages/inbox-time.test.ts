import { expect, it } from 'vitest'
import { inboxTime } from './inbox-time.ts'
import { readersPerPage, recipientsPerPage } from './page-sizes.ts'

const now = new Date(2026, 10, 22, 15, 30)
const before = (hours: number) => new Date(now.getTime() - hours * 3_600_000)

it('is the time within a day, with the weekday within a week, and the date before that', () => {
  expect(inboxTime(before(1), now)).toBe('14:30')
  expect(inboxTime(before(23.9), now)).toMatch(/^15:3\d$/)
  expect(inboxTime(before(24), now)).toMatch(/周六.*15:30/)
  expect(inboxTime(before(6.9 * 24), now)).toMatch(/周/)
  expect(inboxTime(before(7 * 24), now)).toBe('2026-11-15 15:30')
})

it('20 people are offered a page, and 10 of those who have a message are shown', () => {
  expect([recipientsPerPage, readersPerPage]).toEqual([20, 10])
})
