import { timingSafeEqual } from 'node:crypto'
import type { Deps } from '../deps.ts'

type Purpose = 'email' | 'password-reset'
type CodeDeps = Pick<Deps, 'em' | 'secrets'>
type Code = { purpose: Purpose; subject: string; code: string }

const minutesValid = 10
/** Short codes could be guessed; 128 bits cannot, and there a limit would only let others invalidate somebody's link. */
const mostAttempts: Record<Purpose, number> = { email: 5, 'password-reset': 2_000_000_000 }

const execute = ({ em }: CodeDeps, sql: string, values: unknown[]): Promise<{ code_hash: string }[]> =>
  em.getConnection().execute(sql, values, 'all', em.getTransactionContext())

/** Keyed, for a short code's plain hash could be guessed back. */
const hashOf = ({ secrets }: CodeDeps, { purpose, subject, code }: Code): string =>
  secrets.hmac(`${purpose}:${subject}:${code}`)

/** Keeps a code, only as a hash; the former one of the same purpose and subject is worth nothing from now on. */
export async function keepCode(deps: CodeDeps, code: Code): Promise<void> {
  await execute(
    deps,
    `insert into one_time_codes (purpose, subject, code_hash, attempts, created_at, expires_at)
     values (?, ?, ?, 0, now(), now() + make_interval(mins => ?))
     on conflict (purpose, subject) do update set
       code_hash = excluded.code_hash, attempts = 0, created_at = excluded.created_at, expires_at = excluded.expires_at
     returning code_hash`,
    [code.purpose, code.subject, hashOf(deps, code), minutesValid],
  )
}

/** Whether it is the code. Right once, a short one dead after five attempts, and all by the database's clock. */
export async function useCode(deps: CodeDeps, code: Code): Promise<boolean> {
  const [row] = await execute(
    deps,
    `update one_time_codes set attempts = attempts + 1
     where purpose = ? and subject = ? and attempts < ? and expires_at > now() returning code_hash`,
    [code.purpose, code.subject, mostAttempts[code.purpose]],
  )
  const hash = hashOf(deps, code)
  if (!row || !timingSafeEqual(Buffer.from(row.code_hash), Buffer.from(hash))) return false
  const used = await execute(
    deps,
    'delete from one_time_codes where purpose = ? and subject = ? and code_hash = ? returning code_hash',
    [code.purpose, code.subject, hash],
  )
  return used.length === 1
}

/** By the database's clock, which is one for all processes. */
export async function secondsSince({ em }: Pick<Deps, 'em'>, timestamp: number): Promise<number> {
  const [row] = await em
    .getConnection()
    .execute<{ seconds: number }[]>('select extract(epoch from clock_timestamp())::float8 as seconds')
  return (row?.seconds ?? Number.NaN) - timestamp
}

/** Notes that something signed elsewhere was used; false where it was before. Kept for as long as it could come again. */
export async function spendOnce(
  deps: CodeDeps,
  { purpose, subject, seconds }: { purpose: 'telegram'; subject: string; seconds: number },
): Promise<boolean> {
  const noted = await execute(
    deps,
    `insert into one_time_codes (purpose, subject, code_hash, attempts, created_at, expires_at)
     values (?, ?, '', 0, now(), now() + make_interval(secs => ?))
     on conflict (purpose, subject) do nothing returning code_hash`,
    [purpose, subject.toLowerCase(), seconds],
  )
  return noted.length === 1
}
