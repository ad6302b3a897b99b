import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** A code that turns into quota, once or (gift codes) once per user up to a limit. */
export const Redemption = defineEntity({
  name: 'Redemption',
  tableName: 'redemptions',
  properties: {
    id: p.integer().primary().autoincrement(),
    /** The creator. */
    userId: p.integer(),
    name: p.text().index(),
    keyHash: p.text().unique(),
    keyEncrypted: p.text(),
    status: p.smallint().default(1),
    quota: p.bigint('number').defaultRaw('0'),
    isGift: p.boolean().default(false),
    /** -1 without limit. */
    maxUses: p.integer().default(-1),
    usedCount: p.integer().default(0),
    usedUserId: p.integer().default(0),
    validFrom: p.datetime().nullable(),
    validUntil: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    redeemedAt: p.datetime().nullable(),
    deletedAt: p.datetime().nullable(),
  },
})

export type Redemption = InferEntity<typeof Redemption>
