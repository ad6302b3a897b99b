import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import { UniqueConstraintViolationException } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { Passkey } from '#db/entities/passkey.ts'
import { User } from '#db/entities/user.ts'
import { recordAct } from '../../audit/service.ts'
import { lockActor } from '../../auth/replace-password.ts'
import { waysToSignIn } from '../../auth/ways-to-sign-in.ts'
import type { UserDeps } from '../../deps.ts'
import type { AddPasskey } from '../schema.ts'
import { type PasskeyView, toPasskeyView } from '../view.ts'
import { openChallenge, takeChallenge } from './challenges.ts'
import { renewRecoveryCodes } from './recovery-codes.ts'
import { relyingPartyOf } from './relying-party.ts'
import { secondFactorOf } from './standing.ts'
import { forgetLastFactor } from './forget.ts'
import { markVerified } from './verify.ts'

const mostPasskeys = 20

/** Loaded by those who use passkeys only. */
const library = () => import('@simplewebauthn/server')

export async function listPasskeys({ em, actor }: UserDeps): Promise<PasskeyView[]> {
  const own = await em.find(Passkey, { userId: actor.id }, { orderBy: { id: 'asc' }, disableIdentityMap: true })
  return own.map(toPasskeyView)
}

/** Asked before a device makes one, and again under the lock: several browsers may have been let begin. */
async function requireRoom({ em, actor }: UserDeps): Promise<void> {
  const count = await em.count(Passkey, { userId: actor.id })
  if (count >= mostPasskeys) throw new DomainError('passkey.too_many', { most: mostPasskeys })
}

/** What the browser asks a device to make. A device that has one of ours already says so. @throws {DomainError} passkey.too_many */
export async function registrationOptions(deps: UserDeps): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { actor, secrets } = deps
  const party = relyingPartyOf(deps)
  await requireRoom(deps)
  const own = await deps.em.find(Passkey, { userId: actor.id }, { disableIdentityMap: true })
  const { generateRegistrationOptions } = await library()
  const options = await generateRegistrationOptions({
    rpName: party.name,
    rpID: party.id,
    userName: actor.username,
    userDisplayName: actor.username,
    // The same for all of a user's, so that a password manager keeps one; and no number that reveals who it is.
    userID: Uint8Array.from(Buffer.from(secrets.hmac(`passkey:${actor.id}`), 'hex')),
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
    excludeCredentials: own.filter(({ site }) => site === party.id).map(({ credentialId: id }) => ({ id })),
  })
  await openChallenge(deps, 'passkey-registration', { userId: actor.id, challenge: options.challenge })
  return options
}

/**
 * Keeps what the device made. With the first second factor come the recovery codes.
 * @throws {DomainError} passkey.refused, passkey.too_many, passkey.known
 */
export async function addPasskey(
  deps: UserDeps,
  { name, response }: AddPasskey,
): Promise<{ recoveryCodes: string[] | null }> {
  const party = relyingPartyOf(deps)
  const asked = await takeChallenge(deps, 'passkey-registration')
  if (!asked || asked.userId !== deps.actor.id) throw new DomainError('passkey.refused')
  const { verifyRegistrationResponse } = await library()
  const verdict = await verifyRegistrationResponse({
    response: { ...response, response: { ...response.response, transports: [] } },
    expectedChallenge: asked.challenge,
    expectedOrigin: party.origins,
    expectedRPID: party.id,
    requireUserVerification: false,
  }).catch((cause: unknown) => {
    throw new DomainError('passkey.refused', {}, { cause })
  })
  if (!verdict.verified) throw new DomainError('passkey.refused')
  const { credential, credentialBackedUp } = verdict.registrationInfo
  try {
    return await deps.em.transactional(async (em) => {
      const scope = { ...deps, em }
      await lockActor(scope)
      await requireRoom(scope)
      const isFirst = (await secondFactorOf(em, deps.actor.id)) === null
      const id = await em.insert(Passkey, {
        userId: deps.actor.id,
        name,
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        signCount: credential.counter,
        transports: response.response.transports,
        site: party.id,
        isSynced: credentialBackedUp,
      })
      await recordAct(scope, { action: 'account.add_passkey', targetType: 'passkey', targetId: id, targetName: name })
      await markVerified(scope)
      return { recoveryCodes: isFirst ? await renewRecoveryCodes(scope, deps.actor.id) : null }
    })
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException)
      throw new DomainError('passkey.known', {}, { cause: error })
    throw error
  }
}

/** @throws {DomainError} passkey.not_found */
export async function renamePasskey({ em, actor }: UserDeps, input: { id: number; name: string }): Promise<void> {
  const renamed = await em.nativeUpdate(Passkey, { id: input.id, userId: actor.id }, { name: input.name })
  if (renamed === 0) throw new DomainError('passkey.not_found')
}

/** @throws {DomainError} identity.only_way when nobody could sign in to the account any more */
export async function removePasskey(deps: UserDeps, { id }: { id: number }): Promise<void> {
  await deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    await lockActor(scope)
    const own = { id, userId: deps.actor.id }
    const passkey = await em.findOne(Passkey, own, { disableIdentityMap: true })
    if (!passkey) throw new DomainError('passkey.not_found')
    await em.nativeDelete(Passkey, own)
    const user = await em.findOneOrFail(User, { id: deps.actor.id }, { disableIdentityMap: true })
    if ((await waysToSignIn(scope, user)).length === 0) throw new DomainError('identity.only_way')
    await forgetLastFactor(scope, deps.actor.id)
    const named = { targetType: 'passkey', targetId: id, targetName: passkey.name }
    await recordAct(scope, { action: 'account.remove_passkey', ...named })
  })
}
