import { moneyWithCurrency } from '#core/payment/money.ts'
import { type OrderStatus, TopUpOrder } from '#db/entities/top-up-order.ts'
import { plainNotices } from '../notifications/notice.ts'
import { notifyRoot } from '../notifications/service.ts'
import { afterCredit, type NotifyDeps } from './after-credit.ts'
import { announce, learnPayment, lockPayment } from './gateway-events.ts'
import { creditOrder, lockOrder, noteEvent } from './ledger.ts'
import { heldBack } from './disputes.ts'
import { type GatewayId, openStatuses } from './schema.ts'

/** What a gateway has proved to have said of a payment. */
export type Payment = {
  gateway: GatewayId
  tradeNo: string
  /** In the smallest unit; null where the gateway wrote no amount. */
  moneyMinor: number | null
  currency: string
  merchant: string
  /** Where the gateway names it, it has to be the one that the payer was sent to. */
  checkoutId?: string | undefined
  paymentId?: string | undefined
}

/** `nothing`: paid already, or no order of ours. `refused`: it does not fit the order, and somebody has to look. */
export type Verdict = 'credited' | 'nothing' | 'refused'

/** Credits a proven payment if it is the one that was ordered. Resolves once that is committed. */
export async function receivePayment(services: NotifyDeps, payment: Payment): Promise<Verdict> {
  const outcome = await services.database.orm.em.fork().transactional(async (em) => {
    if (payment.gateway === 'stripe') await lockPayment(em, { ...payment, mode: payment.merchant })
    const found = await lockOrder(em, payment)
    if (!found) return { verdict: 'nothing', early: [] } as const
    const mismatch = mismatchOf(found, payment)
    if (mismatch) {
      await noteEvent(em, found.id, { kind: 'refused', detail: { what: mismatch, ...described(payment) } })
      return { verdict: 'refused', mismatch, early: [] } as const
    }
    const scope = { ...services, em }
    const { order, early } = await learnPayment(scope, found, payment.paymentId)
    if (order.paidAt || order.status === 'refunded') return { verdict: 'nothing', early } as const
    if (order.status === 'disputed') {
      await heldBack(em, order, described(payment))
      return { verdict: 'nothing', early } as const
    }
    const credited = await creditOrder(scope, order, {
      note: { kind: 'paid', detail: described(payment) },
      paymentId: payment.paymentId,
    })
    return { verdict: 'credited', credited, early } as const
  })
  if (outcome.verdict === 'refused') alert(services, payment, outcome.mismatch)
  if (outcome.verdict === 'credited') await afterCredit(services, payment.tradeNo, outcome.credited)
  await announce(services, outcome.early)
  return outcome.verdict
}

/** What of a payment is not as it was ordered. */
function mismatchOf(order: TopUpOrder, payment: Payment): string | null {
  if (order.gateway !== payment.gateway) return 'gateway'
  if (order.merchant !== payment.merchant) return 'merchant'
  if (order.currency !== payment.currency) return 'currency'
  if (order.moneyMinor !== payment.moneyMinor) return 'money'
  if (payment.checkoutId !== undefined && order.checkoutId !== payment.checkoutId) return 'checkout'
  return null
}

const described = ({ gateway, moneyMinor, currency, merchant, paymentId }: Payment): Record<string, string> => ({
  gateway,
  merchant,
  money: moneyMinor === null ? '' : moneyWithCurrency(moneyMinor, currency),
  ...(paymentId ? { paymentId } : {}),
})

function alert(services: NotifyDeps, payment: Payment, what: string): void {
  services.log.warn({ order: payment.tradeNo, what, ...described(payment) }, 'a payment does not fit its order')
  const notice = plainNotices('payment_mismatch', {
    zh: {
      title: '支付通知与订单不符',
      content: `订单 ${payment.tradeNo} 收到签名有效但与订单不符（${what}）的支付通知，未入账，请核对。`,
    },
    en: {
      title: 'A payment does not fit its order',
      content: `A payment notification for order ${payment.tradeNo} has a valid signature but does not fit the order (${what}). Nothing was credited. Please check.`,
    },
  })
  void notifyRoot(services, notice, payment.tradeNo)
}

/** From where an order comes to a status before it is paid. One may have been given up when its payer did their part. */
const reachedFrom = {
  processing: ['pending', 'expired'],
  expired: openStatuses,
  failed: openStatuses,
} as const satisfies Record<string, readonly OrderStatus[]>

/** The payer did their part, did not pay, or cannot any more. A payment that comes all the same is credited. */
export async function moveUnpaid(
  services: NotifyDeps,
  { tradeNo, gateway }: Pick<Payment, 'tradeNo' | 'gateway'>,
  status: keyof typeof reachedFrom,
): Promise<void> {
  const from: readonly OrderStatus[] = reachedFrom[status]
  await services.database.orm.em.fork().transactional(async (em) => {
    const order = await lockOrder(em, { tradeNo })
    if (!order || !from.includes(order.status) || order.gateway !== gateway) return
    await em.nativeUpdate(TopUpOrder, { id: order.id }, { status })
    await noteEvent(em, order.id, { kind: status })
  })
}
