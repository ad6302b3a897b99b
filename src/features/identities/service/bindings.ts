import { DomainError } from '#core/errors.ts'
import { User } from '#db/entities/user.ts'
import { recordAct } from '../../audit/service.ts'
import { lockActor } from '../../auth/replace-password.ts'
import { waysToSignIn } from '../../auth/ways-to-sign-in.ts'
import type { UserDeps } from '../../deps.ts'
import { withTakenErrors } from '../../users/service/taken.ts'
import { type Provider, providers, type Unbind } from '../schema.ts'
import type { Identity } from './profile.ts'
import { columnsOf, hasIdentity, identityOf, isEnabled, providerFacts, refusalOf, unboundColumns } from './providers.ts'

export type BindingView = {
  provider: Provider
  label: string
  /** The id at the provider, "" where none is bound. */
  id: string
  /** The site lets people sign in by it. */
  enabled: boolean
  /** Without it nobody could sign in to the account any more. */
  isOnlyWay: boolean
}

const rowOf = ({ em, actor }: UserDeps): Promise<User> =>
  em.findOneOrFail(User, { id: actor.id }, { disableIdentityMap: true })

/** Every provider that the site offers or that the account is bound to. */
export async function listBindings(deps: UserDeps): Promise<BindingView[]> {
  const user = await rowOf(deps)
  const ways = await waysToSignIn(deps, user)
  return providers
    .map((provider) => ({
      provider,
      label: providerFacts[provider].label,
      id: identityOf(user, provider),
      enabled: isEnabled(deps, provider),
      isOnlyWay: !ways.some((way) => way !== provider),
    }))
    .filter(({ id, enabled }) => enabled || id !== '')
}

/**
 * Gives the signed-in user an identity that nobody has, people who left included; the table decides who was first. One that
 * is bound is not replaced, since whoever could swap it would have the account.
 */
export async function bindIdentity(deps: UserDeps, provider: Provider, identity: Identity): Promise<void> {
  await withTakenErrors(() =>
    deps.em.transactional(async (em) => {
      await lockActor({ ...deps, em })
      const user = await rowOf({ ...deps, em })
      if (identityOf(user, provider) !== '') {
        throw refusalOf(hasIdentity(user, provider, identity) ? 'already_bound' : 'other_bound', provider)
      }
      await em.nativeUpdate(User, { id: user.id }, columnsOf(provider, identity))
      const after = { [provider]: identity.id, ...(identity.issuer ? { issuer: identity.issuer } : {}) }
      await recordAct({ ...deps, em }, { action: 'account.bind', ...targetOf(user), after })
    }),
  )
}

/** @throws {DomainError} identity.only_way when nobody could sign in to the account any more */
export async function unbindIdentity(deps: UserDeps, { provider }: Unbind): Promise<void> {
  await deps.em.transactional(async (em) => {
    await lockActor({ ...deps, em })
    const user = await rowOf({ ...deps, em })
    const id = identityOf(user, provider)
    if (id === '') throw new DomainError('identity.not_bound')
    const ways = await waysToSignIn({ ...deps, em }, user)
    if (!ways.some((way) => way !== provider)) throw new DomainError('identity.only_way')
    await em.nativeUpdate(User, { id: user.id }, unboundColumns(provider))
    await recordAct({ ...deps, em }, { action: 'account.unbind', ...targetOf(user), before: { [provider]: id } })
  })
}

const targetOf = ({ id, username }: User) => ({ targetType: 'user', targetId: id, targetName: username })
