import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

export const Message = defineEntity({
  name: 'Message',
  tableName: 'messages',
  properties: {
    id: p.integer().primary().autoincrement(),
    title: p.text(),
    content: p.text(),
    format: p.text().default('markdown'),
    authorId: p.integer().default(0),
    createdAt: p.datetime().defaultRaw('now()').index(),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
})

export type Message = InferEntity<typeof Message>
