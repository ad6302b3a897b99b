import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** One act of somebody with rights over others, or over an account. Never altered: the database refuses updates and deletions. */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entries',
  indexes: [
    { properties: ['targetType', 'targetId', 'id'] },
    { properties: ['actorId', 'id'] },
    { properties: ['action', 'id'] },
  ],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    /** 0: the product itself. */
    actorId: p.integer().default(0),
    /** As it was then. */
    actorName: p.text().default(''),
    /** `users.disable`, `options.set`: the feature and what was done. */
    action: p.text(),
    /** `user`, `token`, `option` … */
    targetType: p.text(),
    targetId: p.text(),
    targetName: p.text().default(''),
    /** Only what changed; secrets never. */
    before: p.json().$type<Record<string, unknown>>().nullable(),
    after: p.json().$type<Record<string, unknown>>().nullable(),
    reason: p.text().default(''),
    clientIp: p.text().default(''),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export type AuditEntry = InferEntity<typeof AuditEntry>
