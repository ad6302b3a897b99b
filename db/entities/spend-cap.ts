import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** How much a user or a token may spend within a window of time. */
export const SpendCap = defineEntity({
  name: 'SpendCap',
  tableName: 'spend_caps',
  indexes: [{ properties: ['subjectId', 'scope'] }],
  properties: {
    id: p.integer().primary().autoincrement(),
    /** Whose spending counts; of a subscription it is a window, which limits what the subscription pays and nothing else. */
    scope: p.text().$type<'user' | 'token' | 'subscription'>(),
    subjectId: p.integer(),
    /** Who set it: owner, admin, or a subscription, then with its id. */
    source: p.text(),
    sourceId: p.integer().default(0),
    period: p.text().$type<'rolling' | 'day' | 'week' | 'month'>(),
    /** Length of a rolling window; 0 for calendar windows. */
    seconds: p.integer().default(0),
    /** Where the day of a calendar window begins (IANA). */
    zone: p.text().default('UTC'),
    amount: p.bigint('number'),
    /** Empty: every model. A name that ends in `*` covers all that begin like it. */
    models: p.array().default([]),
    /** Instead of `amount`, until the moment below. */
    raisedAmount: p.bigint('number').nullable(),
    raisedUntil: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export type SpendCap = InferEntity<typeof SpendCap>
