import { DomainError } from '#core/errors.ts'
import { type Page, rowsOfPage } from '#core/paging.ts'
import { logType } from '#core/statuses.ts'
import { Subscription } from '#db/entities/subscription.ts'
import { User } from '#db/entities/user.ts'
import { recordAct } from '../audit/service.ts'
import type { UserDeps } from '../deps.ts'
import { grant } from '../ledger/service.ts'
import { shownQuota } from '../ledger/shown-quota.ts'
import { windowsOfSubscriptions } from '../spend-caps/service.ts'
import { lockTarget } from '../users/service/target.ts'
import { deactivate } from './activate.ts'
import type { ById, EndSubscription, ListSubscriptions } from './schema.ts'
import { type SubscriptionView, toSubscriptionView } from './view.ts'

async function viewsOf(deps: UserDeps, found: readonly Subscription[]): Promise<SubscriptionView[]> {
  const windows = await windowsOfSubscriptions(
    deps,
    found.map(({ id }) => id),
  )
  const now = deps.ambient.now()
  return found.map((one) =>
    toSubscriptionView(
      one,
      windows.filter(({ subjectId }) => subjectId === one.id),
      now,
    ),
  )
}

const mostShown = 50

/** One's own: those that run first, then the newest. */
export async function listOwnSubscriptions(deps: UserDeps): Promise<SubscriptionView[]> {
  const found = await deps.em.find(
    Subscription,
    { userId: deps.actor.id },
    { orderBy: { status: 'asc', id: 'desc' }, limit: mostShown, disableIdentityMap: true },
  )
  return viewsOf(deps, found)
}

/** Somebody else's does not exist. @throws {DomainError} plan.subscription_unknown */
export async function ownSubscription(deps: UserDeps, id: number): Promise<SubscriptionView> {
  const found = await deps.em.findOne(Subscription, { id, userId: deps.actor.id }, { disableIdentityMap: true })
  const [view] = found ? await viewsOf(deps, [found]) : []
  if (!view) throw new DomainError('plan.subscription_unknown')
  return view
}

/** Ends one's own at once; nothing is given back. @throws {DomainError} plan.subscription_over */
export async function cancelOwnSubscription(deps: UserDeps, { id }: ById): Promise<SubscriptionView> {
  await deps.em.transactional(async (em) => {
    await ownSubscription({ ...deps, em }, id)
    const ended = await deactivate(em, { id }, { status: 'cancelled', by: 'owner' })
    if (!ended) throw new DomainError('plan.subscription_over')
    await recordAct(
      { ...deps, em },
      {
        action: 'subscriptions.cancel',
        targetType: 'subscription',
        targetId: id,
        targetName: ended.name,
      },
    )
  })
  return ownSubscription(deps, id)
}

export type AdminSubscriptionView = SubscriptionView & { userId: number; username: string }

/** Everybody's, newest first. */
export async function listSubscriptions(
  deps: UserDeps,
  input: ListSubscriptions,
): Promise<Page<AdminSubscriptionView>> {
  const { userId, planId, status, page, pageSize } = input
  const [found, total] = await deps.em.findAndCount(
    Subscription,
    {
      ...(userId === 0 ? {} : { userId }),
      ...(planId === 0 ? {} : { planId }),
      ...(status === '' ? {} : { status }),
    },
    { orderBy: { id: 'desc' }, ...rowsOfPage(input) },
  )
  const views = await viewsOf(deps, found)
  const users = await deps.em.find(
    User,
    { id: found.map((one) => one.userId) },
    { fields: ['id', 'username'], disableIdentityMap: true },
  )
  const names = new Map(users.map((user) => [user.id, user.username]))
  return {
    items: found.flatMap((one, index) => {
      const view = views[index]
      return view ? [{ ...view, userId: one.userId, username: names.get(one.userId) ?? '' }] : []
    }),
    total,
    page,
    pageSize,
  }
}

/**
 * Ends somebody's at once, and gives what is said of its price back to the balance.
 * @throws {DomainError} plan.subscription_unknown, plan.refund_too_large, plan.subscription_over
 */
export function endSubscription(deps: UserDeps, { id, refund, reason }: EndSubscription): Promise<void> {
  return deps.em.transactional(async (em) => {
    const scope = { ...deps, em }
    const found = await em.findOne(Subscription, { id }, { disableIdentityMap: true })
    if (!found) throw new DomainError('plan.subscription_unknown')
    if (refund > found.price) throw new DomainError('plan.refund_too_large')
    const { target } = await lockTarget(scope, found.userId)
    const status = refund > 0 ? 'refunded' : 'cancelled'
    const ended = await deactivate(em, { id }, { status, by: 'operator', refund })
    if (!ended) throw new DomainError('plan.subscription_over')
    if (refund > 0)
      await grant(em, {
        kind: 'plan_refund',
        key: String(id),
        userId: target.id,
        amount: refund,
        log: {
          type: logType.manage,
          username: target.username,
          content: `套餐「${found.name}」已终止，退回 ${shownQuota(deps, refund)}`,
          quota: refund,
          other: { plan: { id, name: found.name } },
        },
      })
    await recordAct(scope, {
      action: 'subscriptions.end',
      targetType: 'subscription',
      targetId: id,
      targetName: `${target.username} · ${found.name}`,
      before: { status: 'active' },
      after: { status, refund },
      reason,
    })
  })
}
