import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What an inviter is owed for one credit of the invited; a credit can owe one only. */
export const Rebate = defineEntity({
  name: 'Rebate',
  tableName: 'rebates',
  indexes: [{ properties: ['bookedAt', 'createdAt'] }],
  properties: {
    /** The kind of grant it comes from, and its key. */
    source: p.text().primary(),
    key: p.text().primary(),
    /** The inviter. */
    userId: p.integer().index(),
    invitedId: p.integer(),
    amount: p.bigint('number'),
    /** What of it went back, or is not to be booked, because its credit went back. */
    reversedAmount: p.bigint('number').defaultRaw('0'),
    createdAt: p.datetime().defaultRaw('now()'),
    /** Null while it is owed. */
    bookedAt: p.datetime().nullable(),
  },
})

export type Rebate = InferEntity<typeof Rebate>
