import { DomainError } from '#core/errors.ts'
import { Authenticator } from '#db/entities/authenticator.ts'
import { SignInChallenge } from '#db/entities/sign-in-challenge.ts'
import { recordAct } from '../../audit/service.ts'
import { lockActor } from '../../auth/replace-password.ts'
import { tryOnce } from '../../auth/throttle.ts'
import type { UserDeps } from '../../deps.ts'
import { getUser } from '../../users/service/administer.ts'
import { lockTarget } from '../../users/service/target.ts'
import { newSecret, useOneTimePassword } from './authenticator.ts'
import { forgetLastFactor, forgetSecondFactor } from './forget.ts'
import { renewRecoveryCodes } from './recovery-codes.ts'
import { type SecondFactor, secondFactorOf } from './standing.ts'
import { markVerified, requireCode } from './verify.ts'

const none: SecondFactor = { authenticator: false, passkeys: 0, recoveryCodes: 0 }

export const getStatus = async ({ em, actor }: UserDeps): Promise<SecondFactor> =>
  (await secondFactorOf(em, actor.id)) ?? none

/** The secret for an app, shown until the app's first password is entered. @throws {DomainError} second_factor.already_enabled */
export async function setUpAuthenticator(deps: UserDeps): Promise<{ secret: string; uri: string }> {
  return deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    await lockActor(scope)
    if ((await secondFactorOf(em, deps.actor.id))?.authenticator) throw new DomainError('second_factor.already_enabled')
    return newSecret(scope, deps.actor)
  })
}

/**
 * From now on the app is asked. With the first second factor come the recovery codes.
 * @throws {DomainError} second_factor.code_wrong
 */
export async function enableAuthenticator(
  deps: UserDeps,
  { code }: { code: string },
): Promise<{ recoveryCodes: string[] | null }> {
  const { id, username } = deps.actor
  return deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    await lockActor(scope)
    const before = await secondFactorOf(em, id)
    const token = code.replace(/\s/g, '')
    const isRight = () => useOneTimePassword(scope, id, { token, of: 'unconfirmed' })
    if (!(await tryOnce(deps, { purpose: 'second-factor', account: String(id) }, isRight))) {
      throw new DomainError('second_factor.code_wrong')
    }
    await recordAct(scope, { action: 'account.enable_totp', targetType: 'user', targetId: id, targetName: username })
    await markVerified(scope)
    return { recoveryCodes: before === null ? await renewRecoveryCodes(scope, id) : null }
  })
}

/** @throws {DomainError} second_factor.not_enabled */
export async function disableAuthenticator(deps: UserDeps): Promise<void> {
  const { id, username } = deps.actor
  await deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    await lockActor(scope)
    if ((await em.nativeDelete(Authenticator, { userId: id, confirmedAt: { $ne: null } })) === 0) {
      throw new DomainError('second_factor.not_enabled')
    }
    await forgetLastFactor(scope, id)
    await recordAct(scope, { action: 'account.disable_totp', targetType: 'user', targetId: id, targetName: username })
  })
}

/** @throws {DomainError} second_factor.not_enabled */
export async function replaceRecoveryCodes(deps: UserDeps): Promise<{ recoveryCodes: string[] }> {
  const { id, username } = deps.actor
  return deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    await lockActor(scope)
    if ((await secondFactorOf(em, id)) === null) throw new DomainError('second_factor.not_enabled')
    const named = { targetType: 'user', targetId: id, targetName: username }
    await recordAct(scope, { action: 'account.renew_recovery_codes', ...named })
    return { recoveryCodes: await renewRecoveryCodes(scope, id) }
  })
}

/** As the documented paths do it: the code comes with the act. */
export async function disableByCode(deps: UserDeps, { code }: { code: string }): Promise<void> {
  await requireCode(deps, deps.actor.id, code)
  await disableAuthenticator(deps)
}

export async function replaceRecoveryCodesByCode(
  deps: UserDeps,
  { code }: { code: string },
): Promise<{ recoveryCodes: string[] }> {
  await requireCode(deps, deps.actor.id, code)
  return replaceRecoveryCodes(deps)
}

/**
 * For somebody who lost all of it and proved by other means who they are; by a higher role only.
 * @throws {DomainError} user.target_forbidden, second_factor.not_enabled
 */
export async function resetOfUser(deps: UserDeps, { id }: { id: number }): Promise<void> {
  await deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    const { target, actorRole } = await lockTarget(scope, id)
    if (actorRole <= target.role) throw new DomainError('user.target_forbidden')
    const before = await secondFactorOf(em, id)
    if (before === null) throw new DomainError('second_factor.not_enabled')
    await forgetSecondFactor(scope, id)
    await em.nativeDelete(SignInChallenge, { userId: id })
    await recordAct(scope, {
      action: 'users.reset_second_factor',
      targetType: 'user',
      targetId: id,
      targetName: target.username,
      before,
    })
  })
}

export async function getStatusOfUser(deps: UserDeps, { id }: { id: number }): Promise<SecondFactor> {
  const user = await getUser(deps, { id })
  return (await secondFactorOf(deps.em, user.id)) ?? none
}
