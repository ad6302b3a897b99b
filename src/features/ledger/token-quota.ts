import type { EntityManager } from '@mikro-orm/postgresql'

type TokenQuota = {
  id: number
  unlimitedQuota: boolean
  /** What shall be left; absent: what calls have left of it. */
  remainQuota: number | undefined
  /** What was left when that was decided. Absent: what is left now. */
  knownQuota?: number | undefined
}

/** Sums of quotas and what calls give back stay far below what the column holds. */
const mostQuota = 1e15

/**
 * What an owner allows a token to spend: no balance moves. The difference is booked, so that what calls have taken or set aside
 * since the owner looked stays taken, and what they give back is given back. Lowering leaves nothing, but no debt.
 */
export async function setTokenQuota(em: EntityManager, token: TokenQuota): Promise<void> {
  const { id, unlimitedQuota, remainQuota, knownQuota } = token
  const execute = (sql: string, values: unknown[]): Promise<unknown> =>
    em.getConnection().execute(sql, values, 'run', em.getTransactionContext())
  const column = `update tokens set unlimited_quota = ?`
  if (remainQuota === undefined) await execute(`${column} where id = ?`, [unlimitedQuota, id])
  else
    await execute(
      `${column}, remain_quota = least(greatest(remain_quota + ?::bigint - coalesce(?::bigint, remain_quota), least(remain_quota, 0)), ?::bigint) where id = ?`,
      [unlimitedQuota, remainQuota, knownQuota ?? null, mostQuota, id],
    )
  // Whoever leases a part of it is to know.
  await execute("select pg_notify('changes', 'token_lease:' || ?::int)", [id])
}
