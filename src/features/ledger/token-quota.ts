import type { EntityManager } from '@mikro-orm/postgresql'

/** What an owner allows a token to spend: no balance moves. An absent `remainQuota` leaves what calls have left of it. */
export async function setTokenQuota(
  em: EntityManager,
  token: { id: number; remainQuota: number | undefined; unlimitedQuota: boolean },
): Promise<void> {
  await em
    .getConnection()
    .execute(
      'update tokens set unlimited_quota = ?, remain_quota = coalesce(?::bigint, remain_quota) where id = ?',
      [token.unlimitedQuota, token.remainQuota ?? null, token.id],
      'run',
      em.getTransactionContext(),
    )
}
