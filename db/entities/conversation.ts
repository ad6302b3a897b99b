import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** A conversation that a caller keeps at the gateway, for calls in the form of responses. */
export const Conversation = defineEntity({
  name: 'Conversation',
  tableName: 'conversations',
  indexes: [{ name: 'conversations_user_id_used_at_index', properties: ['userId', 'usedAt'] }],
  properties: {
    id: p.text().primary(),
    userId: p.integer(),
    sealedMetadata: p.text(),
    /** Of its items. */
    bytes: p.bigint('number').defaultRaw('0'),
    /** Of the item added last. */
    lastPosition: p.integer().defaultRaw('0'),
    createdAt: p.datetime().defaultRaw('now()'),
    /** Made, gone on from or added to: it expires so long after. */
    usedAt: p.datetime().defaultRaw('now()').index('conversations_used_at_index'),
  },
})

export type Conversation = InferEntity<typeof Conversation>
