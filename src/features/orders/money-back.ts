import { moneyText } from '#core/payment/money.ts'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Services } from '../deps.ts'
import { plainNotices } from '../notifications/notice.ts'
import { notifyRoot } from '../notifications/service.ts'
import { lockOrder, noteEvent } from './ledger.ts'

export type NotifyDeps = Pick<
  Services,
  'database' | 'options' | 'ambient' | 'log' | 'secrets' | 'transport' | 'guardedFetch'
>

/** How a gateway names the payment that it speaks of. */
export type Named = { tradeNo?: string | undefined; paymentId?: string | undefined; mode: string }

export async function lockNamed(em: EntityManager, { tradeNo, paymentId, mode }: Named): Promise<TopUpOrder | null> {
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
 * refunded is written down, and the operator notified. Notices say how much went back in all, so that an old one changes nothing.
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
