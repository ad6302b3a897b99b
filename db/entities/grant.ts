import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** Every change of a balance that is not a call; unique on kind and key, never deleted. */
export const Grant = defineEntity({
  name: 'Grant',
  tableName: 'grants',
  uniques: [{ properties: ['kind', 'key'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    kind: p.text(),
    key: p.text(),
    userId: p.integer().index(),
    amount: p.bigint('number'),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export type Grant = InferEntity<typeof Grant>
