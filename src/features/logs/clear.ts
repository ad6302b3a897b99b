import type { Pool } from 'pg'
import { DomainError } from '#core/errors.ts'
import { recordAct } from '#features/audit/service.ts'
import type { Deps, UserDeps } from '#features/deps.ts'

const batchSize = 5000

/**
 * The same by somebody's order. Rows go in many portions, each for good: that it was begun is recorded before the first
 * of them, and how many went when all are gone.
 * @throws {DomainError} log.time_required
 */
export async function clearLogsByHand(
  deps: UserDeps,
  input: { before?: Date | undefined },
): Promise<{ count: number }> {
  if (!input.before) throw new DomainError('log.time_required')
  const target = { targetType: 'log', targetId: 0 }
  const before = input.before.toISOString()
  await recordAct(deps, { action: 'logs.clear', ...target, after: { before } })
  const cleared = await clearLogs(deps, input)
  await recordAct(deps, { action: 'logs.cleared', ...target, after: { before, ...cleared } })
  return cleared
}

/** How somebody follows it, or ends it: what is gone by then stays gone. */
type Watching = { signal?: AbortSignal; progress?: (done: number, total: number) => void }

async function countBefore(pool: Pool, before: Date): Promise<number> {
  const { rows } = await pool.query<{ count: string }>('select count(*) from logs where created_at < $1', [before])
  return Number(rows[0]?.count ?? 0)
}

/**
 * Removes what was logged before an instant and says how many rows that were; sums and balances stay.
 * @throws {DomainError} log.time_required
 */
export async function clearLogs(
  deps: Pick<Deps, 'database' | 'ambient'>,
  input: { before?: Date | undefined },
  { signal, progress }: Watching = {},
): Promise<{ count: number }> {
  if (!input.before) throw new DomainError('log.time_required')
  const { pool } = deps.database
  const total = progress ? await countBefore(pool, input.before) : 0
  // A month that is not over yet keeps its table, whatever is asked.
  const over = new Date(Math.min(input.before.getTime(), deps.ambient.now().getTime()))
  // These are read in the place of rows, so they go with them, but for the hour that is cleared in part.
  await pool.query(`delete from token_name_hours where hour < date_trunc('hour', $1::timestamptz, 'UTC')`, [
    input.before,
  ])
  let count = 0
  for (const partition of await partitionsBefore(pool, over)) {
    signal?.throwIfAborted()
    count += await dropPartition(pool, partition)
    progress?.(count, Math.max(count, total))
  }
  for (;;) {
    signal?.throwIfAborted()
    const removed = await removeBatch(pool, input.before)
    count += removed
    progress?.(count, Math.max(count, total))
    if (removed < batchSize) return { count }
  }
}

/** Monthly tables that end before the instant; their names say which month they hold. */
async function partitionsBefore(pool: Pool, before: Date): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'logs'::regclass and c.relname ~ '^logs_[0-9]{4}_[0-9]{2}$' order by 1`,
  )
  return rows.map(({ name }) => name).filter((name) => endOf(name) <= before)
}

function endOf(partition: string): Date {
  const [, year, month] = partition.split('_')
  return new Date(Date.UTC(Number(year), Number(month), 1))
}

/** A table that is in use for longer than a moment stays, and its rows go one batch after another. */
async function dropPartition(pool: Pool, name: string): Promise<number> {
  const client = await pool.connect()
  try {
    await client.query("begin; set local lock_timeout = '2s'")
    const { rows } = await client.query<{ count: string }>(`select count(*) from "${name}"`)
    await client.query(`drop table "${name}"`)
    await client.query('commit')
    return Number(rows[0]?.count ?? 0)
  } catch {
    await client.query('rollback')
    return 0
  } finally {
    client.release()
  }
}

async function removeBatch(pool: Pool, before: Date): Promise<number> {
  const { rowCount } = await pool.query(
    `with doomed as (select id, created_at from logs where created_at < $1 order by id limit $2)
     delete from logs l using doomed d where l.id = d.id and l.created_at = d.created_at`,
    [before, batchSize],
  )
  return rowCount ?? 0
}
