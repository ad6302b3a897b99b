import type { Deps } from '../../deps.ts'
import type { OAuthProvider } from '../schema.ts'
import type { Profile } from './profile.ts'

/** The page of ours that a provider leads back to. */
export const pageOf = (origin: string, provider: OAuthProvider): string => `${origin}/oauth/${provider}`

/** A sign-in that is about to leave for the provider. */
type Departure = {
  state: string
  redirectUri: string
}

/** A browser that came back with a code. */
export type Return = Departure & {
  code: string
  issuer: string
  /** Whether PKCE and nonce went along. */
  isOwnStart: boolean
}

/** How one provider is spoken to; it answers with refusals alone (`ask.ts`). */
export type OAuthConversation = {
  /** Where the browser goes to ask for a code. */
  authorizationAddress: (deps: Deps, departure: Departure) => Promise<string>
  /** Turns the code into the person. */
  profileOf: (deps: Deps, answer: Return) => Promise<Profile>
}

export function addressWith(base: string, parameters: Record<string, string>): string {
  const url = new URL(base)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

export const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString()
export const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' }
