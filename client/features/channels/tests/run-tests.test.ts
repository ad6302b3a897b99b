import { expect, test } from 'vitest'
import type { Attempt, Run, TestResult } from './run-tests.ts'
import { backOffMs, concurrencyLimits, runTests } from './run-tests.ts'

const good: Attempt = { success: true, message: '', seconds: 1, isRetryable: false }
const busy: Attempt = { success: false, message: '429', seconds: 1, isRetryable: true }
const broken: Attempt = { success: false, message: '401', seconds: 1, isRetryable: false }

async function runOn(answers: Record<string, Attempt[]>, more: Partial<Run> = {}) {
  const waits: number[] = []
  const results = new Map<string, TestResult>()
  let [open, most] = [0, 0]
  await runTests({
    models: Object.keys(answers),
    concurrency: 3,
    attempt: async (model) => {
      open += 1
      most = Math.max(most, open)
      await Promise.resolve()
      open -= 1
      return answers[model]?.shift() ?? good
    },
    wait: async (milliseconds) => void waits.push(milliseconds),
    now: () => 42,
    isCancelled: () => false,
    onStart: () => undefined,
    onResult: (model, result) => void results.set(model, result),
    ...more,
  })
  return { waits, results, most }
}

test('no more models are tried at once than asked for, with a pause between batches', async () => {
  const { most, waits, results } = await runOn({ a: [], b: [], c: [], d: [], e: [] }, { concurrency: 2 })
  expect(most).toBe(2)
  expect(waits).toEqual([200, 200])
  expect(results.size).toBe(5)
})

test('1 to 10 models may be tried at once, and three are unless somebody asks for more or fewer', () => {
  expect(concurrencyLimits).toEqual({ least: 1, most: 10, preset: 3 })
})

test('a failure that may pass is tried twice more, with growing pauses', async () => {
  const { results, waits } = await runOn({ a: [busy, busy, busy] })
  expect(results.get('a')).toMatchObject({ success: false, retryCount: 2, time: 42 })
  expect(waits).toEqual([1000, 2000])
})

test('a second attempt that works is a success', async () => {
  const { results } = await runOn({ a: [busy, good] })
  expect(results.get('a')).toMatchObject({ success: true, retryCount: 1 })
})

test('a failure that stays is tried once', async () => {
  const { results, waits } = await runOn({ a: [broken] })
  expect(results.get('a')).toMatchObject({ success: false, retryCount: 0 })
  expect(waits).toEqual([])
})

test('the pause never grows beyond five seconds', () => {
  expect([0, 1, 2, 3, 9].map(backOffMs)).toEqual([1000, 2000, 4000, 5000, 5000])
})

test('a run that is called off starts nothing more and reports nothing late', async () => {
  const started: string[] = []
  const { results } = await runOn(
    { a: [], b: [] },
    { concurrency: 1, isCancelled: () => started.length > 0, onStart: (model) => void started.push(model) },
  )
  expect(started).toEqual(['a'])
  expect(results.size).toBe(0)
})
