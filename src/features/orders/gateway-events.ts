import type { EntityManager } from '@mikro-orm/postgresql'
import { EarlyPaymentEvent, type GatewayEvent } from '#db/entities/early-payment-event.ts'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import type { Bilingual } from '../notifications/notice.ts'
import { notifyRoot } from '../notifications/service.ts'
import { afterCredit, type NotifyDeps } from './after-credit.ts'
import { applyDispute, type Dispute } from './disputes.ts'
import { type Credited, lockOrder } from './ledger.ts'
import { applyFailedRefund, applyRefund, type FailedRefund, type Refund } from './money-back.ts'

/** How a gateway names the payment that it speaks of. */
type Named = { tradeNo?: string | undefined; paymentId?: string | undefined; mode: string }

type Scope = NotifyDeps & { em: EntityManager }

/** What an event of a gateway leaves to be done after its commit. */
export type Applied = { tradeNo: string; notice: Bilingual; credited: Credited | null }

/**
 * Of the same payment one event comes after another, before any order is locked: else one that names an unknown payment could
 * be kept for later just when its payment looks for such.
 */
export async function lockPayment(em: EntityManager, { paymentId, mode }: Named): Promise<void> {
  if (!paymentId) return
  await em
    .getConnection()
    .execute(
      'select pg_advisory_xact_lock(hashtextextended(?, 191))',
      [`${mode} ${paymentId}`],
      'all',
      em.getTransactionContext(),
    )
}

async function lockNamed(em: EntityManager, { tradeNo, paymentId, mode }: Named): Promise<TopUpOrder | null> {
  const of = { gateway: 'stripe', merchant: mode }
  const found = tradeNo
    ? await em.findOne(TopUpOrder, { tradeNo, ...of }, { disableIdentityMap: true })
    : paymentId
      ? await em.findOne(TopUpOrder, { paymentId, ...of }, { disableIdentityMap: true })
      : null
  return found && lockOrder(em, { id: found.id })
}

async function apply(scope: Scope, order: TopUpOrder, event: GatewayEvent): Promise<Applied[]> {
  const { tradeNo } = order
  if (event.kind === 'dispute') {
    const outcome = await applyDispute(scope, order, event)
    return outcome ? [{ tradeNo, ...outcome }] : []
  }
  const notice =
    event.kind === 'refund'
      ? await applyRefund(scope.em, order, event)
      : await applyFailedRefund(scope.em, order, event)
  return notice ? [{ tradeNo, notice, credited: null }] : []
}

/** What distinguishes an event of a payment from its others. */
function keyOf(event: GatewayEvent): string {
  if (event.kind === 'refund') return `refund ${event.refundedMinor}`
  return event.kind === 'dispute' ? `dispute ${event.id} ${event.state}` : `${event.kind} ${event.id}`
}

/** Applies an event to its order. One whose payment is not known yet is kept until it is. */
async function take(services: NotifyDeps, named: Named, event: GatewayEvent): Promise<boolean> {
  const applied = await services.database.orm.em.fork().transactional(async (em) => {
    const scope = { ...services, em }
    await lockPayment(em, named)
    const found = await lockNamed(em, named)
    if (!found) {
      if (named.paymentId) await keep(em, { merchant: named.mode, paymentId: named.paymentId, event })
      return []
    }
    const { order, early } = await learnPayment(scope, found, named.paymentId)
    return [...early, ...(await apply(scope, order, event))]
  })
  await announce(services, applied)
  return applied.length > 0
}

/** Notifies of what was applied, once it is committed. */
export async function announce(services: NotifyDeps, applied: readonly Applied[]): Promise<void> {
  for (const { tradeNo, notice, credited } of applied) {
    if (credited) await afterCredit(services, tradeNo, credited)
    void notifyRoot(services, notice, tradeNo)
  }
}

export const noteRefund = (services: NotifyDeps, named: Named, refund: Refund): Promise<boolean> =>
  take(services, named, { kind: 'refund', ...refund })

export const noteFailedRefund = (services: NotifyDeps, named: Named, refund: FailedRefund): Promise<boolean> =>
  take(services, named, { kind: 'refund_failed', ...refund })

export const noteDispute = (services: NotifyDeps, named: Named, dispute: Dispute): Promise<boolean> =>
  take(services, named, { kind: 'dispute', ...dispute })

type Early = { merchant: string; paymentId: string; event: GatewayEvent }

const keep = (em: EntityManager, { event, ...of }: Early): Promise<unknown> =>
  em.upsert(
    EarlyPaymentEvent,
    { ...of, key: keyOf(event), event },
    { onConflictAction: 'ignore', disableIdentityMap: true },
  )

/**
 * A locked order learns the gateway's number of its payment, and with it what was said of that payment before: the order as it
 * stands then, and what was applied to it.
 */
export async function learnPayment(
  scope: Scope,
  order: TopUpOrder,
  paymentId: string | undefined,
): Promise<{ order: TopUpOrder; early: Applied[] }> {
  if (!paymentId || order.paymentId) return { order, early: [] }
  const { em } = scope
  await em.nativeUpdate(TopUpOrder, { id: order.id }, { paymentId })
  if (order.gateway !== 'stripe') return { order, early: [] }
  const of = { merchant: order.merchant, paymentId }
  const stored = await em.find(EarlyPaymentEvent, of, { orderBy: { createdAt: 'asc' }, disableIdentityMap: true })
  await em.nativeDelete(EarlyPaymentEvent, of)
  const now = async () => (await lockOrder(em, { id: order.id })) ?? order
  const early: Applied[] = []
  for (const { event } of stored) early.push(...(await apply(scope, await now(), event)))
  return { order: stored.length === 0 ? order : await now(), early }
}
