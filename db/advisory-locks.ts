/**
 * Keys of PostgreSQL's advisory locks of one number. Each stands for one purpose: under a shared one, saving a price waits until an
 * index is built. Locks of two numbers are keys of their own, and their first number stands where they are taken.
 */
export const advisoryLock = {
  /** Bringing the schema up to date. */
  schema: 7300,
  /** Adding up hours of usage, and lowering these sums; `roll_up_usage()` takes it. */
  usageRollup: 7301,
  searchIndexes: 7302,
  /** Writing options: prices and group names are parts of several. */
  priceTables: 7303,
} as const
