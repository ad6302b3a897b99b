import type { EntityManager } from '@mikro-orm/postgresql'
import { storableJson } from '#core/storable-json.ts'
import type { Services } from '#features/deps.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import type { Ledger } from '#features/ledger/service.ts'

type Stored = { kind: 'drawing' | 'music'; id: number }

const tables = { drawing: 'drawing_tasks', music: 'music_tasks' } as const

/** Keeps what a task costs inside the transaction that stores it: from then on it is charged, whatever becomes of this process. */
export async function storeCharge(tx: EntityManager, { kind, id }: Stored, charge: ChargeRow): Promise<void> {
  const sql = 'insert into task_charges (request_id, kind, task_id, "row") values (?, ?, ?, ?::jsonb)'
  const values = [charge.id, kind, id, storableJson(JSON.stringify(charge))]
  await tx.getConnection().execute(sql, values, 'run', tx.getTransactionContext())
}

/** The charge of a stored task, its quota, is committed, or was given up: `null`. */
export async function markCharge(
  { database }: Pick<Services, 'database'>,
  { kind, id }: Stored,
  charged: number | null,
): Promise<void> {
  await database.pool.query(
    `with marked as (update ${tables[kind]} set charge_pending = false, quota = $2 where id = $1 returning request_id)
     delete from task_charges c using marked m where c.request_id = m.request_id`,
    [id, charged ?? 0],
  )
}

const mostUnderWay = 500

/** The charges that a round has sent or found under way: the ledger goes on with what it cannot commit in time. */
const underWay = new WeakMap<Ledger, string[]>()

/**
 * Charges the tasks whose process died before it did. That a hold was given back says so: a commit deletes it, and who gives a
 * charge up shuts it. Several processes may do so at once, for the ledger books an id once. What is charged, `settlePending`
 * finds out. They are sent together, so that a row that somebody keeps locked takes the time of one.
 */
export async function chargeForDead({
  database,
  ledger,
  log,
}: Pick<Services, 'database' | 'ledger' | 'log'>): Promise<void> {
  const { rows } = await database.pool.query<{ row: ChargeRow; sent: boolean }>(
    `select c."row", c.request_id = any ($1::text[]) as sent from task_charges c join holds h on h.id = c.request_id
     where h.status = 'released' and not exists (select 1 from failed_charges f where f.id = c.request_id)
     order by sent desc, c.request_id limit $2`,
    [underWay.get(ledger) ?? [], mostUnderWay],
  )
  underWay.set(
    ledger,
    rows.map(({ row }) => row.id),
  )
  const charge = (row: ChargeRow): Promise<unknown> =>
    ledger
      .settle(row, 'go-on')
      .catch((error: unknown) =>
        log.warn({ err: error, requestId: row.id }, 'a task whose process died could not be charged yet'),
      )
  await Promise.all(rows.filter(({ sent }) => !sent).map(({ row }) => charge(row)))
}

/**
 * Decides the tasks whose process died, or lost the database, around their charge: what the hold has come to shows whether
 * it was committed. While the hold is open, or the charge still to be made, nothing is known yet. One that was lost with the database
 * is distinguished from a settled one by what the ledger remembers; where nothing shows it any more, the task is taken as charged.
 */
export async function settlePending({ database }: Pick<Services, 'database'>): Promise<void> {
  for (const [kind, table] of Object.entries(tables)) {
    await database.pool.query(
      // Rounds may overlap: locked in one order.
      `with candidates as (
         select id from ${table} where charge_pending and progress <> '100%'
         union select task_id from task_charges where kind = $1),
       pending as (
         select t.id from ${table} t where t.id in (select id from candidates) and t.charge_pending
           and not exists (select 1 from holds h where h.id = t.request_id and (h.status = 'open'
             or h.status = 'released' and exists (select 1 from task_charges c where c.request_id = h.id)))
         order by t.id for no key update),
       decided as (
         update ${table} t set charge_pending = false,
           quota = case
             when exists (select 1 from holds h where h.id = t.request_id and h.status in ('released', 'void')) then 0
             when ledger_outcome(t.request_id, extract(epoch from now() - t.submitted_at + interval '1 minute')::float8) is false then 0
             else t.quota end
         from pending where t.id = pending.id returning t.request_id)
       delete from task_charges c using decided d where c.request_id = d.request_id`,
      [kind],
    )
  }
}
