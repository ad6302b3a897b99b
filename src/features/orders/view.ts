import type { TopUpOrder } from '#db/entities/top-up-order.ts'
import type { TopUpOrderEvent } from '#db/entities/top-up-order-event.ts'
import { moneyText } from '#core/payment/money.ts'
import { reversibleQuota } from '#core/payment/reversible.ts'
import { roles } from '#core/roles.ts'

/** An order as its owner sees it. */
export const toOrderView = (order: TopUpOrder) => ({
  id: order.id,
  tradeNo: order.tradeNo,
  quota: order.quota,
  /** The plan that it buys instead of credit. */
  planName: order.plan?.name ?? null,
  currency: order.currency,
  money: moneyText(order.moneyMinor, order.currency),
  refunded: order.refundedMinor > 0 ? moneyText(order.refundedMinor, order.currency) : null,
  gateway: order.gateway,
  method: order.method,
  status: order.status,
  createdAt: order.createdAt,
  paidAt: order.paidAt ?? null,
  reversedAt: order.reversedAt ?? null,
})

export type OrderView = ReturnType<typeof toOrderView>

/** Whose order it is, of which rank, and who has invited them. */
export type OrderOwner = { username: string; role: number; invitedBy: string }

const nobody: OrderOwner = { username: '', role: roles.guest, invitedBy: '' }

/** An order as administrators see it. */
export const toAdminOrderView = (order: TopUpOrder, { username, role, invitedBy }: OrderOwner = nobody) => ({
  ...toOrderView(order),
  userId: order.userId,
  username,
  /** Administrators act on orders of lower ranks only. */
  userRole: role,
  invitedBy,
  merchant: order.merchant,
  /** What of its credit may be taken back now. */
  reversibleQuota: reversibleQuota(order),
  checkoutId: order.checkoutId ?? null,
  paymentId: order.paymentId ?? null,
})

export type AdminOrderView = ReturnType<typeof toAdminOrderView>

export const toEventView = (event: TopUpOrderEvent) => ({
  id: event.id,
  kind: event.kind,
  detail: event.detail ?? {},
  actorName: event.actorName,
  createdAt: event.createdAt,
})

export type OrderEventView = ReturnType<typeof toEventView>
