import { expect, test } from 'vitest'
import { abbreviate, amountText, formatAge, formatDuration, formatRelativeTime, quotaText } from './format.ts'

test('counts are written out below ten thousand and abbreviated from there', () => {
  expect([0, 9_999, 10_000, 12_345, 999_950, 1_500_000, 123_000_000, 2e9].map(abbreviate)).toEqual([
    '0',
    '9,999',
    '10k',
    '12.3k',
    '1M',
    '1.5M',
    '123M',
    '2B',
  ])
})

test('quota is dollars with two decimals, or as many as a breakdown wants', () => {
  expect(quotaText(750_000)).toBe('$1.50')
  expect(quotaText(-617_283_945_000)).toBe('-$1,234,567.89')
  expect(quotaText(1, 6)).toBe('$0.000002')
})

test('durations are milliseconds below a second and seconds above', () => {
  expect([320, 999.6, 4_210, 9_960, 83_400, 119_600, 179_600, 185_000].map(formatDuration)).toEqual([
    '320 ms',
    '1.0 s',
    '4.2 s',
    '10 s',
    '83 s',
    '2 min 0 s',
    '3 min 0 s',
    '3 min 5 s',
  ])
})

test('a moment is shown relative to now, before and after', () => {
  const now = new Date(2026, 2, 1, 12, 0)
  expect(formatRelativeTime(new Date(2026, 2, 1, 11, 57), now)).toBe('3分钟前')
  expect(formatRelativeTime(new Date(2026, 2, 3, 13, 0), now)).toBe('后天')
  expect(formatRelativeTime(new Date(2026, 0, 20, 12, 0), now)).toBe('1个月前')
})

test('tomorrow is the next day of the calendar, not what is more than a day ahead', () => {
  const evening = new Date(2026, 2, 2, 23, 0)
  expect(formatRelativeTime(new Date(2026, 2, 4, 0, 30), evening)).toBe('后天')
  expect(formatRelativeTime(new Date(2026, 2, 3, 23, 30), evening)).toBe('明天')
  expect(formatRelativeTime(new Date(2026, 1, 28, 22, 0), evening)).toBe('前天')
  const morning = new Date(2026, 2, 2, 1, 0)
  expect(formatRelativeTime(new Date(2026, 1, 28, 23, 0), morning)).toBe('前天')
})

test('a small amount is never shown as nothing', () => {
  expect([0, 1, -2100, 750_000, 617_283_945_000].map(amountText)).toEqual([
    '$0.00',
    '$0.000002',
    '-$0.0042',
    '$1.50',
    '$1,234,567.89',
  ])
})

test('within a minute it was just now, also since the clock of the page moved last', () => {
  const now = new Date(2026, 2, 1, 12, 0)
  const ages = [-46, 20, -61, 45].map((seconds) => formatAge(new Date(now.getTime() + seconds * 1000), now))
  expect(ages).toEqual(['刚刚', '刚刚', '1分钟前', '45秒后'])
})

test('what is still to come was never just now', () => {
  const now = new Date(2026, 2, 1, 12, 0)
  const ages = [-20, 20, 45].map((seconds) => formatAge(new Date(now.getTime() + seconds * 1000), now, true))
  expect(ages).toEqual(['片刻后', '片刻后', '45秒后'])
})
