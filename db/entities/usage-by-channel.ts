import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What channels earned and cost by day (UTC), as far as its hours are over; made of `usage_hourly` by `roll_up_usage()`. */
export const UsageByChannel = defineEntity({
  name: 'UsageByChannel',
  tableName: 'usage_by_channel',
  properties: {
    day: p.date().primary(),
    channelId: p.integer().primary(),
    quota: p.bigint('number').defaultRaw('0'),
    cost: p.bigint('number').defaultRaw('0'),
    costedQuota: p.bigint('number').defaultRaw('0'),
  },
})

export type UsageByChannel = InferEntity<typeof UsageByChannel>
