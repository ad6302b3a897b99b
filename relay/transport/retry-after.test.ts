import { expect, it } from 'vitest'
import { retryAfterMs } from './retry-after.ts'

const now = Date.UTC(2026, 10, 6, 12, 0, 0)

it('reads seconds, milliseconds and dates, and nothing else', () => {
  expect(retryAfterMs({ 'retry-after': '17' }, now)).toBe(17_000)
  expect(retryAfterMs({ 'retry-after': '0.5' }, now)).toBe(500)
  expect(retryAfterMs({ 'retry-after': '9', 'retry-after-ms': '250' }, now)).toBe(250)
  expect(retryAfterMs({ 'retry-after': 'Fri, 06 Nov 2026 12:00:30 GMT' }, now)).toBe(30_000)
  expect(retryAfterMs({ 'retry-after': 'Fri, 06 Nov 2020 12:00:30 GMT' }, now)).toBe(0)
  for (const text of ['', '-5', 'soon', '1e9', '2026'.padEnd(30, 'x')])
    expect([text, retryAfterMs({ 'retry-after': text }, now)]).toEqual([text, undefined])
  expect(retryAfterMs({}, now)).toBeUndefined()
})
