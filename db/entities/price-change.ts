import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'
import type { PriceChange as Change } from '#core/pricing/price-changes.ts'

/** Prices that come into force at an instant; kept when they have, or were cancelled. */
export const PriceChange = defineEntity({
  name: 'PriceChange',
  tableName: 'price_changes',
  indexes: [{ name: 'price_changes_status_effective_at_index', properties: ['status', 'effectiveAt'] }],
  properties: {
    id: p.integer().primary().autoincrement(),
    effectiveAt: p.datetime(),
    /** `pending`, `applied` or `cancelled`. */
    status: p.text().default('pending'),
    change: p.json().$type<Change>(),
    note: p.text().default(''),
    createdBy: p.integer(),
    createdAt: p.datetime().defaultRaw('now()'),
    endedAt: p.datetime().nullable(),
  },
})

export type PriceChange = InferEntity<typeof PriceChange>
