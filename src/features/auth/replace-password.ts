import { User } from '#db/entities/user.ts'
import type { Deps } from '../deps.ts'
import { endSessionsOf } from './session.ts'

/**
 * A new password, by whichever door, and the end of all that whoever knew the old one may have got with it: sessions other
 * than the one that asks, the system access token, a mailed link. Part of the caller's transaction.
 */
export async function replacePassword(
  deps: Deps,
  userId: number,
  { passwordHash, keepsOwnSession }: { passwordHash: string; keepsOwnSession: boolean },
): Promise<void> {
  const { em } = deps
  await em.nativeUpdate(User, { id: userId }, { passwordHash, mustChangePassword: false, accessTokenHash: null })
  await em.getConnection().execute(
    `delete from one_time_codes where purpose = 'password-reset'
     and subject = (select email_normalized from users where id = ?)`,
    [userId],
    'run',
    em.getTransactionContext(),
  )
  await endSessionsOf(deps, userId, keepsOwnSession)
}
