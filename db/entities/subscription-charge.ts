import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What a subscription paid for one call, so that a refund goes back there. */
export const SubscriptionCharge = defineEntity({
  name: 'SubscriptionCharge',
  tableName: 'subscription_charges',
  properties: {
    /** The request's. */
    id: p.text().primary(),
    subscriptionId: p.integer(),
    amount: p.bigint('number'),
    /** The buckets in which it was counted, by window. */
    windows: p.json().$type<Record<string, number>>(),
    createdAt: p.datetime().defaultRaw('now()').index(),
  },
})

export type SubscriptionCharge = InferEntity<typeof SubscriptionCharge>
