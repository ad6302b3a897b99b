/**
 * One queue of one process: while a transaction is in flight the next batch gathers, so an idle system pays one commit
 * and a busy one shares it. `run` gets at most `largestBatch` items; when it throws, each item of the batch fails.
 */
export function createBatchQueue<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  limits: {
    largestBatch: number
    mostWaiting: number
    /** After such an error each item of the batch is run alone, so that only the one at fault fails. */
    isFaultOfOne?: (error: unknown) => boolean
  },
) {
  type Waiting = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }
  let waiting: Waiting[] = []
  let busy = false
  const idle: (() => void)[] = []

  const runBatch = async (batch: Waiting[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item))
      for (const [index, entry] of batch.entries()) entry.resolve(results[index] as Result)
    } catch (error) {
      if (batch.length > 1 && limits.isFaultOfOne?.(error)) {
        for (const entry of batch) await runBatch([entry])
      } else {
        for (const entry of batch) entry.reject(error)
      }
    }
  }

  const flush = async (): Promise<void> => {
    busy = true
    while (waiting.length > 0) await runBatch(waiting.splice(0, limits.largestBatch))
    busy = false
    for (const resolve of idle.splice(0)) resolve()
  }

  return {
    /** @throws {QueueFull} at once when too much waits already. */
    add(item: Item): Promise<Result> {
      if (waiting.length >= limits.mostWaiting) return Promise.reject(new QueueFull())
      return new Promise<Result>((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        if (!busy) {
          busy = true
          // What the same tick still adds shares the first transaction too.
          queueMicrotask(() => void flush())
        }
      })
    },
    /** Resolves when nothing waits and nothing runs. */
    drained: (): Promise<void> => (busy ? new Promise((resolve) => idle.push(resolve)) : Promise.resolve()),
    get size() {
      return waiting.length
    },
  }
}

/** The database is too slow for the traffic; the caller may come again. */
export class QueueFull extends Error {
  override name = 'QueueFull'
}
