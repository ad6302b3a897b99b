import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** A former key of a token, while it still works after the key was changed. */
export const RetiredTokenKey = defineEntity({
  name: 'RetiredTokenKey',
  tableName: 'retired_token_keys',
  properties: {
    keyHash: p.text().primary(),
    tokenId: p.integer().index(),
    keyMask: p.text(),
    worksUntil: p.datetime(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export type RetiredTokenKey = InferEntity<typeof RetiredTokenKey>
