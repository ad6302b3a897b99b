import type { Pool, PoolClient } from 'pg'
import { DomainError } from '#core/errors.ts'
import { advisoryLock } from '#db/advisory-locks.ts'
import { briefLockWait } from '#db/brief-locks.ts'
import { inTransaction } from '#db/transaction.ts'
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
    if (removed < batchSize) break
  }
  // Every row of these hours is gone: what is left of their sums stands for none.
  await withSumsLocked(pool, (client) =>
    client.query(`delete from token_name_hours where hour < date_trunc('hour', $1::timestamptz, 'UTC')`, [
      input.before,
    ]),
  )
  return { count }
}

/** Monthly tables that end before the instant; their names say which month they hold. */
async function partitionsBefore(pool: Pool, before: Date): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'logs'::regclass and c.relname ~ '^logs_[0-9]{4}_[0-9]{2}$' order by 1`,
  )
  return rows.map(({ name }) => name).filter((name) => monthOf(name).end <= before)
}

function monthOf(partition: string): { start: Date; end: Date } {
  const [, year, month] = partition.split('_').map(Number) as [number, number, number]
  return { start: new Date(Date.UTC(year, month - 1, 1)), end: new Date(Date.UTC(year, month, 1)) }
}

/**
 * In one transaction with what it removes, the sums of token names lose what they hold of it: they are read in the place of rows, and a
 * clearing may end after any of its parts. Nobody adds hours up meanwhile, or a row that goes would stay in the sums.
 */
const withSumsLocked = <Result>(pool: Pool, act: (client: PoolClient) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(${advisoryLock.usageRollup})`)
    return act(client)
  })

/** A table that is in use for longer than calls may wait stays, and its rows go one batch after another. */
const dropPartition = (pool: Pool, name: string): Promise<number> =>
  withSumsLocked(pool, async (client) => {
    const { start, end } = monthOf(name)
    await client.query('delete from token_name_hours where hour >= $1 and hour < $2', [start, end])
    const { rows } = await client.query<{ count: string }>(`select count(*) from "${name}"`)
    // Last, since no call is charged between it and the end.
    await client.query(`set local lock_timeout = '${briefLockWait}'`)
    await client.query(`drop table "${name}"`)
    return Number(rows[0]?.count ?? 0)
  }).catch(() => 0)

const removeBatch = (pool: Pool, before: Date): Promise<number> =>
  withSumsLocked(pool, async (client) => {
    const { rowCount } = await client.query(
      `with doomed as materialized (select id, created_at from logs where created_at < $1 order by id limit $2),
       lost as (
         select r.token_name, r.hour, sum(r.calls) as calls, sum(r.quota) as quota, sum(r.failed_calls) as failed_calls,
           sum(r.failed_attempts) as failed_attempts
         from token_name_rows r join doomed d on d.id = r.id and d.created_at = r.created_at group by 1, 2
       ), lowered as (
         update token_name_hours h set calls = h.calls - l.calls, quota = h.quota - l.quota,
           failed_calls = h.failed_calls - l.failed_calls, failed_attempts = h.failed_attempts - l.failed_attempts
         from lost l where h.token_name = l.token_name and h.hour = l.hour
       )
       delete from logs l using doomed d where l.id = d.id and l.created_at = d.created_at`,
      [before, batchSize],
    )
    return rowCount ?? 0
  })
