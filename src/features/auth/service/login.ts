import { DomainError } from '#core/errors.ts'
import { userStatus } from '#core/statuses.ts'
import { User } from '#db/entities/user.ts'
import type { Deps } from '../../deps.ts'
import { normaliseEmail } from '../../users/email.ts'
import { type SignedInUser, toSignedInUser } from '../../users/view.ts'
import { requireBotCheck } from '../bot-check.ts'
import { isPassword } from '../password.ts'
import type { Login } from '../schema.ts'
import { endSession, startSession } from '../session.ts'
import { checkLoginThrottle, countLoginFailure } from '../throttle.ts'

/** Signs in under a new session. Unknown, wrong, banned and deleted read and take alike. */
export async function login(deps: Deps, input: Login): Promise<SignedInUser> {
  if (!deps.options.get('PasswordLoginEnabled')) throw new DomainError('login.password_disabled')
  await requireBotCheck(deps, input.turnstile)
  await checkLoginThrottle(deps, input.username)
  const user = await findByLogin(deps, input.username)
  const fits = await isPassword(user?.passwordHash, input.password)
  if (!user || !fits || user.deletedAt || user.status !== userStatus.active) {
    await countLoginFailure(deps, input.username)
    throw new DomainError('login.failed')
  }
  await startSession(deps, user.id)
  return toSignedInUser(user)
}

/** What looks like an address is one first, so that nobody shuts its owner out by taking it as a username. */
async function findByLogin({ em }: Deps, text: string): Promise<User | null> {
  const byEmail = text.includes('@')
    ? await em.findOne(User, { emailNormalized: normaliseEmail(text) }, { disableIdentityMap: true })
    : null
  return byEmail ?? em.findOne(User, { username: text }, { disableIdentityMap: true })
}

export const logout = (deps: Deps): Promise<void> => endSession(deps)

/** The person signed in, or null. */
export async function whoAmI(deps: Deps): Promise<SignedInUser | null> {
  if (!deps.actor) return null
  return toSignedInUser(await deps.em.findOneOrFail(User, { id: deps.actor.id }, { disableIdentityMap: true }))
}
