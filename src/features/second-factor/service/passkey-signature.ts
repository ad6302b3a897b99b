import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import { raw } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { Passkey } from '#db/entities/passkey.ts'
import type { Deps } from '../../deps.ts'
import type { BySignature } from '../schema.ts'
import { openChallenge, takeChallenge } from './challenges.ts'
import { relyingPartyOf } from './relying-party.ts'

/** Loaded by those who use passkeys only. */
const library = () => import('@simplewebauthn/server')

/**
 * What the browser asks a passkey to sign. For a user it names theirs; without a user any passkey of this site may answer and
 * says by itself whose it is, having asked for a finger or a PIN.
 */
export async function signatureOptions(
  deps: Deps,
  userId: number | null,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const party = relyingPartyOf(deps)
  const own =
    userId === null ? [] : await deps.em.find(Passkey, { userId, site: party.id }, { disableIdentityMap: true })
  const { generateAuthenticationOptions } = await library()
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    userVerification: userId === null ? 'required' : 'preferred',
    allowCredentials: own.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: transports as ('usb' | 'nfc' | 'ble' | 'internal' | 'hybrid')[],
    })),
  })
  await openChallenge(deps, 'passkey-signature', { userId: userId ?? 0, challenge: options.challenge })
  return options
}

/**
 * Whose passkey signed what this browser was just asked, each challenge once.
 * @throws {DomainError} passkey.refused
 */
export async function requireSignature(
  deps: Deps,
  { response }: BySignature,
  userId: number | null,
): Promise<{ userId: number }> {
  const party = relyingPartyOf(deps)
  const asked = await takeChallenge(deps, 'passkey-signature')
  const passkey = await deps.em.findOne(
    Passkey,
    { credentialId: response.id, site: party.id, ...(userId === null ? {} : { userId }) },
    { disableIdentityMap: true },
  )
  if (!asked || asked.userId !== (userId ?? 0) || !passkey) throw new DomainError('passkey.refused')
  const { verifyAuthenticationResponse } = await library()
  const verdict = await verifyAuthenticationResponse({
    response,
    expectedChallenge: asked.challenge,
    expectedOrigin: party.origins,
    expectedRPID: party.id,
    requireUserVerification: userId === null,
    credential: {
      id: passkey.credentialId,
      publicKey: Buffer.from(passkey.publicKey, 'base64url'),
      counter: passkey.signCount,
    },
  }).catch((cause: unknown) => {
    throw new DomainError('passkey.refused', {}, { cause })
  })
  if (!verdict.verified) throw new DomainError('passkey.refused')
  // Of two signatures with one count one is a copy's.
  const counted = await deps.em.nativeUpdate(
    Passkey,
    { id: passkey.id, signCount: passkey.signCount },
    { signCount: verdict.authenticationInfo.newCounter, usedAt: raw('now()') },
  )
  if (counted === 0) throw new DomainError('passkey.refused')
  return { userId: passkey.userId }
}
