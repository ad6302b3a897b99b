import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** One of the ten codes that stand in for a lost second factor, each once. Only its keyed hash is kept. */
export const RecoveryCode = defineEntity({
  name: 'RecoveryCode',
  tableName: 'recovery_codes',
  properties: {
    userId: p.integer().primary(),
    codeHash: p.text().primary(),
    usedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export type RecoveryCode = InferEntity<typeof RecoveryCode>
