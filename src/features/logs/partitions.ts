import { makeLogPartitions } from '#db/log-partitions.ts'
import type { Services } from '#features/deps.ts'

/** Makes the monthly tables of this month and the next three. Returns the last month that has one, as `2026-12`. */
export async function ensureLogPartitions(
  { database }: Pick<Services, 'database'>,
  { signal }: { signal: AbortSignal },
): Promise<string> {
  await makeLogPartitions(database.pool, signal)
  const { rows } = await database.pool.query<{ last: string }>(
    `select max(c.relname) as last from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'logs'::regclass and c.relname ~ '^logs_[0-9]{4}_[0-9]{2}$'`,
  )
  return (rows[0]?.last ?? '').replace(/^logs_(\d+)_(\d+)$/, '$1-$2')
}
