import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

export const Note = defineEntity({
  name: 'Note',
  tableName: 'notes',
  properties: {
    id: p.integer().primary().autoincrement(),
    userId: p.integer().index(),
    content: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export type Note = InferEntity<typeof Note>
