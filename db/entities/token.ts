import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** An access token a program calls `/v1` with. The key is found by its hash and stored encrypted for the copy button. */
export const Token = defineEntity({
  name: 'Token',
  tableName: 'tokens',
  indexes: [{ properties: ['userId', 'id'] }],
  properties: {
    id: p.integer().primary().autoincrement(),
    userId: p.integer(),
    name: p.text(),
    /** SHA-256 of the 48 characters without `sk-`. */
    keyHash: p.text().unique(),
    keyEncrypted: p.text(),
    /** First and last three characters, for masked display without decrypting. */
    keyMask: p.text(),
    status: p.smallint().default(1),
    remainQuota: p.bigint('number').defaultRaw('0'),
    usedQuota: p.bigint('number').defaultRaw('0'),
    unlimitedQuota: p.boolean().default(false),
    /** Null: never. */
    expiresAt: p.datetime().nullable(),
    modelLimitsEnabled: p.boolean().default(false),
    modelLimits: p.text().default(''),
    allowIps: p.text().default(''),
    /** Empty: the owner's group. */
    group: p.text().default(''),
    rateLimitEnabled: p.boolean().default(false),
    /** Seconds. */
    rateLimitPeriod: p.integer().default(60),
    rateLimitCount: p.integer().default(1000),
    rateLimitSuccess: p.integer().default(10),
    /** Kept by a trigger, so that calls without caps look no further. */
    hasSpendCaps: p.boolean().default(false),
    createdAt: p.datetime().defaultRaw('now()'),
    accessedAt: p.datetime().defaultRaw('now()'),
    deletedAt: p.datetime().nullable(),
  },
})

export type Token = InferEntity<typeof Token>
