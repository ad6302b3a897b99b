import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What one process may give the calls of one token without asking. It keeps a part of the balance from others and moves nothing. */
export const Lease = defineEntity({
  name: 'Lease',
  tableName: 'leases',
  properties: {
    /** Given by the process. */
    id: p.bigint('number').primary().autoincrement(false),
    nodeId: p.integer().index(),
    userId: p.integer().index(),
    tokenId: p.integer().index(),
    amount: p.bigint('number'),
    /** Nothing new is set aside from it. */
    closing: p.boolean().default(false),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export type Lease = InferEntity<typeof Lease>
