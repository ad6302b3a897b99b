import { moneyText } from '#core/payment/money.ts'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import type { Services } from '../deps.ts'
import { plainNotices } from '../notifications/notice.ts'
import { notifyRoot } from '../notifications/service.ts'
import { bookRebate } from '../rebates/service.ts'
import { creditOrder, type Credited, lockOrder, noteEvent } from './ledger.ts'
import type { GatewayId } from './schema.ts'

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

type NotifyDeps = Pick<Services, 'database' | 'options' | 'ambient' | 'log' | 'secrets' | 'transport' | 'guardedFetch'>

/** Credits a proven payment if it is the one that was ordered. Resolves once that is committed. */
export async function receivePayment(services: NotifyDeps, payment: Payment): Promise<Verdict> {
  const outcome = await services.database.orm.em.fork().transactional(async (em) => {
    const order = await lockOrder(em, payment)
    if (!order) return { verdict: 'nothing' } as const
    const mismatch = mismatchOf(order, payment)
    if (mismatch) {
      await noteEvent(em, order.id, { kind: 'refused', detail: { what: mismatch, ...described(payment) } })
      return { verdict: 'refused', mismatch } as const
    }
    if (order.paidAt || order.status === 'refunded' || order.status === 'disputed') {
      // An administrator was quicker; refunds are found by this number.
      if (!order.paymentId && payment.paymentId) {
        await em.nativeUpdate(TopUpOrder, { id: order.id }, { paymentId: payment.paymentId })
      }
      return { verdict: 'nothing' } as const
    }
    const credited = await creditOrder({ ...services, em }, order, {
      note: { kind: 'paid', detail: described(payment) },
      paymentId: payment.paymentId,
    })
    return { verdict: 'credited', credited } as const
  })
  if (outcome.verdict === 'refused') alert(services, payment, outcome.mismatch)
  if (outcome.verdict === 'credited') await afterCredit(services, payment.tradeNo, outcome.credited)
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
  money: moneyMinor === null ? '' : `${moneyText(moneyMinor, currency)} ${currency}`,
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
  void notifyRoot(services, notice)
}

/** What follows a credit and must not undo it. */
export async function afterCredit(
  services: NotifyDeps,
  tradeNo: string,
  { rebate, orphaned }: Credited,
): Promise<void> {
  if (orphaned) {
    const notice = plainNotices('payment_orphaned', {
      zh: {
        title: '已支付订单的账户不存在',
        content: `订单 ${tradeNo} 已支付，但下单的账户已被删除，未入账，请处理退款。`,
      },
      en: {
        title: 'The account of a paid order is gone',
        content: `Order ${tradeNo} was paid, but its account has been deleted. Nothing was credited. Please refund it.`,
      },
    })
    void notifyRoot(services, notice)
  }
  await bookRebate(services, rebate)
}

/** The payer did not pay, or cannot any more. A payment that comes all the same is credited. */
export async function closeOrder(
  services: NotifyDeps,
  { tradeNo, gateway }: Pick<Payment, 'tradeNo' | 'gateway'>,
  status: 'expired' | 'failed',
): Promise<void> {
  await services.database.orm.em.fork().transactional(async (em) => {
    const order = await lockOrder(em, { tradeNo })
    if (order?.status !== 'pending' || order.gateway !== gateway) return
    await em.nativeUpdate(TopUpOrder, { id: order.id }, { status })
    await noteEvent(em, order.id, { kind: status })
  })
}
