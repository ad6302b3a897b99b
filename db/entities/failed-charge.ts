import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** A charge that the database refused for what it says; its hold stays open until an operator decides. */
export const FailedCharge = defineEntity({
  name: 'FailedCharge',
  tableName: 'failed_charges',
  properties: {
    /** The request id. */
    id: p.text().primary(),
    userId: p.integer(),
    tokenId: p.integer().default(0),
    channelId: p.integer().default(0),
    /** Null where the price itself was not a number. */
    quota: p.bigint('number').nullable(),
    /** The whole charge as JSON text. */
    row: p.text(),
    error: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export type FailedCharge = InferEntity<typeof FailedCharge>
