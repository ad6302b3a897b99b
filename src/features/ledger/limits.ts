/** How much the ledger takes at once, and how long it waits. */
export const ledgerLimits = {
  /** Items of one transaction. */
  largestBatch: 500,
  /** Items that wait for their turn in one queue. */
  mostWaiting: 20_000,
  /** Items of one user that may wait for a row of theirs that somebody keeps locked. */
  mostLockedPerUser: 1000,
  /** A reservation that has waited so long for its turn is not made any more: the caller comes again. */
  reserveWaitMs: 5000,
  /** So long a charge may take while its caller waits for the end of the answer. */
  settleDeadlineMs: 10_000,
  /** So often the database may refuse a charge on its own before it is set aside. */
  mostRefusals: 3,
  /** Reservations of a token in a second, and charges seen of it, from which on it is leased for. */
  leaseFromCalls: 10,
  /** So many of a token's recent charges balance and token have to hold. */
  leaseCalls: 1000,
  /** And so many times the lease. */
  leaseShare: 8,
  /** Seconds of the token's recent spending that a lease covers, beside what its calls have under way. */
  leaseSeconds: 1.5,
  /** A lease that nothing was set aside from for so long goes back. */
  leaseIdleMs: 3000,
  /** So long nothing is leased for whom leases were given back. */
  leasePauseMs: 5000,
}
