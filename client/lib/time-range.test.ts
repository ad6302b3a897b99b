import { expect, test } from 'vitest'
import { formatRange, isNewYearsDay, lastMomentOf, monthBefore, parseRange, rangeThrough } from './time-range.ts'

const now = new Date(2026, 2, 10, 15, 30)

test('a preset ends now and moves with the clock', () => {
  // Seven times 24 hours, also where the clocks were changed meanwhile.
  expect(parseRange('7d', now)).toEqual({ from: new Date(now.getTime() - 7 * 86_400_000), to: now })
  expect(parseRange('today', now)?.from).toEqual(new Date(2026, 2, 10))
})

test('a chosen range survives being written into an address', () => {
  const range = { from: new Date(1_700_000_000_000), to: new Date(1_700_086_400_000) }
  expect(parseRange(formatRange(range), now)).toEqual(range)
})

test('a link from one page to another loses no moment of its range, nor adds one', () => {
  const chosen = '1700000000-1700086400'
  const first = new Date(1_700_000_000_000)
  const last = lastMomentOf(chosen, { from: first, to: new Date(1_700_086_400_000) })
  expect(last).toEqual(new Date(1_700_086_399_999))
  expect(rangeThrough(first, last)).toBe(chosen)
  const later = new Date(now.getTime() + 700)
  const from = parseRange('7d', later)?.from ?? later
  expect(parseRange(rangeThrough(from, later), later)).toEqual({ from, to: new Date(now.getTime() + 1000) })
})

test('nonsense and ranges that end before they begin are no range', () => {
  expect([parseRange('', now), parseRange('soon', now), parseRange('20-10', now)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test.each([
  [new Date(2026, 10, 23, 15, 30), new Date(2026, 9, 23, 15, 30)],
  [new Date(2026, 2, 31), new Date(2026, 1, 28)],
  [new Date(2027, 0, 5), new Date(2026, 11, 5)],
])('one month before %s is %s', (time, before) => expect(monthBefore(time)).toEqual(before))

test('the year begins on the first of January, all day long', () => {
  expect([new Date(2027, 0, 1, 23, 59), new Date(2027, 0, 2), new Date(2026, 11, 31)].map(isNewYearsDay)).toEqual([
    true,
    false,
    false,
  ])
})
