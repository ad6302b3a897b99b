import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'
import { usageSums } from './usage-sums.ts'

/** Sums of hours that are over, of all users together; made of `usage_hourly` by `roll_up_usage()`. */
export const UsageByModel = defineEntity({
  name: 'UsageByModel',
  tableName: 'usage_by_model',
  indexes: [{ name: 'usage_by_model_group_hour_index', properties: ['group', 'hour'] }],
  properties: {
    hour: p.datetime().primary(),
    modelName: p.text().primary(),
    group: p.text().primary(),
    ...usageSums,
  },
})

export type UsageByModel = InferEntity<typeof UsageByModel>
