import { expect, test } from 'vitest'
import { copyLine } from './copy.ts'
import { createRandom } from '#test/seed/random.ts'
import { hourMs, hoursOf, logsOfHour } from './rows.ts'

const size = { logs: 5000, users: 100, channels: 50, days: 3, now: new Date('2026-11-22T12:34:00Z') }

test('hours hold together as many calls as were ordered, and end before now', () => {
  const hours = hoursOf(size)
  expect(hours).toHaveLength(72)
  expect(hours.reduce((sum, { count }) => sum + count, 0)).toBe(5000)
  expect(hours.at(-1)?.start).toBe(Date.parse('2026-11-22T11:00:00Z'))
})

test('the calls of an hour are in the order of their times, in their hour, and the same at every run', () => {
  const hour = { start: Date.parse('2026-11-22T11:00:00Z'), count: 300 }
  const lines = logsOfHour(createRandom(1), size, hour)
  expect(lines).toHaveLength(300)
  expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).toSorted((left, right) => left - right))
  expect(lines.every(({ at }) => at >= hour.start && at < hour.start + hourMs)).toBe(true)
  expect(logsOfHour(createRandom(1), size, hour)).toEqual(lines)
  // Few have much: the first tenth of the users makes a good part of the calls.
  expect(lines.filter(({ user }) => user < 10).length).toBeGreaterThan(75)
})

test('what is copied keeps tabs, lines and backslashes apart from those of the form', () => {
  expect(copyLine(['a\tb\nc\\d', 1, true, null])).toBe('a\\tb\\nc\\\\d\t1\ttrue\t\\N\n')
})
