import { processorMs } from '#server/processor-time.ts'

/**
 * The longest that work kept this thread from everybody else, in milliseconds of its own processor time: what other
 * processes take of a busy machine does not count.
 */
export async function longestPause(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let isOver = false
  let before = processorMs()
  const look = (): void => {
    longest = Math.max(longest, processorMs() - before)
    before = processorMs()
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await work()
  isOver = true
  await new Promise((resolve) => setImmediate(resolve))
  return longest
}
