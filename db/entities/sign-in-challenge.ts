import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What a browser was asked and has not answered yet: the second step of a sign-in, or a signature by a passkey. */
export const SignInChallenge = defineEntity({
  name: 'SignInChallenge',
  tableName: 'sign_in_challenges',
  properties: {
    sessionHash: p.text().primary(),
    purpose: p.text().primary(),
    /** Who proved the first half; 0 where a passkey will say who it is. */
    userId: p.integer().default(0).index(),
    /** What the passkey is to sign. */
    challenge: p.text().default(''),
    attempts: p.smallint().default(0),
    expiresAt: p.datetime(),
  },
})

export type SignInChallenge = InferEntity<typeof SignInChallenge>
