import { Worker } from 'node:worker_threads'
import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import type { CountTexts } from '#relay/counting/count-text.ts'

/** What is to be measured; `id` comes back with the answer. */
export type CountOrder = { id: number } & Work
type Work =
  | { kind: 'texts'; texts: readonly string[]; model: string }
  | { kind: 'sound'; bytes: Uint8Array; mediaType: string }
/** Null where it could not be measured. */
export type CountAnswer = { id: number; value: number | null }

export type TokenCounter = {
  count: CountTexts
  /** The length of a recording; undefined when it cannot be read. */
  secondsOf: (recording: Blob) => Promise<number | undefined>
  close: () => Promise<void>
}

/** Nobody waits longer for a figure; what is not there by then is estimated. */
const longestWaitMs = 5000
/** On a busy machine a thread is long in loading what it counts with. */
const longestStartMs = 20_000

type Waiting = { done: (value: number | null) => void; timer: NodeJS.Timeout }

/**
 * Counts tokens and measures audio on a thread of its own, which begins with the first order: loading an encoder takes half
 * a second, and some texts take seconds for a megabyte, which nobody else's stream should feel. A thread that dies is
 * replaced.
 */
export function createTokenCounter(onError: (error: unknown) => void): TokenCounter {
  const waiting = new Map<number, Waiting>()
  let thread: Worker | null = null
  let nextId = 0
  let isLoaded = false

  const finish = (id: number, value: number | null): void => {
    const found = waiting.get(id)
    waiting.delete(id)
    clearTimeout(found?.timer)
    found?.done(value)
  }
  const finishAll = (): void => {
    for (const id of waiting.keys()) finish(id, null)
  }
  const start = (): Worker => {
    const started = new Worker(new URL('count-thread.ts', import.meta.url))
    started.unref()
    started.on('message', ({ id, value }: CountAnswer) => {
      isLoaded = true
      finish(id, value)
    })
    started.on('error', (error) => {
      thread = null
      isLoaded = false
      onError(error)
      finishAll()
    })
    return started
  }
  const order = (work: Work): Promise<number | null> =>
    new Promise((done) => {
      nextId += 1
      const id = nextId
      const wait = isLoaded ? longestWaitMs : longestStartMs
      waiting.set(id, { done, timer: setTimeout(() => finish(id, null), wait) })
      thread ??= start()
      thread.postMessage({ id, ...work } satisfies CountOrder)
    })

  return {
    async count(given, model) {
      const texts = given.filter((text) => text !== '')
      if (texts.length === 0) return 0
      const tokens = await order({ kind: 'texts', texts, model })
      return tokens ?? texts.reduce((sum, text) => sum + cheapTextTokens(text), 0)
    },
    async secondsOf(recording) {
      const bytes = new Uint8Array(await recording.arrayBuffer())
      return (await order({ kind: 'sound', bytes, mediaType: recording.type })) ?? undefined
    },
    close: async () => {
      const closing = thread
      thread = null
      finishAll()
      await closing?.terminate()
    },
  }
}
