import type { MethodPrice } from '#core/payment/methods.ts'
import type { Plan, PlanTerms } from '#db/entities/plan.ts'
import type { Subscription } from '#db/entities/subscription.ts'

export type Sales = { sold: number; running: number; mine: number; open: number }

const unsold: Sales = { sold: 0, running: 0, mine: 0, open: 0 }

/** What a buyer of it gets. */
export const termsOfPlan = ({ name, price, term, termCount, models, windows, balancePays }: Plan): PlanTerms => ({
  name,
  price,
  term,
  termCount,
  models,
  windows,
  balancePays,
})

const toOffer = (plan: Plan) => ({ id: plan.id, description: plan.description, ...termsOfPlan(plan) })

/** A plan as it is offered. `sold` are those that were not refunded; those that run, or are to run, take its stock. */
export const toPlanView = (plan: Plan, { sold, running }: Pick<Sales, 'sold' | 'running'> = unsold) => ({
  ...toOffer(plan),
  moneyPrices: plan.moneyPrices,
  onSale: plan.onSale,
  position: plan.position,
  stock: plan.stock ?? null,
  perUser: plan.perUser ?? null,
  sold,
  running,
  updatedAt: plan.updatedAt,
})

export type PlanView = ReturnType<typeof toPlanView>

/** A plan as users see it in the shop. */
export const toOfferView = (plan: Plan, { running, mine, open }: Sales = unsold, payments: readonly MethodPrice[]) => ({
  ...toOffer(plan),
  /** By which methods it can be paid, and for how much. */
  payments,
  /** How many are left, without those that others are about to pay; null for any number. */
  left: typeof plan.stock === 'number' ? Math.max(0, plan.stock - running - open) : null,
  /** Whether this user may buy it still. */
  isOpen: typeof plan.perUser !== 'number' || mine < plan.perUser,
})

export type OfferView = ReturnType<typeof toOfferView>

/** How a window stands: what of it is used, by calls under way too, and when it turns. */
type WindowView = {
  id: number
  period: 'rolling' | 'day' | 'week' | 'month'
  seconds: number
  zone: string
  limit: number
  spent: number
  left: number
  turnsAt: Date | null
}

/** A subscription, and how each of its windows stands. */
export const toSubscriptionView = (subscription: Subscription, windows: readonly WindowView[], now: Date) => ({
  id: subscription.id,
  planId: subscription.planId,
  name: subscription.name,
  models: subscription.models,
  balancePays: subscription.balancePays,
  status: subscription.status === 'active' && subscription.endsAt <= now ? ('expired' as const) : subscription.status,
  /** Bought ahead: it begins when the one before it ends. */
  isWaiting: subscription.status === 'active' && subscription.startsAt > now,
  source: subscription.source,
  price: subscription.price,
  usedQuota: subscription.usedQuota - subscription.refundedQuota,
  startsAt: subscription.startsAt,
  endsAt: subscription.endsAt,
  endedAt: subscription.endedAt ?? null,
  createdAt: subscription.createdAt,
  windows: windows.map(({ id, period, seconds, zone, limit, spent, left, turnsAt }) => ({
    id,
    period,
    seconds,
    zone,
    limit,
    spent,
    left,
    turnsAt,
  })),
})

export type SubscriptionView = ReturnType<typeof toSubscriptionView>
