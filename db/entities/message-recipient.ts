import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

export const MessageRecipient = defineEntity({
  name: 'MessageRecipient',
  tableName: 'message_recipients',
  indexes: [{ properties: ['userId', 'messageId'] }, { properties: ['userId', 'readAt'] }],
  properties: {
    messageId: p.integer().primary(),
    userId: p.integer().primary(),
    readAt: p.datetime().nullable(),
  },
})

export type MessageRecipient = InferEntity<typeof MessageRecipient>
