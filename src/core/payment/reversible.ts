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

/** The part of the credit whose money went back and that was not taken back yet; 0 where there is nothing to take. */
export function reversibleQuota({ status, quota, refundedMinor, moneyMinor, paidAt, reversedQuota }: Money): number {
  const isAll = status === 'refunded' || status === 'disputed'
  if (!paidAt || (!isAll && refundedMinor === 0)) return 0
  return Math.max(0, (isAll ? quota : exactShare([quota, refundedMinor], moneyMinor, 'down')) - reversedQuota)
}
