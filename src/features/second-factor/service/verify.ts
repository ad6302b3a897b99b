import { raw } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { Session } from '#db/entities/session.ts'
import { User } from '#db/entities/user.ts'
import { isPassword } from '../../auth/password.ts'
import { tryOnce } from '../../auth/throttle.ts'
import { recordAct } from '../../audit/service.ts'
import type { Deps, UserDeps } from '../../deps.ts'
import type { BySignature } from '../schema.ts'
import { isOneTimePassword, useOneTimePassword } from './authenticator.ts'
import { secondFactorOf } from './standing.ts'
import { requireSignature } from './passkey-signature.ts'
import { useRecoveryCode } from './recovery-codes.ts'

/** Takes a one-time password or a recovery code. @throws {DomainError} second_factor.code_wrong, rate_limited */
export async function requireCode(deps: Deps, userId: number, code: string): Promise<void> {
  const token = code.replace(/\s/g, '')
  const isPassword = isOneTimePassword(token)
  // Counted apart: whoever guesses at the short ones leaves the owner the long ones.
  const purpose = isPassword ? 'second-factor' : 'recovery-code'
  const fits = await tryOnce(deps, { purpose, account: String(userId) }, () =>
    isPassword ? useOneTimePassword(deps, userId, { token, of: 'confirmed' }) : useRecoveryCode(deps, userId, token),
  )
  if (!fits) throw new DomainError('second_factor.code_wrong')
  if (!isPassword) {
    await recordAct(deps, { action: 'account.use_recovery_code', targetType: 'user', targetId: userId })
  }
}

/** From now on, for ten minutes, this session may do what is asked for again. */
export async function markVerified({ em, session }: Pick<Deps, 'em' | 'session'>): Promise<void> {
  await em.nativeUpdate(Session, { idHash: session.idHash ?? '' }, { verifiedAt: raw('now()') })
}

export async function verifyWithCode(deps: UserDeps, { code }: { code: string }): Promise<void> {
  await deps.em.transactional(async (em) => {
    await requireCode({ ...deps, em }, deps.actor.id, code)
    await markVerified({ ...deps, em })
  })
}

/**
 * Of whoever has no second factor yet; the password alone proves nothing where there is one.
 * @throws {DomainError} second_factor.required, user.password_wrong, rate_limited
 */
export async function confirmByPassword(deps: UserDeps, { password }: { password: string }): Promise<void> {
  const { em, actor } = deps
  if ((await secondFactorOf(em, actor.id)) !== null) throw new DomainError('second_factor.required')
  const { passwordHash } = await em.findOneOrFail(User, { id: actor.id }, { disableIdentityMap: true })
  const attempt = { purpose: 'confirm-password', account: String(actor.id) } as const
  if (!(await tryOnce(deps, attempt, () => isPassword(passwordHash, password)))) {
    throw new DomainError('user.password_wrong')
  }
  await markVerified(deps)
}

export async function verifyWithPasskey(deps: UserDeps, input: BySignature): Promise<void> {
  await requireSignature(deps, input, deps.actor.id)
  await markVerified(deps)
}
