import type { EntityManager } from '@mikro-orm/postgresql'
import { logType } from '#core/statuses.ts'
import type { ChargeRow } from './charge-row.ts'
import { grant, type GrantInput } from './service.ts'

/** Refunds a charge that was committed although its caller was answered that nothing was booked. */
export async function refundUndelivered(em: EntityManager, row: ChargeRow): Promise<void> {
  await refundCharge(em, row, () => ({
    type: logType.system,
    content: `请求 ${row.id} 未送达，退回额度`,
    username: row.username,
    quota: row.quota,
  }))
}

type Refunded = Pick<ChargeRow, 'id' | 'userId' | 'tokenId' | 'quota'>

/**
 * Gives a charge back, once: to the balance and the subscription what each of them had paid, to the token all of it. Inside the
 * transaction of `em`; callers that have none get one.
 */
export async function refundCharge(
  em: EntityManager,
  { id, userId, tokenId, quota }: Refunded,
  logOf: (byPlan: number) => GrantInput['log'],
): Promise<void> {
  if (quota === 0) return
  if (!em.isInTransaction())
    return em.transactional((inner) => refundCharge(inner, { id, userId, tokenId, quota }, logOf))
  const execute = (sql: string): Promise<{ amount: string }[]> =>
    em.getConnection().execute(sql, [id], 'all', em.getTransactionContext())
  const [charge] = await execute('select amount from subscription_charges where id = ?')
  const byPlan = Number(charge?.amount ?? 0)
  const booked = await grant(em, {
    kind: 'refund',
    key: id,
    userId,
    amount: quota - byPlan,
    token: { id: tokenId, amount: quota },
    log: logOf(byPlan),
  })
  if (booked && byPlan > 0) await execute('select ledger_refund_plan(?)')
}
