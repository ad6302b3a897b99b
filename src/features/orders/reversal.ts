import type { EntityManager } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { reversibleQuota, withdrawnShare } from '#core/payment/reversible.ts'
import { logType } from '#core/statuses.ts'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import { User } from '#db/entities/user.ts'
import { recordAct } from '../audit/service.ts'
import type { Services, UserDeps } from '../deps.ts'
import { grant } from '../ledger/service.ts'
import { shownQuota } from '../ledger/shown-quota.ts'
import { deactivate, reactivate } from '../plans/activate.ts'
import { followCredit } from '../rebates/service.ts'
import { lockOwner } from '../users/service/target.ts'
import { lockOrder, noteEvent } from './ledger.ts'
import type { ActOnOrder } from './schema.ts'
import { getOrder } from './service.ts'
import type { AdminOrderView } from './view.ts'

const executeIn =
  (em: EntityManager) =>
  <Row>(sql: string, values: unknown[]): Promise<Row[]> =>
    em.getConnection().execute(sql, values, 'all', em.getTransactionContext())

/** The rebate of an order under its lock, before any balance. Resolves with the inviter. */
async function lockInviters(em: EntityManager, { tradeNo }: TopUpOrder): Promise<number[]> {
  const rows = await executeIn(em)<{ user_id: number }>(
    "select user_id from rebates where source = 'top_up' and key = ? for update",
    [tradeNo],
  )
  return rows.map((row) => row.user_id)
}

/** What an administrator gave back to the balance when the plan of an order was ended. */
async function planRefundOf(em: EntityManager, tradeNo: string): Promise<number> {
  const rows = await executeIn(em)<{ amount: string }>(
    `select g.amount from grants g join subscriptions s on g.kind = 'plan_refund' and g.key = s.id::text
     where s.source = 'order' and s.key = ?`,
    [tradeNo],
  )
  return rows.reduce((sum, { amount }) => sum + Number(amount), 0)
}

/** Not where its user was gone when it was paid. */
async function wasCredited(em: EntityManager, { tradeNo }: TopUpOrder): Promise<boolean> {
  const rows = await executeIn(em)("select 1 from grants where kind = 'top_up' and key = ?", [tradeNo])
  return rows.length > 0
}

/** What reversals of an order have taken from its user and not given again. */
async function takenOf(em: EntityManager, { tradeNo }: TopUpOrder): Promise<number> {
  const rows = await executeIn(em)<{ amount: string }>(
    `select amount from grants where kind in ('top_up_reversal', 'top_up_restoration') and (key = ? or starts_with(key, ?))`,
    [tradeNo, `${tradeNo}:`],
  )
  return -rows.reduce((sum, { amount }) => sum + Number(amount), 0)
}

/** Distinguishes one change of an order from all others: under its lock, and each writes an event. */
async function nextAct(em: EntityManager, { id }: TopUpOrder): Promise<string> {
  const [row] = await executeIn(em)<{ count: string }>(
    'select count(*) as count from top_up_order_events where order_id = ?',
    [id],
  )
  return `#${row?.count ?? 0}`
}

/**
 * Takes the credit of a refunded or disputed order back, all of it even where less is left: the balance may then be below
 * zero. The plan of an order ends instead. The inviter's rebate for it goes too. Once per order, and once more for the
 * difference when more money has gone back since.
 * @throws {DomainError} payment.order_unknown, payment.not_reversible
 */
