import type { EntityManager } from '@mikro-orm/postgresql'
import { moneyText } from '#core/payment/money.ts'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import { type Bilingual, plainNotices } from '../notifications/notice.ts'
import { noteEvent } from './ledger.ts'

/** How much of a payment has gone back to the payer in all. */
export type Refund = { refundedMinor: number; isFull: boolean }

/**
 * Money went back to the payer. What was credited stays until an administrator decides to take it back; that the order was
 * refunded is recorded, and the operator notified. Notices say how much went back in all, so that an old one changes nothing.
 * The order is locked. Resolves with what the operator is notified of.
 */
export async function applyRefund(
  em: EntityManager,
  order: TopUpOrder,
  { refundedMinor, isFull }: Refund,
): Promise<Bilingual | null> {
  if (refundedMinor <= order.refundedMinor) return null
  await em.nativeUpdate(TopUpOrder, { id: order.id }, { refundedMinor, ...(isFull ? { status: 'refunded' } : {}) })
  const money = `${moneyText(refundedMinor, order.currency)} ${order.currency}`
  await noteEvent(em, order.id, { kind: 'refunded', detail: { money } })
  // A payment that went back whole before it was reported is not credited any more.
  const isCredited = Boolean(order.paidAt) || !isFull
  return plainNotices('payment_refunded', {
    zh: {
      title: '订单已退款',
      content: `订单 ${order.tradeNo} 已退款 ${money}，${isCredited ? '额度尚未收回，请在订单管理中决定是否收回' : '未入账，无需收回额度'}。`,
    },
    en: {
      title: 'An order was refunded',
      content: `Order ${order.tradeNo} was refunded ${money}. ${isCredited ? 'Its credit is still there; decide in the orders whether to take it back.' : 'Nothing was credited for it.'}`,
    },
  })
}
