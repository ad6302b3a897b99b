import type { EntityManager } from '@mikro-orm/postgresql'

/**
 * Figures as if no call were under way: a hold is out of balance and token until its call ends. Whoever loads a figure and sends it
 * back later would else take what a hold gives back, or give what it has taken. Each sum is one statement, since a hold and what it
 * is taken from change in one commit.
 */

/**
 * Holds of a user have a token of theirs or none, and an index by token alone: PostgreSQL uses it for one list, not for one or
 * the other. What a plan has set aside is not the balance's.
 */
const balances = `select u.id, u.quota + coalesce((
    select sum(h.amount - h.plan_amount) from holds h
    where h.status = 'open' and h.user_id = u.id
      and h.token_id = any (array(select 0 union all select t.id from tokens t where t.user_id = u.id))), 0) as quota
  from users u where u.id in`

/** What calls under way have set aside of a token, by a column of its number. */
export const heldOfToken = (id: string): string =>
  `coalesce((select sum(h.token_amount) from holds h where h.status = 'open' and h.token_id = ${id}), 0)`

const tokenQuotas = `select t.id, t.remain_quota + ${heldOfToken('t.id')} as quota
  from tokens t where t.id in`

type Quotas = ReadonlyMap<number, number>

async function sumsOf(em: EntityManager, sql: string, ids: readonly number[]): Promise<Quotas> {
  if (ids.length === 0) return new Map()
  const rows: { id: number; quota: string }[] = await em
    .getConnection()
    .execute(`${sql} (${ids.map(() => '?').join(', ')})`, [...ids], 'all', em.getTransactionContext())
  return new Map(rows.map(({ id, quota }) => [id, Number(quota)]))
}

export const balancesWithHolds = (em: EntityManager, userIds: readonly number[]): Promise<Quotas> =>
  sumsOf(em, balances, userIds)

export const balanceWithHolds = async (em: EntityManager, user: { id: number; quota: number }): Promise<number> =>
  (await balancesWithHolds(em, [user.id])).get(user.id) ?? user.quota

export const tokenQuotasWithHolds = (em: EntityManager, tokenIds: readonly number[]): Promise<Quotas> =>
  sumsOf(em, tokenQuotas, tokenIds)
