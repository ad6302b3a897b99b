import { Worker } from 'node:worker_threads'
import { afterRunning, runningTime } from '#features/ledger/running-time.ts'
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
/** Recordings that wait, each of up to 64 MB, though their callers may have gone: a length is read in milliseconds. */
const mostQueued = 16
/** On a busy machine a thread is long in loading what it counts with. */
const longestStartMs = 20_000

type Waiting = { done: (value: number | null) => void; stopWaiting: () => void }
/** How long a figure is waited for, and the first one of a thread, which begins by loading what it counts with. */
export type CountWaits = { waitMs: number; startMs: number }

/**
 * A thread that begins with the first order and is replaced when it dies. `endsLate`: also when it is late with an answer, for then it
 * does nothing else either.
 */
function createThread(
  onError: (error: unknown) => void,
  { endsLate, waitMs, startMs }: CountWaits & { endsLate: boolean },
) {
  const waiting = new Map<number, Waiting>()
  let thread: Worker | null = null
  let nextId = 0
  let isLoaded = false

  const finish = (id: number, value: number | null): void => {
    const found = waiting.get(id)
    waiting.delete(id)
    found?.stopWaiting()
    found?.done(value)
  }
  const finishAll = (): void => {
    for (const id of waiting.keys()) finish(id, null)
  }
  const close = async (): Promise<void> => {
    const closing = thread
    thread = null
    isLoaded = false
    finishAll()
    await closing?.terminate()
  }
  const start = (): Worker => {
    const started = new Worker(new URL('count-thread.ts', import.meta.url))
    started.unref()
    started.on('message', ({ id, value }: CountAnswer) => {
      isLoaded = true
      finish(id, value)
    })
    started.on('error', (error) => {
      onError(error)
      if (thread !== started) return
      thread = null
      isLoaded = false
      finishAll()
    })
    return started
  }
  const giveUp = (id: number): void => {
    finish(id, null)
    if (endsLate) close().catch(onError)
  }
  const order = (work: Work): Promise<number | null> =>
    new Promise((done) => {
      nextId += 1
      const id = nextId
      waiting.set(id, { done, stopWaiting: afterRunning(isLoaded ? waitMs : startMs, () => giveUp(id)) })
      thread ??= start()
      thread.postMessage({ id, ...work } satisfies CountOrder)
    })
  return { order, close }
}

/**
 * Counts tokens and measures audio on threads of their own: loading an encoder takes half a second, and some texts take seconds for a
 * megabyte, which nobody else's stream should feel. Recordings are measured one at a time, away from texts: some are made to take
 * minutes, and each is there once more while it is.
 */
export function createTokenCounter(
  onError: (error: unknown) => void,
  { waitMs = longestWaitMs, startMs = longestStartMs }: Partial<CountWaits> = {},
): TokenCounter {
  const texts = createThread(onError, { endsLate: false, waitMs, startMs })
  const recordings = createThread(onError, { endsLate: true, waitMs, startMs })
  let last: Promise<unknown> = Promise.resolve()
  let queued = 0

  const measure = async (recording: Blob): Promise<number | null> => {
    const bytes = new Uint8Array(await recording.arrayBuffer())
    return recordings.order({ kind: 'sound', bytes, mediaType: recording.type })
  }

  return {
    async count(given, model) {
      const counted = given.filter((text) => text !== '')
      if (counted.length === 0) return 0
      const tokens = await texts.order({ kind: 'texts', texts: counted, model })
      return tokens ?? counted.reduce((sum, text) => sum + cheapTextTokens(text), 0)
    },
    async secondsOf(recording) {
      if (queued >= mostQueued) return undefined
      queued += 1
      const askedAt = runningTime()
      const isLate = (): boolean => runningTime() - askedAt > 2 * waitMs
      const measuring = last.then(() => (isLate() ? null : measure(recording)))
      last = measuring.catch(() => {}).finally(() => (queued -= 1))
      return (await measuring) ?? undefined
    },
    close: async () => {
      await Promise.all([texts.close(), recordings.close()])
    },
  }
}
