import { Worker } from 'node:worker_threads'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import type { CountTexts } from '#relay/counting/count-text.ts'

export type CountOrder = { id: number; texts: readonly string[]; model: string }
/** Null where counting failed. */
export type CountAnswer = { id: number; tokens: number | null }

export type TokenCounter = { count: CountTexts; close: () => Promise<void> }

/** Nobody waits longer for a count; what is not there by then is estimated. */
const longestWaitMs = 5000

type Waiting = { order: CountOrder; done: (tokens: number) => void; timer: NodeJS.Timeout }

/**
 * Counts tokens on a thread of its own, which begins with the first order: loading an encoder takes half a second, and some
 * texts take seconds for a megabyte, which nobody else's stream should feel. A thread that dies is replaced.
 */
export function createTokenCounter(onError: (error: unknown) => void): TokenCounter {
  const waiting = new Map<number, Waiting>()
  let thread: Worker | null = null
  let nextId = 0

  const finish = (id: number, tokens: number | null): void => {
    const found = waiting.get(id)
    if (!found) return
    waiting.delete(id)
    clearTimeout(found.timer)
    found.done(tokens ?? found.order.texts.reduce((sum, text) => sum + cheapTextTokens(text), 0))
  }
  const giveUp = (error: unknown): void => {
    thread = null
    onError(error)
    for (const id of waiting.keys()) finish(id, null)
  }
  const start = (): Worker => {
    const started = new Worker(new URL('count-thread.ts', import.meta.url))
    started.unref()
    started.on('message', ({ id, tokens }: CountAnswer) => finish(id, tokens))
    started.on('error', giveUp)
    return started
  }
  return {
    count: (texts, model) =>
      new Promise((done) => {
        const filled = texts.filter((text) => text !== '')
        if (filled.length === 0) return done(0)
        nextId += 1
        const order = { id: nextId, texts: filled, model }
        const timer = setTimeout(() => finish(order.id, null), longestWaitMs)
        waiting.set(order.id, { order, done, timer })
        thread ??= start()
        thread.postMessage(order)
      }),
    close: async () => {
      const closing = thread
      thread = null
      for (const id of waiting.keys()) finish(id, null)
      await closing?.terminate()
    },
  }
}
