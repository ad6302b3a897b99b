import type { Pool, PoolClient } from 'pg'
import { betweenOthers } from './brief-locks.ts'

/** Makes the monthly tables of this month and the next three. Waits for as long as somebody keeps the log from changing. */
export async function makeLogPartitions(client: Pool | PoolClient, signal?: AbortSignal): Promise<void> {
  await betweenOthers(() => client.query('select ensure_log_partitions()'), signal && { signal })
}

/** The same, for who cannot wait: what is not needed this month is left to the daily job. */
export async function makeLogPartitionsOfNow(client: Pool | PoolClient): Promise<void> {
  await betweenOthers(() => client.query('select ensure_log_partitions()'), {
    mayBeLeft: async () => {
      const { rows } = await client.query<{ made: boolean }>(
        `select to_regclass('logs_' || to_char(now() at time zone 'utc', 'YYYY_MM')) is not null as made`,
      )
      return rows[0]?.made === true
    },
  })
}
