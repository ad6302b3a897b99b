import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** A key that a client sent with a request, and what it was answered. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    userId: p.integer().primary(),
    /** The procedure. */
    path: p.text().primary(),
    key: p.text().primary(),
    requestHash: p.text(),
    replyEncrypted: p.text().default(''),
    createdAt: p.datetime().defaultRaw('now()').index(),
  },
})

export type IdempotencyKey = InferEntity<typeof IdempotencyKey>
