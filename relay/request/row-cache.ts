import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { entryLimit } from '#core/cache-limit.ts'
import { readAgain } from '#db/lost-connections.ts'

type Entry<Row> = { row: Row; at: number }

/** Unknown keys have a memory of their own: a flood of them must not push out the rows that are in use. */
const mostKnown = 200_000
const mostUnknown = 50_000
const ttl = 60_000
/** After keys that nobody has the next ones gather for longer: somebody may be guessing. */
const suspiciousMs = 10
/** While one query is under way the next keys gather, but none waits longer than this for a query that hangs. */
const longestGatheringMs = 50

/**
 * Rows kept for at most a minute and dropped at once when a change notice names them. Misses of one moment are looked up
 * together, and an unknown key is remembered too, so a flood of wrong keys costs a query per batch, not per key.
 */
export function createRowCache<Key extends string | number, Row extends { id: number }>(options: {
  load: (keys: Key[]) => Promise<Map<Key, Row>>
}) {
  const startEmpty = () => {
    const keysOfId = new Map<number, Set<Key>>()
    // What falls out must not stay behind in the other table.
    const dispose = ({ row }: Entry<Row>, key: Key, reason: LRUCache.DisposeReason): void => {
      const keys = keysOfId.get(row.id)
      if (reason === 'set' || !keys) return
      keys.delete(key)
      if (keys.size === 0) keysOfId.delete(row.id)
    }
    return {
      entries: new LRUCache<Key, Entry<Row>>({ ...entryLimit(mostKnown), ttl, dispose }),
      unknown: new LRUCache<Key, true>({ ...entryLimit(mostUnknown), ttl }),
      keysOfId,
    }
  }
  let tables = startEmpty()
  let gathering: Map<Key, Promise<Row | null>> | null = null
  // A row read before a notice must not be kept after it.
  let generation = 0
  let running: Promise<unknown> = Promise.resolve()
  let isSuspicious = false

  const loadBatch = (): { wanted: Key[]; result: Promise<Map<Key, Row>> } => {
    const wanted: Key[] = []
    const startedIn = { generation: -1 }
    const before = Promise.race([running, delay(longestGatheringMs, undefined, { ref: false })])
    const result = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      await before
      if (isSuspicious) await delay(suspiciousMs)
      gathering = null
      startedIn.generation = generation
      const rows = await readAgain(() => options.load(wanted))
      isSuspicious = rows.size * 2 < wanted.length
      if (startedIn.generation === generation) {
        for (const key of wanted) keep(key, rows.get(key) ?? null)
      }
      return rows
    })
    running = result.catch(() => {})
    return { wanted, result }
  }
  let batch: ReturnType<typeof loadBatch> | null = null

  const keep = (key: Key, row: Row | null): void => {
    if (row === null) {
      tables.unknown.set(key, true)
      return
    }
    tables.entries.set(key, { row, at: Date.now() })
    const keys = tables.keysOfId.get(row.id)
    if (keys) keys.add(key)
    else tables.keysOfId.set(row.id, new Set([key]))
  }

  const get = (key: Key): Row | null | Promise<Row | null> => {
    const entry = tables.entries.get(key)
    if (entry) return entry.row
    if (tables.unknown.has(key)) return null
    const pending = gathering?.get(key)
    if (pending) return pending
    if (!gathering || !batch) {
      gathering = new Map()
      batch = loadBatch()
    }
    batch.wanted.push(key)
    const found = batch.result.then((rows) => rows.get(key) ?? null)
    gathering.set(key, found)
    return found
  }

  return {
    get,
    drop: (id: number): void => {
      generation += 1
      for (const key of tables.keysOfId.get(id) ?? []) tables.entries.delete(key)
    },
    clear: (): void => {
      generation += 1
      // Emptying hundreds of thousands of rows one by one would be noticed.
      tables = startEmpty()
    },
  }
}
