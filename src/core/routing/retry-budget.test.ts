import { expect, test } from 'vitest'
import { createRetryBudget } from './retry-budget.ts'

const takeAll = (budget: { take: () => boolean }): number => {
  let taken = 0
  while (budget.take()) taken += 1
  return taken
}

test('a thousand calls earn a hundred retries, and a pause no more than ten', () => {
  const clock = { now: 0 }
  const budget = createRetryBudget(() => clock.now)
  expect(takeAll(budget)).toBe(10)
  let taken = 0
  for (let call = 0; call < 1000; call += 1) {
    budget.earn()
    taken += takeAll(budget)
  }
  expect(taken).toBe(100)
  for (let call = 0; call < 1000; call += 1) budget.earn()
  expect(takeAll(budget)).toBe(10)
})

test('a slow time may make one a second', () => {
  const clock = { now: 0 }
  const budget = createRetryBudget(() => clock.now)
  takeAll(budget)
  clock.now = 999
  expect(budget.take()).toBe(false)
  clock.now = 1000
  expect([budget.take(), budget.take()]).toEqual([true, false])
  clock.now = 60_000
  expect(takeAll(budget)).toBe(10)
})
