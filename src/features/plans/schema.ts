import { z } from 'zod'
import { expectedFields } from '#core/expected.ts'
import { mostWindows, spendCap } from '#core/limits/spend-cap.ts'
import { payMethods } from '#core/payment/methods.ts'
import { pageInput } from '#core/paging.ts'
import { largestMoney, readMoney } from '#core/payment/money.ts'
import { refusal } from '#core/refusal.ts'

const planTerms = ['day', 'week', 'month', 'year'] as const
export const subscriptionStatuses = ['active', 'expired', 'cancelled', 'refunded'] as const

const largest = 1e14

const id = z.int(refusal('input.id_invalid')).min(1, refusal('input.id_invalid')).max(2_147_483_647)
const count = z.int(refusal('plan.count_invalid')).min(1, refusal('plan.count_invalid')).max(1_000_000_000)
const plainText = /^[^\0]*$/

const windowKey = ({ period, seconds, zone }: { period: string; seconds: number; zone: string }): string =>
  JSON.stringify([period, seconds, zone])

const windows = z
  .array(spendCap)
  .min(1, refusal('plan.window_missing'))
  .max(mostWindows, refusal('plan.window_too_many'))
  .refine((all) => all.every(({ amount }) => amount > 0), refusal('plan.window_empty'))
  .refine((all) => new Set(all.map(windowKey)).size === all.length, refusal('plan.window_repeated'))
  .transform((all) => all.map(({ period, seconds, zone, amount }) => ({ period, seconds, zone, amount })))

const isPayable = (money: string, currency: string): boolean => {
  const minor = readMoney(money, currency)
  return minor !== null && minor >= 1 && minor <= largestMoney(currency)
}

/** Asked instead of what `price` is worth, by currency: `{ CNY: '39.00' }`. Empty ones are left out. */
const moneyPrices = z
  .record(z.string().regex(/^[A-Z]{3}$/), z.string().trim().max(20).optional())
  .transform((prices): Record<string, string> =>
    Object.fromEntries(Object.entries(prices).flatMap(([currency, money]) => (money ? [[currency, money]] : []))),
  )
  .superRefine((prices, context) => {
    for (const [currency, money] of Object.entries(prices))
      if (!isPayable(money, currency))
        context.addIssue({ code: 'custom', path: [currency], message: refusal('plan.money_invalid') })
  })
  .default({})

export const planForm = z.object({
  name: z.string().trim().min(1, refusal('plan.name_invalid')).max(60, refusal('plan.name_invalid')).regex(plainText),
  /** Plain text. */
  description: z.string().trim().max(2000).regex(plainText).default(''),
  /** Internal units. */
  price: z.int(refusal('plan.price_invalid')).min(0, refusal('plan.price_invalid')).max(largest),
  moneyPrices,
  term: z.enum(planTerms),
  termCount: z
    .int(refusal('plan.count_invalid'))
    .min(1, refusal('plan.count_invalid'))
    .max(120, refusal('plan.count_invalid'))
    .default(1),
  /** Empty: every model. A name that ends in `*` covers all that begin like it. */
  models: z
    .array(z.string().trim().min(1).max(255).regex(plainText))
    .max(100)
    .transform((models) => [...new Set(models)].toSorted())
    .default([]),
  windows,
  /** What goes beyond the windows is paid from the balance; else it is refused. */
  balancePays: z.boolean().default(true),
  onSale: z.boolean().default(true),
  /** Lower ones are shown first. */
  position: z.int().min(-1_000_000).max(1_000_000).default(0),
  /** How many are sold at most, in all and to one user; null for any number. */
  stock: count.nullable().default(null),
  perUser: count.nullable().default(null),
})
export type PlanForm = z.infer<typeof planForm>

export const updatePlan = planForm.extend({ id, expected: expectedFields })
export type UpdatePlan = z.infer<typeof updatePlan>

export const byId = z.object({ id })
export type ById = z.infer<typeof byId>

/** The mark of the offer as its buyer saw it; without one it is bought as it is now. */
const offered = z.string().max(100).optional()

export const buyPlan = z.object({ id, offered })
export type BuyPlan = z.infer<typeof buyPlan>

export const orderPlan = z.object({ id, offered, method: z.enum(payMethods, refusal('payment.method_unknown')) })
export type OrderPlan = z.infer<typeof orderPlan>

export const listSubscriptions = pageInput.extend({
  /** Of this user; 0 for everybody's. */
  userId: z.int().min(0).max(2_147_483_647).default(0),
  planId: z.int().min(0).max(2_147_483_647).default(0),
  status: z.enum(['', ...subscriptionStatuses]).default(''),
})
export type ListSubscriptions = z.infer<typeof listSubscriptions>

/** Ends a subscription at once, and gives so much of its price back to the balance. */
export const endSubscription = z.object({
  id,
  refund: z.int(refusal('plan.price_invalid')).min(0, refusal('plan.price_invalid')).max(largest),
  reason: z.string().trim().min(1, refusal('payment.reason_required')).max(500).regex(plainText),
})
export type EndSubscription = z.infer<typeof endSubscription>
