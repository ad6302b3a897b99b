import { expect, test } from 'vitest'
import { isDue } from './run-rows.ts'

const state = (input: { secondsSinceStart?: number | null; secondsRunning?: number | null; attempts?: number }) => ({
  name: 'work',
  secondsSinceStart: null,
  secondsRunning: null,
  attempts: 0,
  ...input,
})

test('a job is due at once the first time, then when its interval has passed since the last start', () => {
  expect(isDue(undefined, 60)).toBe(true)
  expect(isDue(state({}), 60)).toBe(true)
  expect(isDue(state({ secondsSinceStart: 59.9 }), 60)).toBe(false)
  expect(isDue(state({ secondsSinceStart: 60 }), 60)).toBe(true)
})

test('a job without an interval is never due by itself', () => {
  expect([undefined, state({}), state({ secondsSinceStart: 1e9 })].map((one) => isDue(one, 0))).toEqual([
    false,
    false,
    false,
  ])
})

test('a run that was cut off is due after five seconds, then after twice as long each time, at most an hour', () => {
  const due = (secondsRunning: number, attempts: number) => isDue(state({ secondsRunning, attempts }), 0)
  expect([due(4.9, 0), due(5, 0), due(9, 1), due(10, 1), due(3599, 20), due(3600, 20)]).toEqual([
    false,
    true,
    false,
    true,
    false,
    true,
  ])
})
