import { ledgerLimits } from './limits.ts'

const { leaseCalls, leaseSeconds, leaseShare } = ledgerLimits

/** Asks for a lease; `voided` once nobody wants it any more. */
export type LeaseTake = {
  take: { id: number; userId: number; tokenId: number; amount: number; floor: number; voided: boolean }
}
/** Gives back what this process has leased of a user and its calls under way do not need. */
export type LeaseReturn = { returnsOf: number }

/** A lease that was granted, and what balance and token (null: unlimited) have beside all leases. */
export type Granted = { userFree: number; tokenFree: number | null }

export type Lease = Granted & {
  id: number
  payer: Payer
  size: number
  /** What is left of it, in the database too once nothing is in flight. */
  amount: number
  /** What of it calls under way have set aside. */
  reserved: number
  calls: number
  closing: boolean
  /** The database has it no more. */
  lost: boolean
  usedAt: number
}

/** A token, and how it is used of late. */
export type Payer = {
  userId: number
  tokenId: number
  current: Lease | null
  taking: LeaseTake | null
  notBefore: number
  calls: number
  callsBefore: number
  /** A moving mean of its charges, and how many there were. */
  cost: number
  charges: number
  underWay: number
}

export const newPayer = ({ userId, tokenId }: { userId: number; tokenId: number }): Payer => ({
  userId,
  tokenId,
  current: null,
  taking: null,
  notBefore: 0,
  calls: 0,
  callsBefore: 0,
  cost: 0,
  charges: 0,
  underWay: 0,
})

/** What one of its charges says of the next. */
export function learnCost(payer: Payer, quota: number): void {
  payer.charges += 1
  payer.cost += (quota - payer.cost) / Math.min(payer.charges, 20)
}

/**
 * How large a lease of a busy payer is, by what its calls lately cost and now have under way, and what balance and token have to
 * have, so that it is a small part of both; null for a payer that is not busy.
 */
export function leaseFor(payer: Payer, fromCalls: number): { amount: number; floor: number } | null {
  const rate = Math.max(payer.calls, payer.callsBefore)
  if (rate < fromCalls || payer.charges < fromCalls) return null
  const amount = Math.max(1, Math.ceil(payer.cost * rate * leaseSeconds + 2 * payer.underWay))
  return { amount, floor: Math.ceil(Math.max(leaseCalls * payer.cost, leaseShare * amount)) }
}
