import type { EntityManager } from '@mikro-orm/postgresql'
import { DomainError } from '#core/errors.ts'
import { type MethodPrice, type PayMethod, payMethods } from '#core/payment/methods.ts'
import { largestMoney, moneyFor, moneyText, quotaFor, readMoney } from '#core/payment/money.ts'
import { formatQuota } from '#core/quota.ts'
import type { Plan, PlanTerms } from '#db/entities/plan.ts'
import { TopUpOrder } from '#db/entities/top-up-order.ts'
import type { Context, Services, UserDeps } from '../deps.ts'
import { beginOnce } from '../idempotency/service.ts'
import { epayCurrency, epayType, isEpayReady, startEpay } from './gateways/epay.ts'
import type { Started } from './gateways/gateway.ts'
import { createCheckout, isStripeReady, stripeCurrency, stripeMode } from './gateways/stripe.ts'
import { noteEvent } from './ledger.ts'
import type { GatewayId, Pay, Quote } from './schema.ts'

export const gatewayOf = (method: PayMethod): GatewayId => (method === 'stripe' ? 'stripe' : 'epay')

export const isGatewayReady = (services: Pick<Services, 'options'>, gateway: GatewayId): boolean =>
  gateway === 'epay' ? isEpayReady(services) : isStripeReady(services)

type Terms = { currency: string; price: number; merchant: string }

/** What a dollar of credit costs over a gateway, and who is paid. */
export function termsOf(services: Pick<Services, 'options'>, gateway: GatewayId): Terms {
  const { options } = services
  return gateway === 'epay'
    ? { currency: epayCurrency, price: options.get('Price'), merchant: options.get('EpayId') }
    : {
        currency: stripeCurrency(services),
        price: options.get('stripe.price'),
        merchant: stripeMode(services),
      }
}

/** The factor of the payer's group; a group without one pays the plain price. */
export const groupRatio = ({ options }: Pick<Services, 'options'>, group: string): number => {
  const ratios = options.get('TopupGroupRatio')
  return (Object.hasOwn(ratios, group) ? ratios[group] : undefined) || 1
}

/** The least that may be bought: dollars where amounts are dollars, else units. */
export const minimumAmount = ({ options }: Pick<Services, 'options'>): number =>
  Math.max(
    1,
    options.get('MinTopUp') * (options.get('DisplayInCurrencyEnabled') ? 1 : Math.round(options.get('QuotaPerUnit'))),
  )

const largestQuota = 1e14

type Asked = { quota: number; moneyMinor: number; terms: Terms }
type OrderedPlan = { planId: number; terms: PlanTerms }

const isTooLarge = ({ moneyMinor, terms }: Asked): boolean => moneyMinor > largestMoney(terms.currency)

/** What so much quota costs by a method. */
function priceOf(deps: UserDeps, quota: number, method: PayMethod): Asked {
  const gateway = gatewayOf(method)
  if (!isGatewayReady(deps, gateway)) throw new DomainError('payment.not_enabled')
  if (quota > largestQuota) throw new DomainError('payment.amount_too_large')
  const terms = termsOf(deps, gateway)
  const quotaPerUnit = deps.options.get('QuotaPerUnit')
  const moneyMinor = moneyFor({ ...terms, quota, quotaPerUnit, ratio: groupRatio(deps, deps.actor.group) })
  return { quota, moneyMinor, terms }
}

function ask(deps: UserDeps, { amount, method }: Pay): Asked {
  const { options } = deps
  if (!isGatewayReady(deps, gatewayOf(method))) throw new DomainError('payment.not_enabled')
  const minimum = minimumAmount(deps)
  if (amount < minimum) throw new DomainError('payment.amount_too_small', { minimum })
  const quotaPerUnit = options.get('QuotaPerUnit')
  const quota = options.get('DisplayInCurrencyEnabled') ? Math.round(amount * quotaPerUnit) : amount
  const asked = priceOf(deps, quota, method)
  if (isTooLarge(asked)) throw new DomainError('payment.amount_too_large')
  return asked
}

/**
 * What an amount would cost: `73.00`.
 * @throws {DomainError} payment.not_enabled, payment.amount_too_small, payment.amount_too_large, payment.money_too_small
 */
export function quote(deps: UserDeps, input: Quote): { money: string; currency: string } {
  const { moneyMinor, terms } = ask(deps, input)
  if (moneyMinor <= 1) throw new DomainError('payment.money_too_small')
  return { money: moneyText(moneyMinor, terms.currency), currency: terms.currency }
}

/**
 * Opens an order and says where the payer goes.
 * @throws {DomainError} payment.not_enabled, payment.amount_too_small, payment.amount_too_large, payment.money_too_small
 */
export const pay = (deps: PayDeps, input: Pay): Promise<Started> =>
  orderOnce(deps, {
    path: 'orders.pay',
    input,
    epayName: `TUC${input.amount}`,
    open: async (em) => {
      const { quota, moneyMinor, terms } = ask(deps, input)
      if (moneyMinor < 1) throw new DomainError('payment.money_too_small')
      return openOrder({ ...deps, em }, { quota, moneyMinor, terms, method: input.method })
    },
  })

export type PayDeps = UserDeps & Pick<Context, 'idempotencyKey'>

type Ordering = {
  path: string
  input: { method: PayMethod }
  epayName?: string
  /** Inside the transaction of `em`. */
  open: (em: EntityManager) => Promise<TopUpOrder>
}

