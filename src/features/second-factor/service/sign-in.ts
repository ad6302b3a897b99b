import { DomainError } from '#core/errors.ts'
import { completeSignIn } from '../../auth/service/complete-sign-in.ts'
import type { Deps } from '../../deps.ts'
import type { SignIn } from '../../users/view.ts'
import type { BySignature } from '../schema.ts'
import { countAnswer, readChallenge, takeChallenge } from './challenges.ts'
import { requireSignature, signatureOptions } from './passkey-signature.ts'
import { requireCode } from './verify.ts'

const anyState = () => true

/** The second half of a sign-in, for whoever proved the first in this browser just now. */
async function finish(deps: Deps, prove: (scope: Deps, userId: number) => Promise<unknown>): Promise<SignIn> {
  const asked = await countAnswer(deps, 'second-step')
  if (!asked) throw new DomainError('login.second_step_expired')
  return completeSignIn(deps, {
    userId: asked.userId,
    // A replaced password, a ban or a deletion has taken the question away.
    stillHolds: anyState,
    secondFactor: async (scope) => {
      await prove(scope, asked.userId)
      if (!(await takeChallenge(scope, 'second-step'))) throw new DomainError('login.second_step_expired')
    },
  })
}

/** @throws {DomainError} login.second_step_expired */
export const finishWithCode = (deps: Deps, { code }: { code: string }): Promise<SignIn> =>
  finish(deps, (scope, userId) => requireCode(scope, userId, code))

/** @throws {DomainError} login.second_step_expired */
export async function secondStepPasskeyOptions(deps: Deps) {
  const asked = await readChallenge(deps, 'second-step')
  if (!asked) throw new DomainError('login.second_step_expired')
  return signatureOptions(deps, asked.userId)
}

/** @throws {DomainError} login.second_step_expired */
export const finishWithPasskey = (deps: Deps, input: BySignature): Promise<SignIn> =>
  finish(deps, (scope, userId) => requireSignature(scope, input, userId))

export const passkeyLoginOptions = (deps: Deps) => signatureOptions(deps, null)

/** A passkey alone is two proofs: the device, and the finger or PIN it asked for. */
export async function loginWithPasskey(deps: Deps, input: BySignature): Promise<SignIn> {
  const { userId } = await requireSignature(deps, input, null)
  return completeSignIn(deps, { userId, stillHolds: anyState, secondFactor: async () => {} })
}
