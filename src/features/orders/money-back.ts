import type { EntityManager } from '@mikro-orm/postgresql'
import { moneyWithCurrency } from '#core/payment/money.ts'
import type { GatewayEvent } from '#db/entities/early-payment-event.ts'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import { TopUpOrderEvent } from '#db/entities/top-up-order-event.ts'
import { type Bilingual, plainNotices } from '../notifications/notice.ts'
import { noteEvent } from './ledger.ts'

/** How much of a payment has gone back to the payer in all. */
export type Refund = Omit<Extract<GatewayEvent, { kind: 'refund' }>, 'kind'>

const stillThere = {
  zh: '额度尚未收回，请在订单管理中决定是否收回',
  en: 'Its credit is still there; decide in the orders whether to take it back.',
}
/** A payment that went back whole before it was reported is not credited any more; one of which a part did is. */
const neverCredited = { zh: '未入账，无需收回额度', en: 'Nothing was credited for it.' }
const creditedLater = {
  zh: '尚未入账，入账后请在订单管理中决定是否收回',
  en: 'Nothing is credited for it yet; once it is, decide in the orders whether to take it back.',
}

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
  const money = moneyWithCurrency(refundedMinor, order.currency)
  await noteEvent(em, order.id, { kind: 'refunded', detail: { money } })
  const { zh, en } = order.paidAt ? stillThere : isFull ? neverCredited : creditedLater
  return plainNotices('payment_refunded', {
    zh: {
      title: '订单已退款',
      content: `订单 ${order.tradeNo} 已退款 ${money}，${zh}。`,
    },
    en: {
      title: 'An order was refunded',
      content: `Order ${order.tradeNo} was refunded ${money}. ${en}`,
    },
  })
}

/** A refund that the payer's bank would not take, some days later: the gateway has its money again. */
export type FailedRefund = Omit<Extract<GatewayEvent, { kind: 'refund_failed' }>, 'kind'>

/**
 * Nothing is undone: whether the payer gets the money in another way, or their credit again, is decided by whoever refunded it.
 * The order is locked. Resolves with what the operator is notified of.
 */
export async function applyFailedRefund(
  em: EntityManager,
  order: TopUpOrder,
  { id, money: { minor, currency } }: FailedRefund,
): Promise<Bilingual | null> {
  const kind = 'refund_failed'
  const known = await em.find(TopUpOrderEvent, { orderId: order.id, kind }, { disableIdentityMap: true })
  if (known.some(({ detail }) => detail?.['refund'] === id)) return null
  const money = moneyWithCurrency(minor, currency)
  await noteEvent(em, order.id, { kind, detail: { money, refund: id } })
  return plainNotices('payment_refund_failed', {
    zh: {
      title: '退款失败',
      content: `订单 ${order.tradeNo} 的退款 ${money} 失败，付款人没有收到，款项已退回商户，请处理退款或恢复额度。`,
    },
    en: {
      title: 'A refund failed',
      content: `A refund of ${money} for order ${order.tradeNo} failed: its payer did not get it, and the money is back at the gateway. Please refund it in another way, or give the credit again.`,
    },
  })
}
