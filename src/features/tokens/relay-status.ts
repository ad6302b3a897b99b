import { tokenStatus } from '#core/statuses.ts'
import type { Database } from '#db/orm.ts'

/** Notes that an enabled token was found expired or spent. Another status, set meanwhile by its owner, stays. */
export async function markTokenStatus(
  database: Database,
  id: number,
  status: typeof tokenStatus.expired | typeof tokenStatus.exhausted,
): Promise<void> {
  if (status === tokenStatus.exhausted) {
    await database.pool.query('select ledger_mark_tokens(array[$1]::int[])', [id])
    return
  }
  // By the database's clock: what one node takes for expired is so for all of them.
  await database.pool.query('update tokens set status = $2 where id = $1 and status = $3 and expires_at <= now()', [
    id,
    status,
    tokenStatus.enabled,
  ])
}
