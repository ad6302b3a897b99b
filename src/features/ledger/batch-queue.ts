import type { BatchFault } from './batch-fault.ts'
import type { LockedRows, RowsOfItem } from './locked-rows.ts'

type Limits<Item> = {
  /** What an item is, for those who read the log. */
  nameOf: (item: Item) => string
  largestBatch: number
  /** Of items with one name: a flood of one kind does not keep the others out. */
  mostWaiting: number
  faultOf: (error: unknown) => BatchFault
  /** What needs a row that somebody keeps locked waits aside, at most so many items for one user. */
  locks?: { locked: LockedRows; rowsOf: (item: Item) => RowsOfItem; mostPerUser: number }
}

export type AddOptions = {
  /** Asked when the item's turn comes: one that has waited too long is not sent any more. */
  isWanted?: (() => boolean) | undefined
  /** In a batch of its own: it has brought one down before. */
  alone?: boolean | undefined
}

/**
 * One queue of one process: while a transaction is in flight the next batch gathers, so an idle system pays one commit
 * and a busy one shares it. `run` gets at most `largestBatch` items. A batch that fails for what one of its items says is
 * halved until that item is found, which is rejected with `ItemRefused`; one that meets a lock leaves behind who needs the
 * locked row and goes on without them.
 */
export function createBatchQueue<Item, Result>(run: (items: Item[]) => Promise<Result[]>, limits: Limits<Item>) {
  type Waiting = {
    item: Item
    isWanted: () => boolean
    alone: boolean
    resolve: (result: Result) => void
    reject: (error: unknown) => void
  }
  const { locks } = limits
  let waiting: Waiting[] = []
  const waitingByName = new Map<string, number>()
  const countWaiting = (item: Item, by: 1 | -1): void => {
    const name = limits.nameOf(item)
    waitingByName.set(name, (waitingByName.get(name) ?? 0) + by)
  }
  const tooLate = ({ item }: Waiting) =>
    new QueueFull(`one of the ${limits.nameOf(item)} was not wanted any more when its turn came`)
  /** By user, in the order of their arrival. */
  const lanes = new Map<number, Waiting[]>()
  let busy = false
  let largest = limits.largestBatch

  const runBatch = async (batch: Waiting[], lockedBefore = false): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item))
      for (const [index, entry] of batch.entries()) entry.resolve(results[index] as Result)
      largest = Math.min(limits.largestBatch, largest * 2)
    } catch (error) {
      const fault = limits.faultOf(error)
      if (fault === 'item') return halve(batch, error)
      if (fault === 'lock' && (await leaveLocked(batch, lockedBefore))) return
      // A batch that takes too long may be too large; what is sent again comes in smaller ones.
      if (fault === 'slow') largest = Math.max(1, Math.floor(batch.length / 2))
      for (const entry of batch) entry.reject(error)
    }
  }

  const halve = async (batch: Waiting[], error: unknown): Promise<void> => {
    const [only] = batch
    if (batch.length === 1) return only?.reject(new ItemRefused(error))
    const middle = Math.ceil(batch.length / 2)
    await runBatch(batch.slice(0, middle))
    await runBatch(batch.slice(middle))
  }

  /** Goes on without those who wait for a lock; false when no lock is found and it was not just let go either. */
  const leaveLocked = async (batch: Waiting[], lockedBefore: boolean): Promise<boolean> => {
    if (!locks) return false
    const found = await locks.locked.look(batch.map(({ item }) => locks.rowsOf(item))).catch(() => false)
    if (!found && lockedBefore) return false
    const free = batch.filter((entry) => !waitsAside(entry))
    if (free.length > 0) await runBatch(free, !found)
    return true
  }

  /** Takes an item aside when a row of it is locked. */
  const waitsAside = (entry: Waiting): boolean => {
    if (!locks) return false
    const rows = locks.rowsOf(entry.item)
    if (!locks.locked.holdsUp(rows)) return false
    const lane = lanes.get(rows.userId)
    if (!lane) lanes.set(rows.userId, [entry])
    else if (lane.length < locks.mostPerUser) lane.push(entry)
    else
      entry.reject(
        new QueueFull(
          `${lane.length} ${limits.nameOf(entry.item)} of user ${rows.userId} wait for a locked row already`,
        ),
      )
    return true
  }

  /** Back into the queue with those whose rows are free again, in their order; nobody else waits for ever. */
  const lookAtLanes = (): void => {
    for (const [userId, lane] of lanes) {
      const still: Waiting[] = []
      for (const entry of lane) {
        if (!entry.isWanted()) entry.reject(tooLate(entry))
        else if (locks?.locked.holdsUp(locks.rowsOf(entry.item))) still.push(entry)
        else enqueue(entry)
      }
      if (still.length > 0) lanes.set(userId, still)
      else lanes.delete(userId)
    }
  }
  locks?.locked.onLook(lookAtLanes)

  /** The next batch: what goes alone does not share one. */
  const take = (): Waiting[] => {
    const first = waiting.slice(0, largest).findIndex(({ alone }) => alone)
    return waiting.splice(0, first < 0 ? largest : Math.max(first, 1))
  }

  const flush = async (): Promise<void> => {
    busy = true
    while (waiting.length > 0) {
      const ready: Waiting[] = []
      for (const entry of take()) {
        countWaiting(entry.item, -1)
        if (!entry.isWanted()) entry.reject(tooLate(entry))
        else if (!waitsAside(entry)) ready.push(entry)
      }
      if (ready.length > 0) await runBatch(ready)
    }
    busy = false
  }

  const enqueue = (entry: Waiting): void => {
    waiting.push(entry)
    countWaiting(entry.item, 1)
    if (busy) return
    busy = true
    // What the same tick still adds shares the first transaction too.
    queueMicrotask(() => void flush())
  }

  return {
    /**
     * @throws {QueueFull} at once when too much waits already, later when it is not wanted any more.
     * @throws {ItemRefused} when the database refuses this very item.
     */
    add(item: Item, { isWanted = () => true, alone = false }: AddOptions = {}): Promise<Result> {
      const name = limits.nameOf(item)
      const before = waitingByName.get(name) ?? 0
      if (before >= limits.mostWaiting) return Promise.reject(new QueueFull(`${before} ${name} wait already`))
      return new Promise<Result>((resolve, reject) => enqueue({ item, isWanted, alone, resolve, reject }))
    },
    get size() {
      return waiting.length
    },
  }
}

/** The database is too slow for the traffic; the caller may come again. What is so refused was not sent. */
export class QueueFull extends Error {
  override name = 'QueueFull'
}

/** The database refused this item on its own; `cause` is its reason. */
export class ItemRefused extends Error {
  override name = 'ItemRefused'
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}
