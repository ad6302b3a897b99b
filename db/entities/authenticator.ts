import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** An app that shows one-time passwords (RFC 6238). It counts from the moment its first password was entered. */
export const Authenticator = defineEntity({
  name: 'Authenticator',
  tableName: 'authenticators',
  properties: {
    userId: p.integer().primary().autoincrement(false),
    secretEncrypted: p.text(),
    /** Of the last password taken; none is taken again, nor one before it. */
    lastStep: p.bigint('number').defaultRaw('0'),
    /** Null while it is being set up. */
    confirmedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export type Authenticator = InferEntity<typeof Authenticator>
