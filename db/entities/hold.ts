import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** Quota set aside for one call under way. Settled holds are deleted; released ones stay for a day. */
export const Hold = defineEntity({
  name: 'Hold',
  tableName: 'holds',
  properties: {
    /** The request id, always ours. */
    id: p.text().primary(),
    userId: p.integer(),
    /** 0: no token (playground). */
    tokenId: p.integer().default(0).index(),
    amount: p.bigint('number').defaultRaw('0'),
    /** What was taken from the token; 0 for an unlimited one. */
    tokenAmount: p.bigint('number').defaultRaw('0'),
    /** Spend caps it counts in: id to bucket; null for none. */
    caps: p.json().$type<Record<string, number>>().nullable(),
    /** The subscription that holds `planAmount` of `amount`, and the bucket of each of its windows. */
    subscriptionId: p.integer().nullable(),
    planAmount: p.bigint('number').defaultRaw('0'),
    planWindows: p.json().$type<Record<string, number>>().nullable(),
    nodeId: p.integer().index(),
    status: p.text().default('open'),
    createdAt: p.datetime().defaultRaw('now()'),
    releasedAt: p.datetime().nullable(),
  },
})

export type Hold = InferEntity<typeof Hold>
