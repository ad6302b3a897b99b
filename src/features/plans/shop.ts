import type { EntityManager } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { logType } from '#core/statuses.ts'
import { Plan } from '#db/entities/plan.ts'
import type { UserDeps } from '../deps.ts'
import { grant } from '../ledger/service.ts'
import { shownQuota } from '../ledger/shown-quota.ts'
import type { Started } from '../orders/gateways/gateway.ts'
import { openPlanOrder, orderOnce, type PayDeps, paymentsOf } from '../orders/pay.ts'
import { activatePlan } from './activate.ts'
import { sha256 } from '../secrets/service.ts'
import type { BuyPlan, OrderPlan } from './schema.ts'
import { lockPlan, salesOf } from './service.ts'
import { ownSubscription } from './subscriptions.ts'
import { type OfferView, type SubscriptionView, termsOfPlan, toOfferView } from './view.ts'

/** Changes with what a buyer gets and pays: a purchase names the one that its buyer saw. */
const markOf = (plan: Plan): string => sha256(JSON.stringify([termsOfPlan(plan), plan.moneyPrices]))

/** What is on sale, in the order of the shop. */
export async function listOffers(deps: UserDeps): Promise<(OfferView & { mark: string })[]> {
  const { em, actor } = deps
  const plans = await em.find(
    Plan,
    { onSale: true },
    { orderBy: { position: 'asc', id: 'asc' }, disableIdentityMap: true },
  )
  const sales = await salesOf(em, actor.id)
  return plans.map((plan) => ({
    ...toOfferView(plan, sales.get(plan.id), paymentsOf(deps, plan)),
    mark: markOf(plan),
  }))
}

/** The plan, locked, if this user may buy it now and it is what was offered. */
async function buyable(em: EntityManager, userId: number, { id, offered }: BuyPlan): Promise<Plan> {
  const plan = await lockPlan(em, id)
  if (!plan.onSale) throw new DomainError('plan.not_found')
  if (offered !== undefined && offered !== markOf(plan)) throw new DomainError('plan.changed_meanwhile')
  const { running, mine, open } = (await salesOf(em, userId)).get(id) ?? { running: 0, mine: 0, open: 0 }
  if (typeof plan.stock === 'number' && running + open >= plan.stock) throw new DomainError('plan.sold_out')
  if (typeof plan.perUser === 'number' && mine >= plan.perUser)
    throw new DomainError('plan.limit_reached', { count: plan.perUser })
  return plan
}

/**
 * Takes the price from the balance and activates the plan, in one transaction.
 * @throws {DomainError} plan.not_found, plan.changed_meanwhile, plan.sold_out, plan.limit_reached, plan.balance_insufficient
 */
export async function buyPlan(deps: UserDeps, input: BuyPlan): Promise<SubscriptionView> {
  await deps.ledger.recallLeases(deps.actor.id)
  const subscriptionId = await deps.em.transactional(async (em) => {
    const plan = await buyable(em, deps.actor.id, input)
    // It has a price, only none that a balance could pay.
    if (plan.price === 0 && Object.keys(plan.moneyPrices).length > 0) throw new DomainError('plan.balance_insufficient')
    const bought = { userId: deps.actor.id, planId: input.id, terms: termsOfPlan(plan) }
    const subscription = await activatePlan(em, { ...bought, source: 'balance', key: deps.ambient.newId(24) })
    if (!subscription) throw new Error('a new key was activated before')
    // The row of the user is locked: nobody takes what is seen here.
    const [user]: { quota: string }[] = await em
      .getConnection()
      .execute(
        'select quota - (select coalesce(sum(l.amount), 0) from leases l where l.user_id = u.id) as quota from users u where id = ?',
        [deps.actor.id],
        'all',
        em.getTransactionContext(),
      )
    if (plan.price > 0 && Number(user?.quota ?? 0) < plan.price) throw new DomainError('plan.balance_insufficient')
    await grant(em, {
      kind: 'plan',
      key: String(subscription.id),
      userId: deps.actor.id,
      amount: -plan.price,
      log: {
        type: logType.system,
        username: deps.actor.username,
        content: `购买套餐「${plan.name}」，扣除 ${shownQuota(deps, plan.price)}`,
        quota: -plan.price,
        other: { plan: { id: subscription.id, name: plan.name } },
      },
    })
    return subscription.id
  })
  return ownSubscription(deps, subscriptionId)
}

/**
 * Opens an order for it and says where the payer goes. A notification of the payment activates it.
 * @throws {DomainError} plan.not_found, plan.changed_meanwhile, plan.sold_out, plan.limit_reached
 */
export const orderPlan = (deps: PayDeps, input: OrderPlan): Promise<Started> =>
  orderOnce(deps, {
    path: 'plans.pay',
    input,
    open: async (em) => {
      const plan = await buyable(em, deps.actor.id, input)
      return openPlanOrder({ ...deps, em }, { plan, terms: termsOfPlan(plan), method: input.method })
    },
  })
