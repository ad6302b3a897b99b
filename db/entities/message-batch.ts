import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** A batch of messages at an upstream, and what it is charged by once it has ended. */
export const MessageBatch = defineEntity({
  name: 'MessageBatch',
  tableName: 'message_batches',
  indexes: [
    { name: 'message_batches_user_id_created_at_id_index', properties: ['userId', 'createdAt', 'id'] },
    { name: 'message_batches_unsettled_index', properties: ['polledAt'], where: '"settled_at" is null' },
  ],
  properties: {
    /** The upstream's. */
    id: p.text().primary(),
    userId: p.integer(),
    tokenId: p.integer(),
    channelId: p.integer(),
    keyHmac: p.text(),
    /** How each model of it is charged, and by which hold. */
    facts: p.json(),
    /** As the upstream described it last. */
    answer: p.json(),
    createdAt: p.datetime().defaultRaw('now()'),
    polledAt: p.datetime().nullable(),
    /** Charged, or given back. */
    settledAt: p.datetime().nullable(),
  },
})

export type MessageBatch = InferEntity<typeof MessageBatch>
