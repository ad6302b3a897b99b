import type { Deps } from '../../deps.ts'
import { rememberInSession } from '../../auth/session.ts'

type Purpose = 'second-step' | 'passkey-registration' | 'passkey-signature'

type Challenge = { userId: number; challenge: string }
type ChallengeDeps = Pick<Deps, 'em' | 'session'>
type Row = { user_id: number; challenge: string }

const minutesValid = 10
const mostAttempts = 5

const execute = ({ em }: ChallengeDeps, sql: string, values: unknown[]): Promise<Row[]> =>
  em.getConnection().execute(sql, values, 'all', em.getTransactionContext())

/** Asks this browser something, and forgets what it was asked before of the same kind. An anonymous one gets a session for it. */
export async function openChallenge(deps: Deps, purpose: Purpose, asked: Challenge): Promise<void> {
  if (deps.session.idHash === null) await rememberInSession(deps, {})
  await execute(
    deps,
    `insert into sign_in_challenges (session_hash, purpose, user_id, challenge, expires_at)
     values (?, ?, ?, ?, now() + make_interval(mins => ?))
     on conflict (session_hash, purpose) do update set
       user_id = excluded.user_id, challenge = excluded.challenge, attempts = 0, expires_at = excluded.expires_at
     returning user_id, challenge`,
    [deps.session.idHash, purpose, asked.userId, asked.challenge, minutesValid],
  )
}

const toChallenge = (row: Row | undefined): Challenge | null =>
  row ? { userId: row.user_id, challenge: row.challenge } : null

/** What this browser was asked, which counts as one answer to it; null once five were wrong or ten minutes are over. */
export async function countAnswer(deps: ChallengeDeps, purpose: Purpose): Promise<Challenge | null> {
  const [row] = await execute(
    deps,
    `update sign_in_challenges set attempts = attempts + 1
     where session_hash = ? and purpose = ? and attempts < ? and expires_at > now() returning user_id, challenge`,
    [deps.session.idHash, purpose, mostAttempts],
  )
  return toChallenge(row)
}

/** What this browser was asked, and nobody is asked it again. */
export async function takeChallenge(deps: ChallengeDeps, purpose: Purpose): Promise<Challenge | null> {
  const [row] = await execute(
    deps,
    `delete from sign_in_challenges where session_hash = ? and purpose = ? and expires_at > now()
     returning user_id, challenge`,
    [deps.session.idHash, purpose],
  )
  return toChallenge(row)
}

/** Without spending it. */
export async function readChallenge(deps: ChallengeDeps, purpose: Purpose): Promise<Challenge | null> {
  const [row] = await execute(
    deps,
    'select user_id, challenge from sign_in_challenges where session_hash = ? and purpose = ? and expires_at > now()',
    [deps.session.idHash, purpose],
  )
  return toChallenge(row)
}
