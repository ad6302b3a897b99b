import type { Pool } from 'pg'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { until } from '../support/processes.ts'
import type { Outcome } from './traffic.ts'

/** Leases too: a call that is set aside for in one has no hold. */
const openHolds = async (pool: Pool): Promise<number> =>
  Number(
    (
      await pool.query<{ n: string }>(
        "select (select count(*) from holds where status = 'open') + (select count(*) from leases) as n",
      )
    ).rows[0]?.n,
  )

/** Waits until no call is under way any more, those of dead processes included. */
export const untilNothingIsHeld = (pool: Pool): Promise<void> =>
  until(async () => (await openHolds(pool)) === 0, {
    what: 'holds stay open',
    everyMs: 200,
  })

/**
 * What must be true of the money once nothing is under way: the ledger's equation, one log row for every answer that a
 * caller read to its end, and no answer logged twice. Returns what is wrong in words; empty is good.
 */
export async function chargeViolations(pool: Pool, outcomes: Outcome[]): Promise<string[]> {
  const { rows } = await pool.query<{ request_id: string; n: string }>(
    'select request_id, count(*) as n from logs where type = 2 group by request_id',
  )
  const logged = new Map(rows.map((row) => [row.request_id, Number(row.n)]))
  const twice = rows.filter((row) => Number(row.n) > 1).map((row) => `${row.request_id} is logged ${row.n} times`)
  const missing = outcomes
    .filter((outcome) => outcome.complete && !logged.has(outcome.id))
    .map((outcome) => `the complete ${outcome.kind} answer ${outcome.id} is not logged`)
  // A plain call that was answered with an error was not charged, or got back what was committed after it had been answered so.
  const { rows: refunds } = await pool.query<{ key: string }>(
    `select g.key from grants g join logs l on l.request_id = g.key and l.type = 2 and l.quota = g.amount where g.kind = 'refund'`,
  )
  const refunded = new Set(refunds.map(({ key }) => key))
  const refused = outcomes
    .filter((outcome) => outcome.status >= 400 && logged.has(outcome.id) && !refunded.has(outcome.id))
    .map((outcome) => `${outcome.id} was refused with ${outcome.status} and is logged`)
  return [...(await ledgerViolations(pool)), ...twice, ...missing, ...refused]
}
