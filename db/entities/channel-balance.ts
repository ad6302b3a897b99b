import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What an upstream said was left, beside what had been counted as spent there by then. */
export const ChannelBalance = defineEntity({
  name: 'ChannelBalance',
  tableName: 'channel_balances',
  indexes: [{ name: 'channel_balances_channel_id_id_index', properties: ['channelId', 'id'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    channelId: p.integer(),
    balance: p.double(),
    /** Billionths of a US dollar. */
    usedCost: p.bigint('number'),
    readAt: p.datetime().defaultRaw('now()'),
  },
})

export type ChannelBalance = InferEntity<typeof ChannelBalance>
