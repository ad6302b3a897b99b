import { username as usernameRule } from '#core/account-fields.ts'
import { DomainError } from '#core/errors.ts'
import { isConfusingName } from '#core/similar-names.ts'
import { userStatus } from '#core/statuses.ts'
import { User } from '#db/entities/user.ts'
import { addressProblem } from '../../auth/address-rules.ts'
import { completeSignIn } from '../../auth/service/complete-sign-in.ts'
import type { Deps } from '../../deps.ts'
import { refuseInDemo } from '../../site/demo.ts'
import { isSetUp } from '../../site/setup-service.ts'
import { normaliseEmail } from '../../users/email.ts'
import { createAccount, type NewAccount } from '../../users/service/create-account.ts'
import type { SignIn } from '../../users/view.ts'
import type { Provider } from '../schema.ts'
import { type Identity, type Profile, presentable } from './profile.ts'
import { columnsOf, hasIdentity, providerFacts } from './providers.ts'

type Arrival = { provider: Provider; profile: Profile; inviteCode: string }

/**
 * Signs in whoever the identity belongs to; an unknown one gets an account first, where the site takes new ones.
 * @throws {DomainError} oauth.account_deleted, session.banned
 */
export async function signInByIdentity(deps: Deps, arrival: Arrival): Promise<SignIn> {
  const { provider, profile } = arrival
  const user = (await ownerOf(deps, provider, profile)) ?? (await makeOwner(deps, arrival))
  if (user.deletedAt) throw new DomainError('oauth.account_deleted')
  if (user.status !== userStatus.active) throw new DomainError('session.banned')
  return completeSignIn(deps, {
    userId: user.id,
    stillHolds: (row) => hasIdentity(row, provider, profile),
  })
}

export const ownerOf = ({ em }: Pick<Deps, 'em'>, provider: Provider, identity: Identity): Promise<User | null> =>
  em.findOne(User, columnsOf(provider, identity), { disableIdentityMap: true })

/** Two first arrivals at once make one account, and both are its owner. */
async function makeOwner(deps: Deps, arrival: Arrival): Promise<User> {
  const { provider, profile } = arrival
  try {
    await makeAccount(deps, arrival)
  } catch (error) {
    if (!(error instanceof DomainError) || !error.code.endsWith('.already_bound')) throw error
  }
  const user = await ownerOf(deps, provider, profile)
  if (!user) throw new DomainError('internal')
  return user
}

const maxAttempts = 10

async function makeAccount(deps: Deps, { provider, profile, inviteCode }: Arrival): Promise<void> {
  await admitNewUser(deps, profile)
  const { label } = providerFacts[provider]
  const email = await emailFor(deps, provider, profile)
  for (let attempt = 0; ; attempt += 1) {
    const account: NewAccount = {
      username: await nameFor(deps, { provider, requested: profile.username, attempt }),
      displayName: presentable(profile.displayName) || `${label} 用户`,
      passwordHash: null,
      bindings: columnsOf(provider, profile),
      ...(email === undefined ? {} : { email }),
      inviteCode,
    }
    try {
      await createAccount(deps, account)
      return
    } catch (error) {
      if (!isNameTaken(error) || attempt === maxAttempts) throw error
    }
  }
}

async function admitNewUser(deps: Deps, { trustLevel }: Profile): Promise<void> {
  if (!(await isSetUp(deps))) throw new DomainError('setup.required')
  refuseInDemo(deps)
  if (!deps.options.get('RegisterEnabled')) throw new DomainError('register.disabled')
  const level = deps.options.get('LinuxDOMinimumTrustLevel')
  if (trustLevel !== undefined && trustLevel < level) throw new DomainError('oauth.trust_level_low', { level })
}

/**
 * The address goes along where the site would take it at a sign-up. One that belongs to an account already is no proof of
 * being its owner: nothing is linked, and no second account is made beside it without a word.
 */
async function emailFor(deps: Deps, provider: Provider, { verifiedEmail }: Profile): Promise<string | undefined> {
  if (verifiedEmail === undefined || addressProblem(deps, verifiedEmail)) return undefined
  if ((await deps.em.count(User, { emailNormalized: normaliseEmail(verifiedEmail) })) > 0) {
    throw new DomainError('oauth.email_taken', { provider: providerFacts[provider].label })
  }
  return verifiedEmail
}

type Wanted = { provider: Provider; requested: string | undefined; attempt: number }

/** The name the person has at the provider, else the next number; many who come at once are spread over more and more. */
async function nameFor({ em, ambient }: Deps, { provider, requested, attempt }: Wanted): Promise<string> {
  const fitting = usernameRule.safeParse(requested).data
  if (attempt === 0 && fitting !== undefined && !isConfusingName(fitting) && !fitting.includes('@')) return fitting
  const [row] = await em
    .getConnection()
    .execute<{ highest: number | null }[]>('select max(id) as highest from users', [], 'all')
  const spread = attempt < 2 ? 0 : Math.floor(ambient.random() * 4 ** attempt)
  return `${provider}_${(row?.highest ?? 0) + 1 + spread}`
}

const isNameTaken = (error: unknown): boolean =>
  error instanceof DomainError && (error.code === 'user.username_taken' || error.code === 'user.username_similar')
