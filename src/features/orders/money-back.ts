import { moneyText } from '#core/payment/money.ts'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Services } from '../deps.ts'
import { plainNotices } from '../notifications/notice.ts'
import { notifyRoot } from '../notifications/service.ts'
import { lockOrder, noteEvent } from './ledger.ts'

type NotifyDeps = Pick<Services, 'database' | 'options' | 'ambient' | 'log' | 'secrets' | 'transport' | 'guardedFetch'>

/** How a gateway names the payment that it speaks of. */
type Named = { tradeNo?: string | undefined; paymentId?: string | undefined; mode: string }

async function lockNamed(em: EntityManager, { tradeNo, paymentId, mode }: Named): Promise<TopUpOrder | null> {
  const of = { gateway: 'stripe', merchant: mode }
  const found = tradeNo
    ? await em.findOne(TopUpOrder, { tradeNo, ...of }, { disableIdentityMap: true })
    : paymentId
      ? await em.findOne(TopUpOrder, { paymentId, ...of }, { disableIdentityMap: true })
      : null
  return found && lockOrder(em, { id: found.id })
}

/**
 * Money went back to the payer. What was credited stays until an administrator decides to take it back; that the order was
 * refunded is written down, and the operator told. Notices say how much went back in all, so that an old one changes nothing.
 */
export async function noteRefund(
  services: NotifyDeps,
  named: Named,
  { refundedMinor, isFull }: { refundedMinor: number; isFull: boolean },
): Promise<boolean> {
  const order = await services.database.orm.em.fork().transactional(async (em) => {
    const found = await lockNamed(em, named)
    if (!found || refundedMinor <= found.refundedMinor) return null
    await em.nativeUpdate(
      TopUpOrder,
      { id: found.id },
      {
        refundedMinor,
        ...(isFull ? { status: 'refunded' } : {}),
        ...(found.paymentId || !named.paymentId ? {} : { paymentId: named.paymentId }),
      },
    )
    await noteEvent(em, found.id, {
      kind: 'refunded',
      detail: { money: `${moneyText(refundedMinor, found.currency)} ${found.currency}` },
    })
    return found
  })
  if (!order) return false
  const money = `${moneyText(refundedMinor, order.currency)} ${order.currency}`
  const notice = plainNotices('payment_refunded', {
    zh: {
      title: '订单已退款',
      content: `订单 ${order.tradeNo} 已退款 ${money}，额度尚未收回，请在订单管理中决定是否收回。`,
    },
    en: {
      title: 'An order was refunded',
      content: `Order ${order.tradeNo} was refunded ${money}. Its credit is still there; decide in the orders whether to take it back.`,
    },
  })
  void notifyRoot(services, notice)
  return true
}

/** The payer disputes the payment; `won` closes it in our favour. */
export async function noteDispute(
  services: NotifyDeps,
  named: Named,
  { state, reason }: { state: 'open' | 'won' | 'lost'; reason: string },
): Promise<boolean> {
  const order = await services.database.orm.em.fork().transactional(async (em) => {
    const found = await lockNamed(em, named)
    if (!found) return null
    const kind = state === 'open' ? 'disputed' : `dispute_${state}`
    const known: unknown[] = await em
      .getConnection()
      .execute(
        `select 1 from top_up_order_events where order_id = ? and kind in (${state === 'open' ? "'disputed', 'dispute_won', 'dispute_lost'" : "'dispute_won', 'dispute_lost'"})`,
        [found.id],
        'all',
        em.getTransactionContext(),
      )
    // Said before, or overtaken by its own end.
    if (known.length > 0) return null
    const status = state === 'won' ? (found.paidAt ? 'paid' : 'pending') : 'disputed'
    if (found.status !== 'refunded') await em.nativeUpdate(TopUpOrder, { id: found.id }, { status })
    await noteEvent(em, found.id, { kind, detail: { reason } })
    return found
  })
  if (!order) return false
  const zh = { open: '被付款人拒付', won: '的拒付已撤销', lost: '的拒付已成立' }[state]
  const en = { open: 'is disputed by its payer', won: 'is disputed no more', lost: 'lost its dispute' }[state]
  const notice = plainNotices('payment_disputed', {
    zh: { title: '订单拒付', content: `订单 ${order.tradeNo} ${zh}${reason ? `，原因：${reason}` : ''}。` },
    en: {
      title: 'A payment is disputed',
      content: `Order ${order.tradeNo} ${en}${reason ? `, reason: ${reason}` : ''}.`,
    },
  })
  void notifyRoot(services, notice)
  return true
}
