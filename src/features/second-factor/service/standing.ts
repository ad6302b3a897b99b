import type { EntityManager } from '@mikro-orm/postgresql'

/** What somebody can prove a second time with. */
export type SecondFactor = {
  /** An app that shows one-time passwords. */
  authenticator: boolean
  passkeys: number
  /** Not used yet. */
  recoveryCodes: number
}

/** Null where none is set up: one proof is enough then. */
export async function secondFactorOf(em: EntityManager, userId: number): Promise<SecondFactor | null> {
  const [row] = await em.getConnection().execute<{ authenticator: boolean; passkeys: number; codes: number }[]>(
    `select exists (select 1 from authenticators where user_id = ? and confirmed_at is not null) as authenticator,
       (select count(*)::int from passkeys where user_id = ?) as passkeys,
       (select count(*)::int from recovery_codes where user_id = ? and used_at is null) as codes`,
    [userId, userId, userId],
    'all',
    em.getTransactionContext(),
  )
  if (!row || (!row.authenticator && row.passkeys === 0)) return null
  return { authenticator: row.authenticator, passkeys: row.passkeys, recoveryCodes: row.codes }
}
