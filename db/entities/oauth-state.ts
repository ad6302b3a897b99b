import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** A sign-in or binding under way at a provider. Only the hash of its state is kept. */
export const OAuthState = defineEntity({
  name: 'OAuthState',
  tableName: 'oauth_states',
  properties: {
    stateHash: p.text().primary(),
    /** The browser's session it began in, which alone may end it. */
    sessionHash: p.text(),
    /** Who was signed in then and binds; 0 for a sign-in. */
    userId: p.integer().default(0),
    /** "" where only a state was asked for and the browser wrote the provider's address itself, without PKCE and nonce. */
    provider: p.text().default(''),
    /** `scheme://host` the provider sends the browser back to. */
    origin: p.text(),
    inviteCode: p.text().default(''),
    createdAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime().index(),
  },
})

export type OAuthState = InferEntity<typeof OAuthState>
