import { expect, it } from 'vitest'
import { createWaitLimit } from './wait-limit.ts'

it('a wait is over in its time, and in no fewer than four looks where the process was held up', () => {
  let now = 0
  const isOver = createWaitLimit(10_000, () => now)
  const after = (ms: number): boolean => {
    now += ms
    return isOver()
  }
  expect([after(30_000), after(200), after(2000), after(30_000), after(2000), after(299)]).toEqual(Array(6).fill(false))
  expect(after(501)).toBe(true)

  const quick = createWaitLimit(10_000, () => now)
  const steps = Array.from({ length: 50 }, () => {
    now += 200
    return quick()
  })
  expect(steps.indexOf(true)).toBe(49)
})
