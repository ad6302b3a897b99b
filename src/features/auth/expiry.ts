import type { Services } from '../deps.ts'

/** Removes sessions, codes and sign-ins under way whose time is over; nobody accepts them any more, they only take room. */
export async function removeExpired({ database }: Pick<Services, 'database'>): Promise<{ removed: number }> {
  const results = await Promise.all([
    database.pool.query('delete from sessions where expires_at < now()'),
    database.pool.query('delete from sign_in_challenges where expires_at < now()'),
    database.pool.query('delete from one_time_codes where expires_at < now()'),
    database.pool.query('delete from oauth_states where expires_at < now()'),
  ])
  return { removed: results.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0) }
}
