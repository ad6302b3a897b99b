import { User } from '#db/entities/user.ts'
import { DomainError } from '#core/errors.ts'
import { userStatus } from '#core/statuses.ts'
import type { Deps } from '../../deps.ts'
import { openChallenge } from '../../second-factor/service/challenges.ts'
import { type SecondFactor, secondFactorOf } from '../../second-factor/service/standing.ts'
import { markVerified } from '../../second-factor/service/verify.ts'
import { type SecondStep, type SignIn, toSignedInUser } from '../../users/view.ts'
import { startSession } from '../session.ts'
import { passkeysHere } from '../ways-to-sign-in.ts'

export type Proof = {
  userId: number
  /** Whether what was proved is still so, asked of the row as it is when the session begins. */
  stillHolds: (user: User) => boolean
  /**
   * Proves the second factor within the transaction, and throws where it does not. Absent: whoever has one is asked for it
   * before the session begins.
   */
  secondFactor?: (scope: Deps) => Promise<unknown>
}

/**
 * The one end of every sign-in, by password, provider or messenger: whoever proved who they are gets a session under a new
 * id, or is asked for the second factor. Proving took a while, in which the password may have been replaced, the binding removed or the account banned.
 * @throws {DomainError} login.failed
 */
export async function completeSignIn(deps: Deps, proof: Proof): Promise<SignIn> {
  return deps.em.transactional(async (em) => {
    const user = await lockUser(em, proof.userId)
    if (!user || user.deletedAt || user.status !== userStatus.active || !proof.stillHolds(user)) {
      throw new DomainError('login.failed')
    }
    const scope = { ...deps, em }
    const factor = await secondFactorOf(em, user.id)
    if (factor && !proof.secondFactor) return askForSecondStep(scope, user.id, factor)
    await proof.secondFactor?.(scope)
    await startSession(scope, user.id)
    if (factor) await markVerified(scope)
    return toSignedInUser(user)
  })
}

async function askForSecondStep(scope: Deps, userId: number, factor: SecondFactor): Promise<SecondStep> {
  await startSession(scope, 0)
  await openChallenge(scope, 'second-step', { userId, challenge: '' })
  const { passkeys: _, ...others } = factor
  return { secondStep: { ...others, passkey: (await passkeysHere(scope, userId)) > 0 } }
}

/** Until the transaction ends nobody replaces the password or a binding; what only counts or books is not held up. */
async function lockUser(em: Deps['em'], id: number): Promise<User | null> {
  await em
    .getConnection()
    .execute('select 1 from users where id = ? for key share', [id], 'all', em.getTransactionContext())
  return em.findOne(User, { id }, { disableIdentityMap: true })
}
