import { DomainError } from '#core/errors.ts'
import { isDatabaseUnavailable } from '#core/database-errors.ts'
import { type AuditDeps, recordAct } from '../audit/service.ts'
import type { Deps } from '../deps.ts'
import { bookFailedCharge } from '../ledger/failed-charges.ts'
import type { BookCharge } from './schema.ts'
import { type FailedChargeRow, toFailedChargeView } from './view.ts'

const mostListed = 200

const columns = `f.id, f.user_id, u.username, f.token_id, t.name as token_name, f.channel_id, c.name as channel_name, f.quota,
  h.amount as held, f.error, f.created_at`
const tables = `failed_charges f left join users u on u.id = f.user_id left join tokens t on t.id = f.token_id
  left join channels c on c.id = f.channel_id left join holds h on h.id = f.id`

type Reader = Pick<Deps, 'em'>

/** Charges that the database refused, oldest first, and how many there are. */
export async function listFailedCharges({ em }: Reader) {
  const rows = await em.execute<FailedChargeRow[]>(
    `select ${columns} from ${tables} order by f.created_at, f.id limit ${mostListed}`,
  )
  const [all] = await em.execute<{ count: string }[]>('select count(*) as count from failed_charges')
  return { items: rows.map(toFailedChargeView), total: Number(all?.count ?? 0) }
}

/** One with the whole charge as it was to be booked, indented. @throws {DomainError} failed_charge.not_found */
export async function getFailedCharge({ em }: Reader, { id }: { id: string }) {
  const [row] = await em.execute<(FailedChargeRow & { row: string })[]>(
    `select ${columns}, f."row" from ${tables} where f.id = ?`,
    [id],
  )
  if (!row) throw new DomainError('failed_charge.not_found')
  return { ...toFailedChargeView(row), charge: indented(row.row) }
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // A very long one was cut off.
    return text
  }
}

/**
 * Books a charge once more, or at the amount that an operator decides.
 * @throws {DomainError} failed_charge.not_found, failed_charge.refused
 */
export async function bookCharge(deps: AuditDeps, { id, quota }: BookCharge): Promise<void> {
  const [failed] = await deps.em.execute<{ user_id: number; quota: string | null }[]>(
    'select user_id, quota from failed_charges where id = ?',
    [id],
  )
  if (!failed) throw new DomainError('failed_charge.not_found')
  const before = failed.quota === null ? null : Number(failed.quota)
  try {
    await deps.em.transactional(async (em) => {
      if (!(await bookFailedCharge(em, id, quota))) throw new DomainError('failed_charge.not_found')
      await recordAct(
        { ...deps, em },
        {
          action: quota === 0 ? 'failed_charges.give_back' : 'failed_charges.book',
          targetType: 'failed_charge',
          targetId: id,
          before: { userId: failed.user_id, quota: before },
          after: { quota: quota ?? before },
        },
      )
    })
  } catch (error) {
    if (error instanceof DomainError || isDatabaseUnavailable(error)) throw error
    throw new DomainError('failed_charge.refused', { detail: reasonOf(error) }, { cause: error })
  }
}

/** What the database said, without the statement that the library puts before it. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const message = cause instanceof Error ? cause.message : String(cause)
  return message.slice(message.lastIndexOf(' - ') + 1).slice(0, 500)
}
