import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** One user's one use of one code; the key makes a second use impossible. */
export const RedemptionUse = defineEntity({
  name: 'RedemptionUse',
  tableName: 'redemption_uses',
  properties: {
    redemptionId: p.integer().primary(),
    userId: p.integer().primary(),
    usedAt: p.datetime().defaultRaw('now()'),
  },
})

export type RedemptionUse = InferEntity<typeof RedemptionUse>
