import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** An id that an upstream keeps (a stored response): its maker, and the channel and key a later call must go to. */
export const StoredResponse = defineEntity({
  name: 'UpstreamObject',
  tableName: 'upstream_objects',
  properties: {
    id: p.text().primary(),
    userId: p.integer(),
    channelId: p.integer(),
    keyHmac: p.text(),
    /** As its maker wrote it; empty for what older versions stored. */
    model: p.text().default(''),
    /** What a call that goes on there makes the upstream read; null where that is not known. */
    conversationTokens: p.integer().nullable(),
    createdAt: p.datetime().defaultRaw('now()').index(),
  },
})

export type StoredResponse = InferEntity<typeof StoredResponse>
