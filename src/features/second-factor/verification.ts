import { DomainError } from '#core/errors.ts'
import type { UserDeps } from '../deps.ts'
import { secondFactorOf } from './service/standing.ts'

const minutesValid = 10

/**
 * What shows secrets, gives money away or changes how one signs in wants a proof by the second factor that is at most ten
 * minutes old, of those who have one. A system access token can give none.
 * @throws {DomainError} second_factor.required, second_factor.not_by_access_token
 */
export async function requireRecentVerification({ em, actor, session }: UserDeps): Promise<void> {
  if ((await secondFactorOf(em, actor.id)) === null) return
  if (actor.via === 'access-token') throw new DomainError('second_factor.not_by_access_token')
  const [row] = await em
    .getConnection()
    .execute<{ recent: boolean | null }[]>(
      `select verified_at > now() - make_interval(mins => ?) as recent from sessions where id_hash = ? and user_id = ?`,
      [minutesValid, session.idHash, actor.id],
      'all',
      em.getTransactionContext(),
    )
  if (row?.recent !== true) throw new DomainError('second_factor.required')
}
