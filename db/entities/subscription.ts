import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

export type SubscriptionStatus = 'active' | 'expired' | 'cancelled' | 'refunded'

/** A plan that a user has, under the terms of its purchase. Its windows are spend caps of scope `subscription`. */
export const Subscription = defineEntity({
  name: 'Subscription',
  tableName: 'subscriptions',
  uniques: [{ properties: ['source', 'key'] }],
  indexes: [{ properties: ['userId', 'status'] }, { properties: ['status', 'endsAt'] }],
  properties: {
    id: p.integer().primary().autoincrement(),
    userId: p.integer(),
    planId: p.integer().index(),
    name: p.text(),
    models: p.array().default([]),
    balancePays: p.boolean(),
    status: p.text().$type<SubscriptionStatus>().default('active'),
    /** How it was bought, with what makes that happen once: a number of the purchase, or of the order. */
    source: p.text().$type<'balance' | 'order'>(),
    key: p.text(),
    /** Internal units. */
    price: p.bigint('number'),
    /** What it has paid for calls, and what of that was given back. */
    usedQuota: p.bigint('number').defaultRaw('0'),
    refundedQuota: p.bigint('number').defaultRaw('0'),
    startsAt: p.datetime(),
    endsAt: p.datetime(),
    createdAt: p.datetime().defaultRaw('now()'),
    /** When it came to its end, in whatever way. */
    endedAt: p.datetime().nullable(),
  },
})

export type Subscription = InferEntity<typeof Subscription>
