import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { inTime } from './in-time.ts'

const late = () => new Error('late')

/** As a machine does that is paused, with every process on it. */
const stall = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('who was held up for longer than it waits has not waited: the answer may still come', async () => {
  const answer = Promise.withResolvers<string>()
  const waiting = inTime(answer.promise, 500, late)
  stall(600)
  // Who answers was held up too, and needs a moment.
  for (let turns = 0; turns < 5; turns += 1) await turn()
  answer.resolve('counted')
  expect(await waiting).toBe('counted')
})

test('an answer that does not come is given up', async () => {
  await expect(inTime(new Promise(() => {}), 20, late)).rejects.toThrow('late')
})
