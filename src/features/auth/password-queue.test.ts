import { expect, test } from 'vitest'
import { createPasswordQueue } from './password-queue.ts'

/** Hashings that end when they are asked to. */
function startMany(count: number) {
  const queue = createPasswordQueue({ running: 2, waiting: 3 })
  const started: number[] = []
  const ends: ((error?: Error) => void)[] = []
  const results = Array.from({ length: count }, (_, index) =>
    queue(() => {
      started.push(index)
      return new Promise<number>((resolve, reject) => {
        ends[index] = (error) => (error ? reject(error) : resolve(index))
      })
    }).catch((error: Error) => error.message),
  )
  return { started, ends, results }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('of many passwords asked about at once two are hashed at a time, the next wait in their order, the rest are refused', async () => {
  const { started, ends, results } = startMany(8)
  await settled()
  expect(started).toEqual([0, 1])
  expect(await Promise.all(results.slice(5))).toEqual(Array(3).fill('登录请求过多，请稍后重试'))
  ends[1]?.()
  await settled()
  expect(started).toEqual([0, 1, 2])
  for (const index of [0, 2, 3, 4]) {
    ends[index]?.()
    await settled()
  }
  expect(await Promise.all(results.slice(0, 5))).toEqual([0, 1, 2, 3, 4])
})

test('one that fails gives its place to the next', async () => {
  const { started, ends } = startMany(3)
  await settled()
  ends[0]?.(new Error('no memory'))
  await settled()
  expect(started).toEqual([0, 1, 2])
})
