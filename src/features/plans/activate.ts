import type { EntityManager } from '@mikro-orm/postgresql'
import type { PlanTerms } from '#db/entities/plan.ts'
import { Subscription, type SubscriptionStatus } from '#db/entities/subscription.ts'
import { writeCaps } from '../spend-caps/service.ts'
import { noteForUser } from './notices.ts'

type Bought = {
  userId: number
  planId: number
  terms: PlanTerms
  source: Subscription['source']
  /** With the source, what makes it happen once. */
  key: string
}

/**
 * Makes a bought plan a subscription, once, inside the transaction of `em`: from now on, or from the end of the same plan that the
 * user has. Resolves null when the same source and key was activated before. The row of the user is locked by it.
 */
export async function activatePlan(em: EntityManager, bought: Bought): Promise<Subscription | null> {
  const { userId, planId, terms, source, key } = bought
  const execute = (sql: string, values: unknown[]): Promise<{ id: number }[]> =>
    em.getConnection().execute(sql, values, 'all', em.getTransactionContext())
  await execute('select id from users where id = ? for no key update', [userId])
  const [made] = await execute(
    `insert into subscriptions (user_id, plan_id, name, models, balance_pays, source, key, price, starts_at, ends_at)
     select ?, ?, ?, array(select jsonb_array_elements_text(?::jsonb)), ?, ?, ?, ?, b.at, b.at + ?::interval
     from (select greatest(ledger_clock(), max(s.ends_at)) as at from subscriptions s
       where s.user_id = ? and s.plan_id = ? and s.status = 'active') b
     on conflict (source, key) do nothing returning id`,
    [
      userId,
      planId,
      terms.name,
      JSON.stringify(terms.models),
      terms.balancePays,
      source,
      key,
      terms.price,
      `${terms.termCount} ${terms.term}`,
      userId,
      planId,
    ],
  )
  if (!made) return null
  const owner = { scope: 'subscription', subjectId: made.id, source: 'subscription', sourceId: made.id } as const
  await writeCaps(
    em,
    owner,
    terms.windows.map((window) => ({ ...window, models: [] })),
  )
  const subscription = await em.findOneOrFail(Subscription, { id: made.id }, { disableIdentityMap: true })
  const isNext = subscription.startsAt > subscription.createdAt
  await noteForUser(em, { subscriptionId: made.id, kind: isNext ? 'renewed' : 'bought' })
  return subscription
}

type Ending = {
  status: Exclude<SubscriptionStatus, 'active' | 'expired'>
  by: 'owner' | 'operator'
  /** What of its price goes back to the balance. */
  refund?: number
}

/** Distinguishes one end of a subscription from another, after it was restored. */
async function endOf(em: EntityManager, id: number): Promise<string> {
  const { endedAt } = await em.findOneOrFail(Subscription, { id }, { disableIdentityMap: true })
  return endedAt?.toISOString() ?? ''
}

/** What was bought to run after one that has ended early takes over the time that it had left. The row of the user is locked. */
async function bringForward(em: EntityManager, id: number): Promise<void> {
  const moved: { id: number; begins: boolean }[] = await em.getConnection().execute(
    `update subscriptions s set starts_at = s.starts_at - e.unused, ends_at = s.ends_at - e.unused
     from (select user_id, plan_id, ends_at, ends_at - greatest(starts_at, ended_at) as unused from subscriptions where id = ?) e
     where s.user_id = e.user_id and s.plan_id = e.plan_id and s.status = 'active' and s.starts_at >= e.ends_at
     returning s.id, s.starts_at <= ledger_clock() as begins`,
    [id],
    'all',
    em.getTransactionContext(),
  )
  const next = moved.find(({ begins }) => begins)
  // Its user was notified of a later day.
  if (next) await noteForUser(em, { subscriptionId: next.id, kind: 'bought', key: await endOf(em, id) })
}

/**
 * Ends one that is active, at once: calls under way stay paid as far as they hold, the next find the same plan where it was bought
 * again, or the balance or another plan. Resolves null when it was not active any more.
 */
export async function deactivate(
  em: EntityManager,
  which: { id: number } | { source: Subscription['source']; key: string },
  { status, by, refund = 0 }: Ending,
): Promise<Subscription | null> {
  const found = await em.findOne(Subscription, which, { disableIdentityMap: true })
  if (!found) return null
  const execute = (sql: string, values: unknown[]): Promise<unknown[]> =>
    em.getConnection().execute(sql, values, 'all', em.getTransactionContext())
  await execute('select id from users where id = ? for no key update', [found.userId])
  const ended = await execute(
    `update subscriptions set status = ?, ended_at = ledger_clock() where id = ? and status = 'active' and ends_at > ledger_clock() returning id`,
    [status, found.id],
  )
  if (ended.length === 0) return null
  // Whoever cancels their own knows it.
  if (by === 'operator') {
    const kind = status === 'refunded' ? 'refunded' : 'terminated'
    await noteForUser(em, { subscriptionId: found.id, kind, key: await endOf(em, found.id), amount: refund })
  }
  await bringForward(em, found.id)
  return found
}

/**
 * Gives an ended subscription back the time that it had left, from now on or from the end of the same plan that the user has.
 * Resolves null where it was not ended, or has nothing left. The row of the user is locked by it.
 */
export async function reactivate(
  em: EntityManager,
  { source, key }: { source: Subscription['source']; key: string },
): Promise<Subscription | null> {
  const found = await em.findOne(Subscription, { source, key }, { disableIdentityMap: true })
  if (!found) return null
  const execute = (sql: string, values: unknown[]): Promise<unknown[]> =>
    em.getConnection().execute(sql, values, 'all', em.getTransactionContext())
  await execute('select id from users where id = ? for no key update', [found.userId])
  const again = await execute(
    `update subscriptions s set status = 'active', ended_at = null,
       starts_at = case when s.starts_at < b.at and b.at <= ledger_clock() then s.starts_at else b.at end,
       ends_at = b.at + (s.ends_at - greatest(s.starts_at, s.ended_at))
     from (select greatest(ledger_clock(), max(o.ends_at)) as at
       from subscriptions o where o.user_id = ? and o.plan_id = ? and o.status = 'active') b
     where s.id = ? and s.status = 'refunded' and s.ends_at > s.ended_at returning s.id`,
    [found.userId, found.planId, found.id],
  )
  if (again.length === 0) return null
  await noteForUser(em, { subscriptionId: found.id, kind: 'restored', key: found.endedAt?.toISOString() ?? '' })
  return found
}
