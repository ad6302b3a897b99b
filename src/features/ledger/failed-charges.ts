import type { EntityManager } from '@mikro-orm/postgresql'
import { storableJson } from '#core/storable-json.ts'
import { FailedCharge } from '#db/entities/failed-charge.ts'
import type { ChargeRow } from './charge-row.ts'
import { toSettleJson } from './settle-json.ts'

/**
 * Ends a charge that waits for a decision, inside the transaction of `em`: as it was, with its texts and counters, or at
 * another amount (0 gives everything back). Resolves false when it waits no more; somebody else has decided.
 */
export async function bookFailedCharge(em: EntityManager, id: string, quota?: number): Promise<boolean> {
  const execute = (sql: string, values: unknown[]): Promise<unknown[]> =>
    em.getConnection().execute(sql, values, 'all', em.getTransactionContext())
  const [stored] = await execute('select "row" from failed_charges where id = ? for update', [id])
  if (!stored) return false
  if (quota !== undefined) {
    await execute('select ledger_resolve_failed_charge(?, ?::bigint)', [id, quota])
    return true
  }
  const row = JSON.parse((stored as { row: string }).row) as ChargeRow
  await execute('select * from ledger_settle(?::json)', [storableJson(JSON.stringify([toSettleJson(row)]))])
  await em.nativeDelete(FailedCharge, { id })
  return true
}
