import { DomainError } from '#core/errors.ts'
import type { Deps } from '../../deps.ts'
import { requireOwner } from '../../second-factor/verification.ts'
import { refuseInDemo } from '../../site/demo.ts'
import type { SignIn } from '../../users/view.ts'
import type { BeginState, FinishOAuth, OAuthProvider, StartOAuth } from '../schema.ts'
import { bindIdentity } from './bindings.ts'
import { github } from './github.ts'
import { linuxdo } from './linuxdo.ts'
import { type OAuthConversation, pageOf } from './oauth-provider.ts'
import { oidc } from './oidc.ts'
import { presentable } from './profile.ts'
import { providerFacts, requireEnabled } from './providers.ts'
import { signInByIdentity } from './sign-in.ts'
import { isOwnBinding, makeState, type TakenState, takeState } from './states.ts'

const conversations: Record<OAuthProvider, OAuthConversation> = { github, oidc, linuxdo }

export type Finished = { outcome: 'signed-in'; user: SignIn } | { outcome: 'bound' }

/** A state alone, for browsers that write the provider's address themselves. */
export async function beginState(deps: Deps, { inviteCode }: BeginState): Promise<string> {
  return (await makeState(deps, { provider: '', inviteCode })).state
}

/** The address at the provider to send the browser to; whoever is signed in binds there. */
export async function startOAuth(deps: Deps, { provider, inviteCode }: StartOAuth): Promise<{ address: string }> {
  requireEnabled(deps, provider)
  const { state, origin } = await makeState(deps, { provider, inviteCode })
  const departure = { state, redirectUri: pageOf(origin, provider) }
  return { address: await conversations[provider].authorizationAddress(deps, departure) }
}

/**
 * What the provider's answer comes to: a binding for whoever set out signed in, else a sign-in, or a first one.
 * @throws {DomainError} oauth.state_mismatch, oauth.code_missing, session.required
 */
export async function finishOAuth(deps: Deps, input: FinishOAuth): Promise<Finished> {
  const { provider, state } = input
  // A proof that ran out on the way is asked for while the state and the code still count, so that both serve the next attempt.
  // States are handed out without it, since nobody knows yet whether they sign in or bind.
  if (deps.actor && (await isOwnBinding(deps, provider, state))) {
    await requireOwner({ ...deps, actor: deps.actor })
  }
  const taken = await takeState(deps, provider, state)
  if (!taken) throw new DomainError('oauth.state_mismatch')
  if (taken.userId > 0) refuseInDemo(deps)
  requireEnabled(deps, provider)
  if (input.error !== '') throw denial(input)
  if (input.code === '') throw new DomainError('oauth.code_missing')
  const profile = await conversations[provider].profileOf(deps, {
    state,
    code: input.code,
    issuer: input.issuer,
    redirectUri: pageOf(taken.origin, provider),
    isOwnStart: taken.isOwnStart,
  })
  if (taken.userId > 0) {
    const own = samePerson(deps, taken)
    await requireOwner(own)
    await bindIdentity(own, provider, profile)
    return { outcome: 'bound' }
  }
  const user = await signInByIdentity(deps, { provider, profile, inviteCode: taken.inviteCode })
  return { outcome: 'signed-in', user }
}

/** Nobody binds what somebody else set out for, and whoever has been banned meanwhile signs in as nobody. */
function samePerson(deps: Deps, { userId }: TakenState): Deps & { actor: NonNullable<Deps['actor']> } {
  const { actor } = deps
  if (actor?.id !== userId) throw new DomainError('session.required')
  return { ...deps, actor }
}

function denial({ provider, error, errorDescription }: FinishOAuth): DomainError {
  const detail = presentable(errorDescription).length > 0 ? errorDescription : error
  return new DomainError('oauth.denied', { provider: providerFacts[provider].label, detail: detail.slice(0, 200) })
}
