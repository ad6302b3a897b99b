import { expect, test } from 'vitest'
import { createBatchQueue, QueueFull } from './batch-queue.ts'

const sentence = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof QueueFull ? error.message : `another error: ${String(error)}`),
  )

/** A queue whose first batch is under way until `open` is called. */
function createGatedQueue() {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const queue = createBatchQueue((items: number[]) => gate.then(() => items), {
    nameOf: (item) => (item < 10 ? 'charges' : 'reservations'),
    largestBatch: 1,
    mostWaiting: 2,
    faultOf: () => 'all',
  })
  return { queue, open }
}

test('a queue that is full says what waits in it, and how many', async () => {
  const { queue, open } = createGatedQueue()
  const first = queue.add(0)
  await Promise.resolve()
  const waiting = [queue.add(1), queue.add(2)]
  expect(await sentence(queue.add(3))).toBe('2 charges wait already')
  // Another kind still has room.
  waiting.push(queue.add(10))
  open()
  expect(await Promise.all([first, ...waiting])).toEqual([0, 1, 2, 10])
})

test('what is not wanted any more when its turn comes is named too, and not sent', async () => {
  const { queue, open } = createGatedQueue()
  const first = queue.add(0)
  await Promise.resolve()
  const late = sentence(queue.add(1, { isWanted: () => false }))
  open()
  expect(await late).toBe('one of the charges was not wanted any more when its turn came')
  expect(await first).toBe(0)
})
