import { mayActOn } from '#core/roles.ts'
import type { RouterOutputs } from '#server/app-router.ts'
import type { PlainText } from '../../i18n/t.ts'
import { text } from '../../i18n/t.ts'

export type Order = RouterOutputs['admin']['orders']['list']['items'][number]
export type OrderEvent = RouterOutputs['admin']['orders']['get']['events'][number]

const gateways: Record<string, PlainText> = { epay: text('易支付'), stripe: text('Stripe') }

export const gatewayName = (gateway: string): PlainText => gateways[gateway] ?? text('其他')

const eventNames: Record<string, PlainText> = {
  paid: text('收到支付通知，已入账'),
  completed: text('管理员补单'),
  processing: text('付款处理中，款项尚未到账'),
  refused: text('支付通知与订单不符，未入账'),
  refunded: text('已退款'),
  refund_failed: text('退款失败，款项已退回商户'),
  paid_disputed: text('收到支付通知，但付款人已拒付，暂不入账'),
  disputed: text('付款人拒付'),
  dispute_won: text('拒付已撤销'),
  dispute_lost: text('拒付已成立'),
  reversed: text('管理员收回额度'),
  restored: text('拒付已撤销，已恢复'),
  credited_instead: text('套餐已售罄或达到限购，已改为充值到余额'),
  expired: text('超时未支付，已关闭'),
  failed: text('支付失败'),
  user_missing: text('下单的账户已被删除，未入账'),
}

export const eventName = (kind: string): PlainText => eventNames[kind] ?? text('其他')

type Owned = Pick<Order, 'userRole'>

/** Whether an administrator of this rank may say that it was paid. */
export const mayComplete = (
  { paidAt, status, userRole }: Pick<Order, 'paidAt' | 'status'> & Owned,
  role: number,
): boolean => paidAt === null && status !== 'refunded' && mayActOn(role, userRole)

/** Whether its credit may be taken back by one of this rank. */
export const mayReverse = (
  { reversibleQuota, userRole }: Pick<Order, 'reversibleQuota'> & Owned,
  role: number,
): boolean => reversibleQuota > 0 && mayActOn(role, userRole)
