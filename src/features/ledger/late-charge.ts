import type { Pool } from 'pg'
import { storableJson } from '#core/storable-json.ts'
import type { ChargeRow } from './charge-row.ts'
import { type Committed, OutcomeForgotten } from './ending.ts'
import { toSettleJson } from './settle-json.ts'

/** Ids of settled calls are kept for an hour at least; before, what is sent again finds itself there. */
const lateAfterMs = 50 * 60_000
/** The clocks of this process and of the database need not run at one speed. */
const clockSlackMs = 60_000

/** For so long ids have to have been kept, for one that was sent so long ago. */
export const ageInSeconds = (sentForMs: number): number => (sentForMs + clockSlackMs) / 1000

export const isLateCharge = (unknownForMs: number): boolean => unknownForMs > lateAfterMs

/** Goes through the queue alone, so that what one of them waits for holds nobody else up. */
export type LateCharge = { late: ChargeRow; unknownForMs: () => number }

/**
 * Charges a call that may have been charged, of which the database may have forgotten it since.
 * @throws {OutcomeForgotten} where it has, and nothing else shows it.
 */
export async function settleLate(pool: Pool, { late, unknownForMs }: LateCharge, isLeased = false): Promise<Committed> {
  const { rows } = await pool.query<{ known: boolean; quota: string | null; paid: string | null }>({
    text: 'select known, quota, paid from ledger_settle_late($1::json, $2)',
    values: [storableJson(JSON.stringify([toSettleJson(late, isLeased)])), ageInSeconds(unknownForMs())],
  })
  const [result] = rows
  if (result?.known === false)
    throw new OutcomeForgotten(
      'the database was out of reach for so long that nobody knows whether this charge was booked',
    )
  return { userQuota: Number(result?.quota ?? 0), paid: Number(result?.paid ?? 0) }
}
