import type { EntityManager } from '@mikro-orm/postgresql'
import { moneyWithCurrency } from '#core/payment/money.ts'
import { logType } from '#core/statuses.ts'
import { Log } from '#db/entities/log.ts'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import { TopUpOrderEvent } from '#db/entities/top-up-order-event.ts'
import { User } from '#db/entities/user.ts'
import type { Services } from '../deps.ts'
import { activatePlan } from '../plans/activate.ts'
import { grant } from '../ledger/service.ts'
import { shownQuota } from '../ledger/shown-quota.ts'
import { oweRebate, type RebateSource } from '../rebates/service.ts'
import { keepsPlace, planOrderOpenFor, takesPlace } from './schema.ts'

type Scope = Pick<Services, 'options' | 'ambient'> & { em: EntityManager }

/** The order under its lock: whatever comes at the same time waits, and then sees what became of it. */
export async function lockOrder(
  em: EntityManager,
  where: { tradeNo: string } | { id: number },
): Promise<TopUpOrder | null> {
  const [column, value] = 'id' in where ? ['id', where.id] : ['trade_no', where.tradeNo]
  const locked: { id: number }[] = await em
    .getConnection()
    .execute(`select id from top_up_orders where ${column} = ? for update`, [value], 'all', em.getTransactionContext())
  const [found] = locked
  return found ? em.findOne(TopUpOrder, { id: found.id }, { disableIdentityMap: true }) : null
}

/** The plan that it would buy, before its users: whoever buys that plan takes them in this order. */
export async function lockPlanOf(em: EntityManager, { planId }: TopUpOrder): Promise<void> {
  if (!planId) return
  await em
    .getConnection()
    .execute('select 1 from plans where id = ? for update', [planId], 'all', em.getTransactionContext())
}

type Note = { kind: string; detail?: Record<string, string | number>; actorName?: string }

/** Writes down what happened to an order. */
export const noteEvent = (em: EntityManager, orderId: number, { kind, detail, actorName }: Note): Promise<unknown> =>
  em.insert(TopUpOrderEvent, { orderId, kind, detail: detail ?? null, actorName: actorName ?? '' })

/** What a credit leaves to be done after its commit. */
export type Credited = { rebate: RebateSource; orphaned: boolean }

/**
 * Several orders of a plan may have been open at once, and one may be paid when others have bought the last. What is paid beyond
 * the number that there are, or that one user may have, is credited to the balance instead.
 */
async function keepToPlanLimits(em: EntityManager, order: TopUpOrder): Promise<void> {
  if (!order.plan || !order.planId) return
  const execute = (sql: string, values: unknown[]): Promise<Record<string, string | null>[]> =>
    em.getConnection().execute(sql, values, 'all', em.getTransactionContext())
  const [plan] = await execute('select per_user, stock from plans where id = ? for update', [order.planId])
  if (!plan) return
  const [sales] = await execute(
    `select count(*) filter (where user_id = ?) as mine, count(*) filter (where ${takesPlace}) as running,
       case when ?::timestamptz > now() - interval '${planOrderOpenFor}' then 0 else (
         select count(distinct user_id) from top_up_orders where ${keepsPlace} and plan_id = ? and user_id <> ?) end as open
     from subscriptions where plan_id = ? and status <> 'refunded'`,
    [order.userId, order.createdAt, order.planId, order.userId, order.planId],
  )
  const count = (name: string): number => Number(sales?.[name] ?? 0)
  const isLeft = plan['stock'] == null || count('running') + count('open') < Number(plan['stock'])
  const isAllowed = plan['per_user'] == null || count('mine') < Number(plan['per_user'])
  if (isLeft && isAllowed) return
  await noteEvent(em, order.id, { kind: 'credited_instead', detail: { what: order.plan.name } })
  order.plan = null
  order.planId = null
  await em.nativeUpdate(TopUpOrder, { id: order.id }, { plan: null, planId: null })
}

/**
 * The only place where money becomes quota, or a plan. The order is locked and was not paid before; the key of the grant and of
 * the subscription is its number, so that even then nothing is credited twice.
 */
export async function creditOrder(
  scope: Scope,
  order: TopUpOrder,
  how: { note: Note; paymentId?: string | undefined },
): Promise<Credited> {
  const { em, ambient } = scope
  const rebate = { source: 'top_up', key: order.tradeNo } as const
  // Whoever completes a disputed one by hand can take back what its payer got.
  if (order.status !== 'disputed') order.status = 'paid'
  const { status } = order
  await em.nativeUpdate(
    TopUpOrder,
    { id: order.id },
    { status, paidAt: ambient.now(), ...(how.paymentId ? { paymentId: how.paymentId } : {}) },
  )
  await noteEvent(em, order.id, how.note)
  const user = await em.findOne(User, { id: order.userId }, { disableIdentityMap: true })
  if (!user || user.deletedAt) {
    await noteEvent(em, order.id, { kind: 'user_missing' })
    return { rebate, orphaned: true }
  }
  await keepToPlanLimits(em, order)
  const money = moneyWithCurrency(order.moneyMinor, order.currency)
  if (order.plan && order.planId) {
    const bought = { userId: user.id, planId: order.planId, terms: order.plan }
    const subscription = await activatePlan(em, { ...bought, source: 'order', key: order.tradeNo })
    await em.insert(Log, {
      userId: user.id,
      username: user.username,
      type: logType.topUp,
      content: `购买套餐「${order.plan.name}」成功，支付金额：${money}`,
      other: { plan: { id: subscription?.id ?? 0, name: order.plan.name } },
    })
    await oweRebate(scope, { ...rebate, userId: user.id, amount: order.quota })
    return { rebate, orphaned: false }
  }
  await grant(em, {
    kind: 'top_up',
    key: order.tradeNo,
    userId: user.id,
    amount: order.quota,
    log: {
      type: logType.topUp,
      username: user.username,
      content: `使用在线充值成功，充值金额: ${shownQuota(scope, order.quota)}，支付金额：${money}`,
      quota: order.quota,
    },
  })
  await oweRebate(scope, { ...rebate, userId: user.id, amount: order.quota })
  return { rebate, orphaned: false }
}
