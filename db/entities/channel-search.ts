import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What a channel is searched by, in small letters. A trigger of the channels keeps it. */
export const ChannelSearch = defineEntity({
  name: 'ChannelSearch',
  tableName: 'channel_search',
  properties: {
    channelId: p.integer().primary().autoincrement(false),
    /** Comma-joined. */
    models: p.text().default(''),
  },
})

export type ChannelSearch = InferEntity<typeof ChannelSearch>
