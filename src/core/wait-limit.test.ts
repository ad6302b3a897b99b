import { expect, it } from 'vitest'
import { createWaitLimit } from './wait-limit.ts'

it('a wait is over in its time, and with no single look where the process was held up', () => {
  let now = 0
  const isOver = createWaitLimit(10_000, () => now)
  const after = (ms: number): boolean => {
    now += ms
    return isOver()
  }
  expect([after(30_000), after(200), after(4799)]).toEqual([false, false, false])
  expect(after(1)).toBe(true)

  const quick = createWaitLimit(10_000, () => now)
  const steps = Array.from({ length: 50 }, () => {
    now += 200
    return quick()
  })
  expect(steps.indexOf(true)).toBe(49)
})
