import { Worker } from 'node:worker_threads'

export type ScreenOrder = { list: string; texts: readonly string[] }
export type ScreenAnswer = 'ready' | { found: string[] }

export type Screener = {
  /**
   * The words and patterns of the list that the texts hold. Callers take turns. Rejects where that takes too long, or nobody waits
   * for it any more.
   */
  find: (order: ScreenOrder, by: { caller: number; signal: AbortSignal }) => Promise<string[]>
  close: () => Promise<void>
}

/** Hundreds of times what everyday texts take. What takes longer begins anew on the thread for those, and nobody else waits for it. */
const quickMs = 1000
/** 20 MB with everyday patterns take two seconds. What takes longer was made for it, and others wait for their turn. */
const longestMs = 10_000

/**
 * Looks texts through on threads of their own: a long one with patterns takes seconds, which nobody else's stream should feel, and one
 * made for it takes for ever, which nobody else's text should.
 */
export function createScreener(limits = { quickMs, longestMs }): Screener {
  const [quick, slow] = [createScreenThread(limits.quickMs), createScreenThread(limits.longestMs)]
  return {
    find: async (order, by) => {
      try {
        return await quick.find(order, by)
      } catch (error) {
        if (error instanceof TakesTooLong) return slow.find(order, by)
        throw error
      }
    },
    close: async () => {
      await Promise.all([quick.close(), slow.close()])
    },
  }
}

class TakesTooLong extends Error {
  override name = 'TakesTooLong'
}

/** One text after another. The thread begins with the first; one that takes too long, or dies, is replaced. */
function createScreenThread(waitMs: number): Screener {
  let thread: Promise<Worker> | null = null
  const turns = createTurns()

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
    find: (order, { caller, signal }) => turns.take(caller, () => ask(order, signal)),
    close: end,
  }
}

/** One act after another: of each caller who waits one, before another of the same. */
function createTurns() {
  const waiting = new Map<number, (() => Promise<void>)[]>()
  let busy = false

  const next = (): (() => Promise<void>) | undefined => {
    for (const [caller, acts] of waiting) {
      const act = acts.shift()
      waiting.delete(caller)
      if (acts.length > 0) waiting.set(caller, acts)
      return act
    }
    return undefined
  }
  const run = async (): Promise<void> => {
    busy = true
    for (let act = next(); act; act = next()) await act()
    busy = false
  }

  return {
    take: <Result>(caller: number, act: () => Promise<Result>): Promise<Result> =>
      new Promise((resolve, reject) => {
        const acts = waiting.get(caller) ?? []
        acts.push(() => act().then(resolve, reject))
        waiting.set(caller, acts)
        if (!busy) void run()
      }),
  }
}

function answerOf(worker: Worker, order: ScreenOrder, waitMs: number): Promise<string[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string[]>()
  const answered = (answer: ScreenAnswer): void => resolve(answer === 'ready' ? [] : answer.found)
  const ended = (): void => reject(new Error('the thread has ended'))
  const timer = setTimeout(() => reject(new TakesTooLong('to look the texts through takes too long')), waitMs)
  worker.once('message', answered).once('error', reject).once('exit', ended)
  worker.postMessage(order)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', answered).off('error', reject).off('exit', ended)
  })
}
