import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** One test of a channel; the newest make its health strip. */
export const ChannelProbe = defineEntity({
  name: 'ChannelProbe',
  tableName: 'channel_probes',
  indexes: [{ properties: ['channelId', 'id'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    channelId: p.integer(),
    model: p.text(),
    success: p.boolean(),
    message: p.text().default(''),
    durationMs: p.integer(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export type ChannelProbe = InferEntity<typeof ChannelProbe>
