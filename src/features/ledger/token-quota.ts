import type { EntityManager } from '@mikro-orm/postgresql'
import { heldOfToken } from './with-holds.ts'

type TokenQuota = {
  id: number
  unlimitedQuota: boolean
  /** What shall be left; absent: what calls have left of it. */
  remainQuota: number | undefined
  /** What was left when that was decided. Absent: `remainQuota` counts what calls under way have set aside. */
  knownQuota?: number | undefined
}

/** Sums of quotas and what calls give back stay far below what the column holds. */
const mostQuota = 1e15

/**
 * What an owner allows a token to spend: no balance moves. The difference to what the owner knew is booked, so that what calls have
 * taken or set aside since then stays taken, and what they give back is given back. Lowering leaves nothing, but no debt. Whoever
 * knew nothing names what shall be there once the calls under way have given everything back. The row is the caller's, locked.
 */
export async function setTokenQuota(em: EntityManager, token: TokenQuota): Promise<void> {
  const { id, unlimitedQuota, remainQuota, knownQuota } = token
  const execute = (sql: string, values: unknown[]): Promise<unknown> =>
    em.getConnection().execute(sql, values, 'run', em.getTransactionContext())
  const column = `update tokens set unlimited_quota = ?`
  if (remainQuota === undefined) await execute(`${column} where id = ?`, [unlimitedQuota, id])
  else if (knownQuota === undefined) {
    const wanted = `?::bigint - ${heldOfToken('tokens.id')}`
    await execute(`${column}, remain_quota = ${wanted} where id = ?`, [unlimitedQuota, remainQuota, id])
  } else
    await execute(
      `${column}, remain_quota = least(greatest(remain_quota + ?::bigint - ?::bigint, least(remain_quota, 0)), ?::bigint) where id = ?`,
      [unlimitedQuota, remainQuota, knownQuota, mostQuota, id],
    )
  // Whoever leases a part of it is to know.
  await execute("select pg_notify('changes', 'token_lease:' || ?::int)", [id])
}
