import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What was said or done in a conversation, in its place. */
export const ConversationItem = defineEntity({
  name: 'ConversationItem',
  tableName: 'conversation_items',
  uniques: [{ name: 'conversation_items_conversation_id_id_unique', properties: ['conversationId', 'id'] }],
  properties: {
    conversationId: p.text().primary(),
    position: p.integer().primary(),
    /** By which its caller names it. */
    id: p.text(),
    bytes: p.integer(),
    /** Compressed and encrypted. */
    sealed: p.text(),
  },
})

export type ConversationItem = InferEntity<typeof ConversationItem>
