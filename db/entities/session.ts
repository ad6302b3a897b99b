import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** `turnstile`: the bot check was passed; `spent` once an account was made by it, which lets in still but makes no other. */
export type SessionData = { turnstile?: true | 'spent' }

/** A browser's session; `userId` 0 while nobody is signed in (OAuth state, bot check). */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    /** SHA-256 of the cookie's opaque id. */
    idHash: p.text().primary(),
    /** What its owner calls it by; says nothing of the cookie. */
    publicId: p.uuid().defaultRaw('gen_random_uuid()').index(),
    userId: p.integer().default(0).index(),
    data: p.json().$type<SessionData>().defaultRaw(`'{}'`),
    /** Where it was last used from. */
    clientIp: p.text().default(''),
    userAgent: p.text().default(''),
    /** When its owner last proved the second factor in it. */
    verifiedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    seenAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime().index(),
  },
})

export type Session = InferEntity<typeof Session>
