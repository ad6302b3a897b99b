import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** How the models of a channel differ from those that its upstream listed last. */
export const ChannelDrift = defineEntity({
  name: 'ChannelDrift',
  tableName: 'channel_drifts',
  properties: {
    channelId: p.integer().primary().autoincrement(false),
    /** Comma-joined: listed upstream, not served here. */
    added: p.text().default(''),
    /** Comma-joined: served here, not listed upstream. */
    missing: p.text().default(''),
    /** Why there was nothing to compare with; "" when there was. */
    problem: p.text().default(''),
    checkedAt: p.datetime().defaultRaw('now()'),
  },
})

export type ChannelDrift = InferEntity<typeof ChannelDrift>
