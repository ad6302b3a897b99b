import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'

/** The rows that an act on a call has to lock; 0: none. */
export type RowsOfItem = { userId: number; tokenId: number; channelIds: readonly number[] }

export type LockedRows = {
  /** Some row of it is known to be locked by somebody else. */
  holdsUp: (rows: RowsOfItem) => boolean
  /** Finds out which of these are kept locked. Resolves whether any is. Rejects when the database cannot say. */
  look: (rows: readonly RowsOfItem[]) => Promise<boolean>
  /** Calls again and again while rows are locked, and once they no longer are. */
  onLook: (listener: () => void) => void
}

const tables = ['users', 'tokens', 'channels'] as const
type Table = (typeof tables)[number]
type Ids = Record<Table, Set<number>>

const lookEveryMs = 150
/** A batch of another process holds its rows for less than this. */
const passingMs = 40

/**
 * Which rows somebody keeps locked, so that only what needs them waits. Shared by all queues of a process: the first that
 * runs into a lock waits for it, the others know.
 */
export function createLockedRows(pool: Pool): LockedRows {
  const locked = emptyIds()
  let watching = false
  const listeners: (() => void)[] = []

  const holdsUp = ({ userId, tokenId, channelIds }: RowsOfItem): boolean =>
    locked.users.has(userId) || locked.tokens.has(tokenId) || channelIds.some((id) => locked.channels.has(id))

  const watch = async (): Promise<void> => {
    watching = true
    while (tables.some((table) => locked[table].size > 0)) {
      await delay(lookEveryMs, undefined, { ref: false })
      const asked: Ids = {
        users: new Set(locked.users),
        tokens: new Set(locked.tokens),
        channels: new Set(locked.channels),
      }
      // While the database is away nothing is known; nobody can be served either.
      const still = await lockedAmong(pool, asked).catch(() => asked)
      for (const table of tables) for (const id of asked[table]) if (!still[table].has(id)) locked[table].delete(id)
      for (const listener of listeners) listener()
    }
    watching = false
  }

  return {
    holdsUp,
    look: async (rows) => {
      const asked: Ids = {
        users: new Set(rows.map(({ userId }) => userId)),
        tokens: new Set(rows.map(({ tokenId }) => tokenId)),
        channels: new Set(rows.flatMap(({ channelIds }) => channelIds)),
      }
      const first = await lockedAmong(pool, asked)
      await delay(passingMs)
      const second = await lockedAmong(pool, first)
      let found = false
      for (const table of tables)
        for (const id of second[table]) {
          locked[table].add(id)
          found = true
        }
      if (found && !watching) void watch()
      return found
    },
    onLook: (listener) => void listeners.push(listener),
  }
}

const emptyIds = (): Ids => ({ users: new Set(), tokens: new Set(), channels: new Set() })

/** Waits for no lock, and lets go of what it got at once. */
async function lockedAmong(pool: Pool, asked: Ids): Promise<Ids> {
  const found = emptyIds()
  for (const table of tables) {
    const ids = [...asked[table]]
    if (ids.length === 0) continue
    const { rows } = await pool.query<{ id: number }>({
      name: `locked_${table}`,
      text: `with free as materialized (select id from ${table} where id = any ($1::int[]) for no key update skip locked)
        select id from ${table} where id = any ($1::int[]) and id not in (select id from free)`,
      values: [ids],
    })
    for (const { id } of rows) found[table].add(id)
  }
  return found
}
