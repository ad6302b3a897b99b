import type { RouterInputs, RouterOutputs } from '#server/app-router.ts'
import { defaultQuotaPerUnit } from '#core/quota.ts'

export type Plan = RouterOutputs['admin']['plans']['list'][number]
export type Subscription = RouterOutputs['admin']['subscriptions']['list']['items'][number]

type Values = Required<RouterInputs['admin']['plans']['create']>

const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

export const blankPlan: Values = {
  name: '',
  description: '',
  price: 10 * defaultQuotaPerUnit,
  moneyPrices: {},
  term: 'month',
  termCount: 1,
  models: [],
  windows: [
    { period: 'rolling', seconds: 18_000, zone: 'UTC', amount: 2 * defaultQuotaPerUnit, models: [] },
    { period: 'week', seconds: 0, zone: zone(), amount: 10 * defaultQuotaPerUnit, models: [] },
  ],
  balancePays: true,
  onSale: true,
  position: 0,
  stock: null,
  perUser: null,
}

export const valuesOf = (plan: Plan): Values => {
  const { id: _, sold: __, running: ___, updatedAt: ____, isPayable: _____, windows, ...values } = plan
  return { ...values, windows: windows.map((window) => ({ ...window, models: [] })) }
}

/** As the form began with it, in the form in which it is stored. */
export const storedOf = ({ windows, ...values }: Values): Record<string, unknown> => ({
  ...values,
  windows: windows.map(({ period, seconds, zone: of, amount }) => ({ period, seconds, zone: of, amount })),
})
