import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** One row: up to which hour usage is added up. */
export const UsageRollup = defineEntity({
  name: 'UsageRollup',
  tableName: 'usage_rollup',
  properties: {
    id: p.integer().primary().autoincrement(false),
    until: p.datetime(),
  },
})

export type UsageRollup = InferEntity<typeof UsageRollup>
