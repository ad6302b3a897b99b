import { expect, it } from 'vitest'
import { pay } from '#features/orders/schema.ts'
import { refusalOf } from '#core/refusal-of.ts'
import { endSubscription, orderPlan, planForm } from './schema.ts'

const window = { period: 'day', amount: 100 }
const plan = { name: 'Team', price: 100, term: 'month', windows: [window] }
const refused = (schema: typeof planForm | typeof pay | typeof orderPlan | typeof endSubscription, input: object) =>
  refusalOf(schema.safeParse(input).error?.issues ?? [])

it('a plan as it should be is taken', () => {
  expect(refused(planForm, plan)).toBeUndefined()
  expect(refused(planForm, { ...plan, windows: [window, { ...window, zone: 'Asia/Shanghai' }] })).toBeUndefined()
  expect(refused(planForm, { ...plan, moneyPrices: { IDR: '1500000.00', COP: '1000000' } })).toBeUndefined()
})

it('a window of a plan is kept by the current name of its zone, and is the same by both names', () => {
  expect(planForm.parse({ ...plan, windows: [{ ...window, zone: 'Asia/Calcutta' }] }).windows).toMatchObject([
    { zone: 'Asia/Kolkata' },
  ])
  const windows = ['Asia/Calcutta', 'Asia/Kolkata'].map((zone) => ({ ...window, zone }))
  expect(refused(planForm, { ...plan, windows })).toBe('plan.window_repeated')
})

it.each([
  [{ name: '  ' }, 'plan.name_invalid'],
  [{ name: 'n'.repeat(61) }, 'plan.name_invalid'],
  [{ price: -1 }, 'plan.price_invalid'],
  [{ price: 0.5 }, 'plan.price_invalid'],
  [{ moneyPrices: { CNY: '0' } }, 'plan.money_invalid'],
  [{ moneyPrices: { CNY: '1.005' } }, 'plan.money_invalid'],
  [{ moneyPrices: { JPY: '1.5' } }, 'plan.money_invalid'],
  [{ moneyPrices: { USD: '1000000' } }, 'plan.money_invalid'],
  [{ termCount: 0 }, 'plan.count_invalid'],
  [{ stock: 0 }, 'plan.count_invalid'],
  [{ perUser: 1.5 }, 'plan.count_invalid'],
  [{ windows: [] }, 'plan.window_missing'],
  [
    {
      windows: ['UTC', 'Asia/Tokyo', 'Asia/Shanghai', 'Europe/Paris', 'Asia/Kolkata', 'Africa/Cairo'].map((zone) => ({
        ...window,
        zone,
      })),
    },
    'plan.window_too_many',
  ],
  [{ windows: [{ ...window, amount: 0 }] }, 'plan.window_empty'],
  [{ windows: [window, { ...window, amount: 7 }] }, 'plan.window_repeated'],
])('a plan with %j is refused as %s', (change, code) => {
  expect(refused(planForm, { ...plan, ...change })).toBe(code)
})

it('a way to pay that nobody offers is refused, for credit and for a plan', () => {
  expect(refused(pay, { amount: 10, method: 'card' })).toBe('payment.method_unknown')
  expect(refused(orderPlan, { id: 1, method: 'card' })).toBe('payment.method_unknown')
})

it('a plan is ended with a reason', () => {
  expect(refused(endSubscription, { id: 1, refund: 0, reason: ' ' })).toBe('payment.reason_required')
})
