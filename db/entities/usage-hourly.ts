import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

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
    count: p.bigint('number').defaultRaw('0'),
    promptTokens: p.bigint('number').defaultRaw('0'),
    completionTokens: p.bigint('number').defaultRaw('0'),
    cachedTokens: p.bigint('number').defaultRaw('0'),
    quota: p.bigint('number').defaultRaw('0'),
    useTimeMs: p.bigint('number').defaultRaw('0'),
    firstTokenMs: p.bigint('number').defaultRaw('0'),
    /** Calls that had a first token, the divisor of `firstTokenMs`. */
    firstTokenCount: p.bigint('number').defaultRaw('0'),
    /** What it cost the operator, in billionths of a dollar, failed tries included. */
    cost: p.bigint('number').defaultRaw('0'),
    /** The part of `quota` whose cost is known. */
    costedQuota: p.bigint('number').defaultRaw('0'),
    /** The part of `quota` that subscriptions paid. */
    planQuota: p.bigint('number').defaultRaw('0'),
  },
})

export type UsageHourly = InferEntity<typeof UsageHourly>
