import { User } from '#db/entities/user.ts'
import { DomainError } from '#core/errors.ts'
import { userStatus } from '#core/statuses.ts'
import type { Deps } from '../../deps.ts'
import { type SignedInUser, toSignedInUser } from '../../users/view.ts'
import { startSession } from '../session.ts'

export type Proof = {
  userId: number
  /** Whether what was proved is still so, asked of the row as it is when the session begins. */
  stillHolds: (user: User) => boolean
}

/**
 * The one end of every sign-in, by password, provider or messenger: whoever proved who they are gets a session under a new
 * id. Proving took a while, in which the password may have been replaced, the binding removed or the account banned.
 */
export async function completeSignIn(deps: Deps, proof: Proof): Promise<SignedInUser> {
  return deps.em.transactional(async (em) => {
    const user = await lockUser(em, proof.userId)
    if (!user || user.deletedAt || user.status !== userStatus.active || !proof.stillHolds(user)) {
      throw new DomainError('login.failed')
    }
    await startSession({ ...deps, em }, user.id)
    return toSignedInUser(user)
  })
}

/** Until the transaction ends nobody replaces the password or a binding; what only counts or books is not held up. */
async function lockUser(em: Deps['em'], id: number): Promise<User | null> {
  await em
    .getConnection()
    .execute('select 1 from users where id = ? for key share', [id], 'all', em.getTransactionContext())
  return em.findOne(User, { id }, { disableIdentityMap: true })
}
