import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'
import { usageSums } from './usage-sums.ts'

/** Sums of hours that are over, of everything together; made of `usage_by_hour` by `roll_up_usage()`. */
export const UsageTotals = defineEntity({
  name: 'UsageTotals',
  tableName: 'usage_totals',
  properties: {
    hour: p.datetime().primary(),
    ...usageSums,
  },
})

export type UsageTotals = InferEntity<typeof UsageTotals>
