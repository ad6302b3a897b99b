import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** Something that happened to an order; kept for whoever has to explain it. */
export const TopUpOrderEvent = defineEntity({
  name: 'TopUpOrderEvent',
  tableName: 'top_up_order_events',
  indexes: [{ properties: ['orderId', 'id'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    orderId: p.integer(),
    kind: p.text(),
    detail: p.json().$type<Record<string, string | number>>().nullable(),
    /** The administrator, where it was one. */
    actorName: p.text().default(''),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export type TopUpOrderEvent = InferEntity<typeof TopUpOrderEvent>