/**
 * Opens an order, once for an `Idempotency-Key`, and says where the payer goes. The gateway is asked when the order is committed; it
 * makes no second page under the order's number.
 */
export async function orderOnce(deps: PayDeps, { path, input, epayName, open }: Ordering): Promise<Started> {
  const { em, actor, idempotencyKey: key } = deps
  const startOrder = (order: TopUpOrder) =>
    start(deps, order, { method: input.method, epayName: epayName ?? order.plan?.name ?? '' })
  if (!key) return startOrder(await em.transactional(open))
  return beginOnce(
    deps,
    { userId: actor.id, path, key, input },
    {
      begin: async (inner) => (await open(inner)).id,
      finish: async (id) => startOrder(await em.findOneOrFail(TopUpOrder, { id }, { disableIdentityMap: true })),
    },
  )
}

type Priced = Pick<Plan, 'price' | 'moneyPrices'>

/** What a plan costs by a method: the money that is asked for it in that currency, else what its price is worth. */
function planPriceOf(deps: UserDeps, { price, moneyPrices }: Priced, method: PayMethod): Asked {
  const terms = termsOf(deps, gatewayOf(method))
  const moneyMinor = readMoney(moneyPrices[terms.currency] ?? '', terms.currency)
  if (moneyMinor === null) return priceOf(deps, price, method)
  if (!isGatewayReady(deps, gatewayOf(method))) throw new DomainError('payment.not_enabled')
  const quotaPerUnit = deps.options.get('QuotaPerUnit')
  const ratio = groupRatio(deps, deps.actor.group)
  return { quota: terms.price > 0 ? quotaFor({ ...terms, moneyMinor, quotaPerUnit, ratio }) : price, moneyMinor, terms }
}

/** By which methods a plan can be paid, and for how much. One whose gateway takes no such amount is none of them. */
export const paymentsOf = (deps: UserDeps, plan: Priced): MethodPrice[] =>
  payMethods.flatMap((method) => {
    if (!isGatewayReady(deps, gatewayOf(method))) return []
    const asked = planPriceOf(deps, plan, method)
    if (asked.moneyMinor < 1 || isTooLarge(asked)) return []
    const { currency } = asked.terms
    return [{ method, money: moneyText(asked.moneyMinor, currency), currency }]
  })

/** The currencies in which something can be paid now. */
export const openCurrencies = (services: Pick<Services, 'options'>): string[] => [
  ...new Set(
    payMethods
      .map(gatewayOf)
      .filter((gateway) => isGatewayReady(services, gateway))
      .map((gateway) => termsOf(services, gateway).currency),
  ),
]

/**
 * Opens an order of a plan, which keeps its terms, inside the transaction of `deps.em`. What was paid for it in money is the
 * price of the subscription then.
 * @throws {DomainError} payment.not_enabled, payment.amount_too_large, payment.money_too_small
 */
export async function openPlanOrder(
  deps: UserDeps,
  { plan, terms, method }: { plan: Plan; terms: PlanTerms; method: PayMethod },
): Promise<TopUpOrder> {
  const asked = planPriceOf(deps, plan, method)
  if (asked.moneyMinor < 1) throw new DomainError('payment.money_too_small')
  if (isTooLarge(asked)) throw new DomainError('payment.amount_too_large')
  return openOrder(deps, { ...asked, method, plan: { planId: plan.id, terms: { ...terms, price: asked.quota } } })
}

async function openOrder(
  { em, actor, ambient }: UserDeps,
  { quota, moneyMinor, terms, method, plan }: Asked & { method: PayMethod; plan?: OrderedPlan },
): Promise<TopUpOrder> {
  const gateway = gatewayOf(method)
  const tradeNo = `USR${actor.id}NO${ambient.newId(12)}${Math.floor(ambient.now().getTime() / 1000)}`
  const id = await em.insert(TopUpOrder, {
    userId: actor.id,
    quota,
    moneyMinor,
    currency: terms.currency,
    merchant: terms.merchant,
    gateway,
    method: gateway === 'epay' ? epayType(method) : '',
    tradeNo,
    ...(plan ? { planId: plan.planId, plan: plan.terms } : {}),
  })
  return em.findOneOrFail(TopUpOrder, { id }, { disableIdentityMap: true })
}

async function start(
  deps: UserDeps,
  order: TopUpOrder,
  { method, epayName }: { method: PayMethod; epayName: string },
): Promise<Started> {
  if (gatewayOf(method) === 'epay') return startEpay(deps, order, epayName)
  const { options, em } = deps
  const shown =
    order.plan?.name ??
    formatQuota(order.quota, {
      quotaPerUnit: options.get('QuotaPerUnit'),
      inCurrency: options.get('DisplayInCurrencyEnabled'),
    })
  try {
    const checkout = await createCheckout(deps, order, `${options.get('SystemName')} ${shown}`)
    await em.nativeUpdate(TopUpOrder, { id: order.id }, { checkoutId: checkout.id })
    return { kind: 'redirect', url: checkout.url, tradeNo: order.tradeNo }
  } catch (error) {
    // The page of a repetition's order is there already.
    const failing = { id: order.id, status: 'pending', checkoutId: null } as const
    const failed = await em.nativeUpdate(TopUpOrder, failing, { status: 'failed' })
    if (failed > 0) await noteEvent(em, order.id, { kind: 'failed' })
    throw error
  }
}
