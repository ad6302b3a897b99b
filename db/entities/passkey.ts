import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** The public half of a WebAuthn credential. */
export const Passkey = defineEntity({
  name: 'Passkey',
  tableName: 'passkeys',
  properties: {
    id: p.integer().primary().autoincrement(),
    userId: p.integer().index(),
    /** What its owner calls it. */
    name: p.text(),
    /** base64url, as browsers say it. */
    credentialId: p.text().unique(),
    /** COSE, base64url. */
    publicKey: p.text(),
    /** As the device counts, where it does; one that goes back was copied. */
    signCount: p.bigint('number').defaultRaw('0'),
    transports: p.json().$type<string[]>().defaultRaw(`'[]'`),
    /** The host it was made for: no other may ask for it. */
    site: p.text(),
    /** Kept by a password manager on several devices. */
    isSynced: p.boolean().default(false),
    createdAt: p.datetime().defaultRaw('now()'),
    usedAt: p.datetime().nullable(),
  },
})

export type Passkey = InferEntity<typeof Passkey>
