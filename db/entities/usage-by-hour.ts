import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'
import { usageSums } from './usage-sums.ts'

/** Sums of hours that are over, of all users and groups together; made of `usage_by_model` by `roll_up_usage()`. */
export const UsageByHour = defineEntity({
  name: 'UsageByHour',
  tableName: 'usage_by_hour',
  properties: {
    hour: p.datetime().primary(),
    modelName: p.text().primary(),
    ...usageSums,
  },
  indexes: [
    {
      name: 'usage_by_hour_model_name_hour_index',
      properties: ['modelName', 'hour'],
      include: ['quota', 'count'],
    },
  ],
})

export type UsageByHour = InferEntity<typeof UsageByHour>
