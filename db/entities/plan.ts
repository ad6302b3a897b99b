import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

export type PlanTerm = 'day' | 'week' | 'month' | 'year'

/** What is paid within a window of time: a rolling one, or a calendar one that begins at midnight of a zone. */
export type PlanWindow = {
  period: 'rolling' | 'day' | 'week' | 'month'
  /** Length of a rolling window; 0 for calendar windows. */
  seconds: number
  zone: string
  amount: number
}

/** What a buyer gets, whatever becomes of the plan afterwards. */
export type PlanTerms = {
  name: string
  /** Internal units. */
  price: number
  term: PlanTerm
  termCount: number
  models: string[]
  windows: PlanWindow[]
  balancePays: boolean
}

/** Something an administrator sells for a time. */
export const Plan = defineEntity({
  name: 'Plan',
  tableName: 'plans',
  properties: {
    id: p.integer().primary().autoincrement(),
    name: p.text(),
    description: p.text().default(''),
    price: p.bigint('number'),
    /** What is asked in money instead of what `price` is worth, by currency: `{ "CNY": "39.00" }`. */
    moneyPrices: p.json().$type<Record<string, string>>().defaultRaw("'{}'"),
    term: p.text().$type<PlanTerm>(),
    termCount: p.integer().default(1),
    /** Empty: every model. A name that ends in `*` covers all that begin like it. */
    models: p.array().default([]),
    windows: p.json().$type<PlanWindow[]>(),
    /** What goes beyond the windows is paid from the balance; else it is refused. */
    balancePays: p.boolean().default(true),
    onSale: p.boolean().default(true),
    /** Lower ones are shown first. */
    position: p.integer().default(0),
    /** How many run at once at most, and how many one user may ever buy; null for any number. */
    stock: p.integer().nullable(),
    perUser: p.integer().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
})

export type Plan = InferEntity<typeof Plan>
