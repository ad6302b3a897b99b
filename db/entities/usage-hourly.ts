import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'
import { usageSums } from './usage-sums.ts'

/** Sums per hour, kept in the transaction of each charge; dashboards and totals read this instead of scanning logs. */
export const UsageHourly = defineEntity({
  name: 'UsageHourly',
  tableName: 'usage_hourly',
  indexes: [
    { name: 'usage_hourly_user_id_hour_index', properties: ['userId', 'hour'] },
    { name: 'usage_hourly_channel_id_hour_index', properties: ['channelId', 'hour'] },
  ],
  properties: {
    hour: p.datetime().primary(),
    userId: p.integer().primary(),
    modelName: p.text().primary(),
    channelId: p.integer().primary(),
    tokenId: p.integer().primary(),
    group: p.text().primary(),
    ...usageSums,
    /** The part of `quota` that subscriptions paid. */
    planQuota: p.bigint('number').defaultRaw('0'),
  },
})

export type UsageHourly = InferEntity<typeof UsageHourly>
