import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What was spent and is held under a cap, by pieces of a rolling window or by whole calendar windows. */
export const SpendCapBucket = defineEntity({
  name: 'SpendCapBucket',
  tableName: 'spend_cap_buckets',
  properties: {
    capId: p.integer().primary(),
    /** The Unix second at which it begins. */
    bucket: p.bigint('number').primary(),
    amount: p.bigint('number').defaultRaw('0'),
  },
})

export type SpendCapBucket = InferEntity<typeof SpendCapBucket>
