import { exactShare } from './exact.ts'

/** What an order bought for how much, and what of both went back. */
type Money = {
  status: string
  quota: number
  moneyMinor: number
  refundedMinor: number
  disputedMinor: number
  reversedQuota: number
  paidAt?: Date | null | undefined
}

/** The part of the credit whose money went back or is disputed: all of it also where a gateway names more than was paid. */
export function withdrawnShare({
  status,
  quota,
  refundedMinor,
  disputedMinor,
  moneyMinor,
}: Omit<Money, 'reversedQuota' | 'paidAt'>): number {
  if (status === 'refunded') return quota
  // Older versions, which may run beside this one, change the status and not the amount.
  const disputed = status === 'disputed' ? disputedMinor || moneyMinor : 0
  const withdrawn = refundedMinor + disputed
  return withdrawn === 0 ? 0 : Math.min(quota, exactShare([quota, withdrawn], moneyMinor, 'down'))
}

/** What of that part was not taken back yet; 0 where there is nothing to take. */
export const reversibleQuota = (order: Money): number =>
  order.paidAt ? Math.max(0, withdrawnShare(order) - order.reversedQuota) : 0
