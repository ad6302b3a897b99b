import { Worker } from 'node:worker_threads'

export type ScreenOrder = { list: string; texts: readonly string[] }
export type ScreenAnswer = 'ready' | { found: string[] }

export type Screener = {
  /** The words and patterns of the list that the texts hold. Rejects where that takes too long, or nobody waits for it any more. */
  find: (order: ScreenOrder, signal: AbortSignal) => Promise<string[]>
  close: () => Promise<void>
}

/** 20 MB with everyday patterns take two seconds. What takes longer was made for it, and others wait for their turn. */
const longestMs = 10_000

/**
 * Looks texts through on a thread of its own, one after another: a long one with patterns takes seconds, which nobody else's stream should
 * feel. The thread begins with the first order; one that takes too long, or dies, is replaced.
 */
export function createScreener(waitMs = longestMs): Screener {
  let thread: Promise<Worker> | null = null
  let turn: Promise<unknown> = Promise.resolve()

  const start = (): Promise<Worker> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('screen-thread.ts', import.meta.url))
      worker.unref()
      worker.once('error', reject)
      worker.once('message', () => {
        worker.off('error', reject)
        resolve(worker)
      })
    })
  const end = async (): Promise<void> => {
    const ending = thread
    thread = null
    await ending?.then(
      (worker) => worker.terminate(),
      () => {},
    )
  }

  const ask = async (order: ScreenOrder, signal: AbortSignal): Promise<string[]> => {
    signal.throwIfAborted()
    thread ??= start()
    try {
      const worker = await thread
      return await answerOf(worker, order, waitMs)
    } catch (error) {
      await end()
      throw error
    }
  }
  return {
    find: (order, signal) => {
      const asked = turn.then(() => ask(order, signal))
      turn = asked.catch(() => {})
      return asked
    },
    close: end,
  }
}

function answerOf(worker: Worker, order: ScreenOrder, waitMs: number): Promise<string[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string[]>()
  const answered = (answer: ScreenAnswer): void => resolve(answer === 'ready' ? [] : answer.found)
  const timer = setTimeout(() => reject(new Error('to look the texts through takes too long')), waitMs)
  worker.once('message', answered).once('error', reject)
  worker.postMessage(order)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', answered).off('error', reject)
  })
}
