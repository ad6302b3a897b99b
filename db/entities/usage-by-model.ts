import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** Sums of hours that are over, of all users together; made of `usage_hourly` by `roll_up_usage()`. */
export const UsageByModel = defineEntity({
  name: 'UsageByModel',
  tableName: 'usage_by_model',
  properties: {
    hour: p.datetime().primary(),
    modelName: p.text().primary(),
    group: p.text().primary(),
    count: p.bigint('number').defaultRaw('0'),
    promptTokens: p.bigint('number').defaultRaw('0'),
    completionTokens: p.bigint('number').defaultRaw('0'),
    cachedTokens: p.bigint('number').defaultRaw('0'),
    quota: p.bigint('number').defaultRaw('0'),
    useTimeMs: p.bigint('number').defaultRaw('0'),
    firstTokenMs: p.bigint('number').defaultRaw('0'),
    firstTokenCount: p.bigint('number').defaultRaw('0'),
    cost: p.bigint('number').defaultRaw('0'),
    costedQuota: p.bigint('number').defaultRaw('0'),
  },
})

export type UsageByModel = InferEntity<typeof UsageByModel>
