import type { RouterOutputs } from '#server/app-router.ts'
import type { PlainText } from '../../i18n/t.ts'
import { text } from '../../i18n/t.ts'

export type Wallet = RouterOutputs['user']['wallet']['get']
export type Method = Wallet['methods'][number]
export type Offer = RouterOutputs['user']['plans']['list'][number]
export type Subscription = RouterOutputs['user']['subscriptions']['list'][number]
export type Order = RouterOutputs['user']['orders']['list']['items'][number]

const names: Record<Method['method'], PlainText> = {
  zfb: text('支付宝'),
  wx: text('微信支付'),
  stripe: text('银行卡 (Stripe)'),
}

export const methodName = (method: Method['method']): PlainText => names[method]

const gatewayNames: Record<string, PlainText> = { alipay: names.zfb, wxpay: names.wx }

/** Where one's order is shown as it is printed. */
export const receiptAddress = (tradeNo: string): string => `/app/wallet/receipt?order=${encodeURIComponent(tradeNo)}`

/** How an order is paid. */
export const orderMethod = ({ gateway, method }: Pick<Order, 'gateway' | 'method'>): PlainText =>
  gatewayNames[method] ?? (gateway === 'stripe' ? names.stripe : text('在线充值'))
