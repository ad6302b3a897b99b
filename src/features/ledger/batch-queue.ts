/** How a queue takes the failure of a batch: as that of one item, of the items of one group, or of all. */
export type BatchFault = 'item' | 'group' | 'all'

type Limits<Item> = {
  largestBatch: number
  mostWaiting: number
  faultOf?: (error: unknown) => BatchFault
  /** Items of one group stand or fall together where a fault is of the group. */
  groupOf?: (item: Item) => unknown
}

/** So many groups in trouble one after the other, and the rest is not tried: then it is not their fault. */
const mostGroupsInTrouble = 2

/**
 * One queue of one process: while a transaction is in flight the next batch gathers, so an idle system pays one commit
 * and a busy one shares it. `run` gets at most `largestBatch` items; when it throws, the fault is narrowed down.
 */
export function createBatchQueue<Item, Result>(run: (items: Item[]) => Promise<Result[]>, limits: Limits<Item>) {
  type Waiting = {
    item: Item
    isWanted: () => boolean
    resolve: (result: Result) => void
    reject: (error: unknown) => void
  }
  let waiting: Waiting[] = []
  let busy = false

  const runBatch = async (batch: Waiting[]): Promise<'passed' | 'failed'> => {
    try {
      const results = await run(batch.map(({ item }) => item))
      for (const [index, entry] of batch.entries()) entry.resolve(results[index] as Result)
      return 'passed'
    } catch (error) {
      const parts = narrow(batch, limits.faultOf?.(error) ?? 'all')
      if (parts.length > 1) return runParts(parts, limits.faultOf?.(error) === 'item' ? Infinity : mostGroupsInTrouble)
      for (const entry of batch) entry.reject(error)
      return 'failed'
    }
  }

  const narrow = (batch: Waiting[], fault: BatchFault): Waiting[][] => {
    if (fault === 'all') return [batch]
    if (fault === 'item') return batch.map((entry) => [entry])
    return [...Map.groupBy(batch, ({ item }) => limits.groupOf?.(item)).values()]
  }

  const runParts = async (parts: Waiting[][], mostFailures: number): Promise<'failed'> => {
    let failures = 0
    for (const part of parts) {
      if (failures >= mostFailures) for (const entry of part) entry.reject(new QueueFull())
      else if ((await runBatch(part)) === 'failed') failures += 1
    }
    return 'failed'
  }

  const flush = async (): Promise<void> => {
    busy = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, limits.largestBatch)
      const wanted = batch.filter((entry) => entry.isWanted())
      for (const entry of batch) if (!wanted.includes(entry)) entry.reject(new QueueFull())
      if (wanted.length > 0) await runBatch(wanted)
    }
    busy = false
  }

  return {
    /**
     * `isWanted` is asked when the item's turn comes: one that has waited too long is not sent any more.
     * @throws {QueueFull} at once when too much waits already, later when it is not wanted any more.
     */
    add(item: Item, isWanted: () => boolean = () => true): Promise<Result> {
      if (waiting.length >= limits.mostWaiting) return Promise.reject(new QueueFull())
      return new Promise<Result>((resolve, reject) => {
        waiting.push({ item, isWanted, resolve, reject })
        if (!busy) {
          busy = true
          // What the same tick still adds shares the first transaction too.
          queueMicrotask(() => void flush())
        }
      })
    },
    get size() {
      return waiting.length
    },
  }
}

/** The database is too slow for the traffic; the caller may come again. What is told so was not sent. */
export class QueueFull extends Error {
  override name = 'QueueFull'
}
