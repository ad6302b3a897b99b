import type { EntityManager } from '@mikro-orm/postgresql'

type TokenQuota = {
  id: number
  unlimitedQuota: boolean
  /** What shall be left; absent: what calls have left of it. */
  remainQuota: number | undefined
  /** What was left when that was decided. Absent: what is left now. */
  knownQuota?: number | undefined
}

/**
 * What an owner allows a token to spend: no balance moves. The difference is booked, so that what calls have taken or set aside
 * since the owner looked stays taken, and what they give back is given back. Lowering leaves nothing, but no debt.
 */
export async function setTokenQuota(em: EntityManager, token: TokenQuota): Promise<void> {
  const { id, unlimitedQuota, remainQuota, knownQuota } = token
  const column = `update tokens set unlimited_quota = ?`
  if (remainQuota === undefined) {
    await em.getConnection().execute(`${column} where id = ?`, [unlimitedQuota, id], 'run', em.getTransactionContext())
    return
  }
  await em
    .getConnection()
    .execute(
      `${column}, remain_quota = greatest(remain_quota + ?::bigint - coalesce(?::bigint, remain_quota), least(remain_quota, 0)) where id = ?`,
      [unlimitedQuota, remainQuota, knownQuota ?? null, id],
      'run',
      em.getTransactionContext(),
    )
}