export async function reverseOrder(deps: UserDeps, { id, reason }: ActOnOrder): Promise<AdminOrderView> {
  await deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    const order = await lockOrder(em, { id })
    if (!order) throw new DomainError('payment.order_unknown')
    const inviters = await lockInviters(em, order)
    const user = await lockOwner(scope, order.userId, inviters)
    const amount = reversibleQuota(order)
    if (amount === 0) throw new DomainError('payment.not_reversible')
    const before = order.reversedQuota
    const after = before + amount
    const act = await nextAct(em, order)
    if (order.plan) {
      await deactivate(em, { source: 'order', key: order.tradeNo }, { status: 'refunded', by: 'operator' })
    }
    const planRefund = order.plan && before === 0 ? await planRefundOf(em, order.tradeNo) : 0
    const given = order.plan ? planRefund : (await wasCredited(em, order)) ? amount : 0
    if (user && given > 0) {
      await grant(em, {
        kind: 'top_up_reversal',
        key: `${order.tradeNo}:${act}`,
        userId: user.id,
        amount: -given,
        log: {
          type: logType.manage,
          username: user.username,
          content: `订单 ${order.tradeNo} 已退款，收回额度 ${shownQuota(deps, given)}`,
          quota: -given,
        },
      })
    }
    await followCredit(scope, { source: 'top_up', key: order.tradeNo }, { taken: after, total: order.quota, act })
    await em.nativeUpdate(TopUpOrder, { id }, { reversedAt: deps.ambient.now(), reversedQuota: after })
    await noteEvent(em, id, {
      kind: 'reversed',
      detail: { reason, ...(order.plan ? {} : { quota: amount }) },
      actorName: deps.actor.username,
    })
    await recordAct(scope, {
      action: 'orders.reverse',
      targetType: 'order',
      targetId: id,
      targetName: order.tradeNo,
      after: order.plan ? { plan: null } : { quota: -amount },
      reason,
    })
  })
  return getOrder(deps, { id })
}

type Scope = Pick<Services, 'options'> & { em: EntityManager }

/** What an order has again: credit, its plan, or neither. */
export type Restored = { quota: number; plan: string | null }

/**
 * Gives back what a reversal took, since the money stayed here: nobody has to decide it. The share whose money did go back, or
 * is disputed still, stays taken, and so does a plan of which there is such a share, or which had been ended before. The order
 * is locked. Resolves null where nothing is to be given back.
 */
export async function restoreOrder({ em, options }: Scope, order: TopUpOrder): Promise<Restored | null> {
  const withdrawn = Math.min(order.reversedQuota, withdrawnShare(order))
  if (order.reversedQuota <= withdrawn) return null
  const { id, tradeNo } = order
  const inviters = await lockInviters(em, order)
  await executeIn(em)('select id from users where id in (?) order by id for no key update', [
    [order.userId, ...inviters],
  ])
  const user = await em.findOne(User, { id: order.userId }, { disableIdentityMap: true })
  const act = await nextAct(em, order)
  const taken = await takenOf(em, order)
  const quota = order.plan ? (withdrawn === 0 ? taken : 0) : Math.max(0, taken - withdrawn)
  const endedHere = order.plan && withdrawn === 0 && (await planRefundOf(em, tradeNo)) === 0
  const plan = endedHere ? await reactivate(em, { source: 'order', key: tradeNo }) : null
  if (user && quota > 0) {
    await grant(em, {
      kind: 'top_up_restoration',
      key: `${tradeNo}:${act}`,
      userId: user.id,
      amount: quota,
      log: {
        type: logType.manage,
        username: user.username,
        content: `订单 ${tradeNo} 的拒付已撤销，恢复额度 ${shownQuota({ options }, quota)}`,
        quota,
      },
    })
  }
  await followCredit({ em, options }, { source: 'top_up', key: tradeNo }, { taken: withdrawn, total: order.quota, act })
  await em.nativeUpdate(
    TopUpOrder,
    { id },
    { reversedQuota: withdrawn, ...(withdrawn === 0 ? { reversedAt: null } : {}) },
  )
  if (!plan && quota === 0) return { quota: 0, plan: null }
  await noteEvent(em, id, { kind: 'restored', detail: plan ? { what: plan.name } : { quota } })
  await recordAct(
    { em, actor: null, client: { ip: '' } },
    {
      action: 'orders.restore',
      targetType: 'order',
      targetId: id,
      targetName: tradeNo,
      after: plan ? { plan: plan.name } : { quota },
    },
  )
  return { quota: user ? quota : 0, plan: plan?.name ?? null }
}
