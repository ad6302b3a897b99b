import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** The state of one credential of a channel, by its place in the key text. */
export const ChannelKey = defineEntity({
  name: 'ChannelKey',
  tableName: 'channel_keys',
  properties: {
    channelId: p.integer().primary(),
    position: p.integer().primary(),
    keyHmac: p.text().index(),
    /** As the channel's: 1 enabled, 2 by hand, 3 automatically disabled. */
    status: p.smallint().default(1),
    statusReason: p.text().default(''),
    statusAt: p.datetime().nullable(),
  },
})

export type ChannelKey = InferEntity<typeof ChannelKey>
