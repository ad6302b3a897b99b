import { DomainError } from '#core/errors.ts'
import { type Page, rowsOfPage } from '#core/paging.ts'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import { TopUpOrderEvent } from '#db/entities/top-up-order-event.ts'
import { User } from '#db/entities/user.ts'
import { type EntityManager, raw } from '@mikro-orm/postgresql'
import { recordAct } from '../audit/service.ts'
import type { Services, UserDeps } from '../deps.ts'
import { lockOwner } from '../users/service/target.ts'
import { afterCredit } from './after-credit.ts'
import { creditOrder, lockOrder, lockPlanOf } from './ledger.ts'
import type { ActOnOrder, ListOrders, ListOwnOrders } from './schema.ts'
import {
  type AdminOrderView,
  type OrderEventView,
  type OrderOwner,
  type OrderView,
  toAdminOrderView,
  toEventView,
  toOrderView,
} from './view.ts'

/** One's own, newest first. */
export async function listOwnOrders({ em, actor }: UserDeps, input: ListOwnOrders): Promise<Page<OrderView>> {
  const [orders, total] = await em.findAndCount(
    TopUpOrder,
    { userId: actor.id, ...(input.status === '' ? {} : { status: input.status }) },
    {
      orderBy: { id: 'desc' },
      ...rowsOfPage(input),
    },
  )
  return { items: orders.map(toOrderView), total, page: input.page, pageSize: input.pageSize }
}

/** Somebody else's order does not exist. @throws {DomainError} payment.order_unknown */
export async function getOwnOrder({ em, actor }: UserDeps, { tradeNo }: { tradeNo: string }): Promise<OrderView> {
  const order = await em.findOne(TopUpOrder, { tradeNo, userId: actor.id }, { disableIdentityMap: true })
  if (!order) throw new DomainError('payment.order_unknown')
  return toOrderView(order)
}

const like = (text: string, where: 'start' | 'part') =>
  `${where === 'part' ? '%' : ''}${text.replace(/[\\%_]/g, '\\$&')}%`

async function namesOf(em: EntityManager, orders: readonly TopUpOrder[]): Promise<Map<number, OrderOwner>> {
  const ids = [...new Set(orders.map(({ userId }) => userId))]
  const users = await em.find(
    User,
    { id: ids },
    { fields: ['id', 'username', 'role', 'inviterId'], disableIdentityMap: true },
  )
  const inviters = await em.find(
    User,
    { id: [...new Set(users.map(({ inviterId }) => inviterId))] },
    { fields: ['id', 'username'], disableIdentityMap: true },
  )
  const inviterNames = new Map(inviters.map(({ id, username }) => [id, username]))
  return new Map(
    users.map(({ id, username, role, inviterId }) => [
      id,
      { username, role, invitedBy: inviterNames.get(inviterId) ?? '' },
    ]),
  )
}

/** Of all users of whom this is true. As an array, which the index of their orders is asked with. */
const ofUsers = (condition: string, text: string) => ({
  [raw(`"user_id" = any(array(select u.id from users u where ${condition}))`, [text])]: true,
})

/** Everybody's, newest first. */
export async function listOrders({ em }: UserDeps, input: ListOrders): Promise<Page<AdminOrderView>> {
  const { keyword, status, gateway, start, end, invitedBy } = input
  const [orders, total] = await em.findAndCount(
    TopUpOrder,
    {
      ...(status === '' ? {} : { status }),
      ...(gateway === '' ? {} : { gateway }),
      ...(invitedBy === '' ? {} : ofUsers('u.inviter_id = (select i.id from users i where i.username = ?)', invitedBy)),
      ...(start || end ? { createdAt: { ...(start ? { $gte: start } : {}), ...(end ? { $lte: end } : {}) } } : {}),
      ...(keyword === ''
        ? {}
        : {
            $or: [
              { tradeNo: { $like: like(keyword, 'start') } },
              { paymentId: keyword },
              { checkoutId: keyword },
              ofUsers('u.username ilike ?', like(keyword, 'part')),
            ],
          }),
    },
    {
      orderBy: { id: 'desc' },
      ...rowsOfPage(input),
    },
  )
  const names = await namesOf(em, orders)
  return {
    items: orders.map((order) => toAdminOrderView(order, names.get(order.userId))),
    total,
    page: input.page,
    pageSize: input.pageSize,
  }
}

/** @throws {DomainError} payment.order_unknown */
export async function getOrder(
  { em }: Pick<UserDeps, 'em'>,
  { id }: { id: number },
): Promise<AdminOrderView & { events: OrderEventView[] }> {
  const order = await em.findOne(TopUpOrder, { id }, { disableIdentityMap: true })
  if (!order) throw new DomainError('payment.order_unknown')
  const events = await em.find(
    TopUpOrderEvent,
    { orderId: id },
    { orderBy: { id: 'asc' }, limit: 200, disableIdentityMap: true },
  )
  const names = await namesOf(em, [order])
  return { ...toAdminOrderView(order, names.get(order.userId)), events: events.map(toEventView) }
}

/**
 * An administrator knows that the order was paid although no notification says so. One that comes late finds it paid and
 * changes nothing.
 * @throws {DomainError} payment.order_unknown, payment.order_paid
 */
export async function completeOrder(deps: UserDeps, { id, reason }: ActOnOrder): Promise<AdminOrderView> {
  const { order, credited } = await deps.em.transactional(async (em) => {
    const locked = await lockOrder(em, { id })
    if (!locked) throw new DomainError('payment.order_unknown')
    const scope = { ...deps, em }
    await lockPlanOf(em, locked)
    await lockOwner(scope, locked.userId)
    if (locked.paidAt || locked.status === 'refunded') throw new DomainError('payment.order_paid')
    const before = { status: locked.status }
    const done = await creditOrder(scope, locked, {
      note: { kind: 'completed', detail: { reason }, actorName: deps.actor.username },
    })
    await recordAct(scope, {
      action: 'orders.complete',
      targetType: 'order',
      targetId: id,
      targetName: locked.tradeNo,
      before,
      after: { status: locked.status, quota: locked.quota },
      reason,
    })
    return { order: locked, credited: done }
  })
  await afterCredit(deps, order.tradeNo, credited)
  return getOrder(deps, { id })
}

/** A payer who has not paid within a day has turned away. */
const longestPending = '24 hours'
/** A gateway that was not asked to say that a slow payment failed never says so. */
const longestProcessing = '30 days'

/** Marks what nobody pays any more. Money that comes all the same is credited. */
export async function expireOrders({ database }: Pick<Services, 'database'>): Promise<number> {
  const { rowCount } = await database.pool.query(
    `with gone as (
       update top_up_orders set status = 'expired'
       where status = 'pending' and created_at < now() - interval '${longestPending}'
         or status = 'processing' and created_at < now() - interval '${longestProcessing}' returning id
     ) insert into top_up_order_events (order_id, kind) select id, 'expired' from gone`,
  )
  return rowCount ?? 0
}
