import { DomainError } from '#core/errors.ts'
import type { UserDeps } from '../deps.ts'
import { secondFactorOf } from './service/standing.ts'

const minutesValid = 10

/**
 * What shows secrets, gives money away or changes how one signs in wants a proof by the second factor that is at most ten
 * minutes old, of those who have one. A system access token can give none.
 * @throws {DomainError} second_factor.required, second_factor.not_by_access_token
 */
export async function requireRecentVerification(deps: UserDeps): Promise<void> {
  const missing = await missingVerification(deps)
  if (missing) throw new DomainError(missing)
}

/**
 * What adds a way in or a second factor wants the former factor proved; of whoever has none, that the password was typed or the
 * sign-in is at most ten minutes old: with a stolen session somebody else could add their own, which outlasts the session and may
 * shut the owner out. A system access token can add none.
 * @throws {DomainError} second_factor.required, second_factor.not_by_access_token, second_factor.owner_unconfirmed
 */
export async function requireOwner(deps: UserDeps): Promise<void> {
  const { em, actor, session } = deps
  if ((await secondFactorOf(em, actor.id)) !== null) return requireRecentVerification(deps)
  const [row] = await em.getConnection().execute<{ recent: boolean }[]>(
    `select greatest(created_at, verified_at) > now() - make_interval(mins => ?) as recent
       from sessions where id_hash = ? and user_id = ?`,
    [minutesValid, session.idHash, actor.id],
    'all',
    em.getTransactionContext(),
  )
  if (row?.recent !== true) throw new DomainError('second_factor.owner_unconfirmed')
}

/** For what is answered either way, with its secrets or with masks in their place. */
export const isVerified = async (deps: UserDeps): Promise<boolean> => (await missingVerification(deps)) === undefined

type Missing = 'second_factor.required' | 'second_factor.not_by_access_token'

async function missingVerification({ em, actor, session }: UserDeps): Promise<Missing | undefined> {
  if ((await secondFactorOf(em, actor.id)) === null) return undefined
  if (actor.via === 'access-token') return 'second_factor.not_by_access_token'
  const [row] = await em
    .getConnection()
    .execute<{ recent: boolean | null }[]>(
      `select verified_at > now() - make_interval(mins => ?) as recent from sessions where id_hash = ? and user_id = ?`,
      [minutesValid, session.idHash, actor.id],
      'all',
      em.getTransactionContext(),
    )
  return row?.recent === true ? undefined : 'second_factor.required'
}
