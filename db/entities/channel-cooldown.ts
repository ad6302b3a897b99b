import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** A cooldown of a channel's key for a model after failures, as one process sees it. */
export const ChannelCooldown = defineEntity({
  name: 'ChannelCooldown',
  tableName: 'channel_cooldowns',
  properties: {
    channelId: p.integer().primary().autoincrement(false),
    /** Position among the channel's keys. */
    key: p.integer().primary().autoincrement(false),
    model: p.text().primary(),
    nodeId: p.integer().primary().autoincrement(false),
    until: p.datetime(),
    /** What the upstream answered last. */
    status: p.integer().default(0),
    reason: p.text().default(''),
  },
})

export type ChannelCooldown = InferEntity<typeof ChannelCooldown>
