import { LockMode } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { Session } from '#db/entities/session.ts'
import { User } from '#db/entities/user.ts'
import type { Deps, UserDeps } from '../deps.ts'
import { endSessionsOf } from './session.ts'

/**
 * A new password, by whichever route, and the end of all that whoever knew the old one may have got with it: sessions other
 * than the one that asks, the system access token, a mailed link. Part of the caller's transaction.
 */
export async function replacePassword(
  deps: Pick<Deps, 'em' | 'session'>,
  userId: number,
  { passwordHash, keepsOwnSession }: { passwordHash: string; keepsOwnSession: boolean },
): Promise<void> {
  const { em } = deps
  // Waits for log-ins that are just being let in, whose sessions are then deleted with the others.
  await em.findOne(User, { id: userId }, { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true })
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

/**
 * Locks the row of whoever asks, in the caller's transaction, and looks once more whether what they came with still counts.
 * A password that was replaced after the request had been let in has ended it, and nothing may be made by it that stays.
 * @throws {DomainError} session.required
 */
export async function lockActor({ em, actor, session }: UserDeps): Promise<void> {
  const own = { id: actor.id, deletedAt: null }
  const user = await em.findOne(User, own, { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true })
  const counts =
    actor.accessTokenHash === undefined
      ? session.idHash !== null && (await em.count(Session, { idHash: session.idHash, userId: actor.id })) > 0
      : user?.accessTokenHash === actor.accessTokenHash
  if (!user || !counts) throw new DomainError('session.required')
}
