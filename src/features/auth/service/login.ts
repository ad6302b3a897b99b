import { DomainError } from '#core/errors.ts'
import { userStatus } from '#core/statuses.ts'
import { User } from '#db/entities/user.ts'
import type { Deps } from '../../deps.ts'
import { normaliseEmail } from '../../users/email.ts'
import { type SignedInUser, type SignIn, toSignedInUser } from '../../users/view.ts'
import { requireBotCheck } from '../bot-check.ts'
import { isPassword } from '../password.ts'
import type { Login } from '../schema.ts'
import { endSession } from '../session.ts'
import { tryOnce } from '../throttle.ts'
import { completeSignIn } from './complete-sign-in.ts'

/**
 * Signs in under a new session. Unknown, wrong, banned and deleted read and take alike.
 * @throws {DomainError} login.password_disabled, login.failed
 */
export async function login(deps: Deps, input: Login): Promise<SignIn> {
  if (!deps.options.get('PasswordLoginEnabled')) throw new DomainError('login.password_disabled')
  await requireBotCheck(deps, input.turnstile)
  const user = await findByLogin(deps, input.username)
  // Name and mail address of one account share its attempts; spellings that nobody has count with the name they look like.
  const account = user?.username ?? input.username
  const isRight = async (): Promise<boolean> => {
    const fits = await isPassword(user?.passwordHash, input.password)
    return fits && !user?.deletedAt && user?.status === userStatus.active
  }
  if (!(await tryOnce(deps, { purpose: 'login', account }, isRight)) || !user) throw new DomainError('login.failed')
  return completeSignIn(deps, { userId: user.id, stillHolds: (row) => row.passwordHash === user.passwordHash })
}

/** What looks like an address is one first, so that nobody shuts its owner out by taking it as a username. */
async function findByLogin({ em }: Deps, text: string): Promise<User | null> {
  const email = text.includes('@') ? normaliseEmail(text) : null
  const named = email === null ? { username: text } : { $or: [{ emailNormalized: email }, { username: text }] }
  const found = await em.find(User, named, { limit: 2, disableIdentityMap: true })
  return found.find(({ emailNormalized }) => emailNormalized === email) ?? found[0] ?? null
}

export const logout = (deps: Deps): Promise<void> => endSession(deps)

/** The person signed in, or null. */
export async function whoAmI(deps: Deps): Promise<SignedInUser | null> {
  if (!deps.actor) return null
  return toSignedInUser(await deps.em.findOneOrFail(User, { id: deps.actor.id }, { disableIdentityMap: true }))
}
