import { exactShare } from './exact.ts'

/** What an order bought for how much, and what of both went back. */
type Money = {
  status: string
  quota: number
  moneyMinor: number
  refundedMinor: number
  reversedQuota: number
  paidAt?: Date | null | undefined
}

/** The part of the credit whose money went back by refunds: all of it also where a gateway names more than was paid. */
export const refundedShare = ({
  status,
  quota,
  refundedMinor,
  moneyMinor,
}: Pick<Money, 'status' | 'quota' | 'refundedMinor' | 'moneyMinor'>): number =>
  status === 'refunded'
    ? quota
    : refundedMinor === 0
      ? 0
      : Math.min(quota, exactShare([quota, refundedMinor], moneyMinor, 'down'))

/** The part of the credit whose money went back and that was not taken back yet; 0 where there is nothing to take. */
export function reversibleQuota(order: Money): number {
  const { status, quota, paidAt, reversedQuota } = order
  if (!paidAt) return 0
  return Math.max(0, (status === 'disputed' ? quota : refundedShare(order)) - reversedQuota)
}
