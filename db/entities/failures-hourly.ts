import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** Failures per hour, counted whether or not they are logged. Attempts belong to the channel that failed. */
export const FailuresHourly = defineEntity({
  name: 'FailuresHourly',
  tableName: 'failures_hourly',
  indexes: [{ name: 'failures_hourly_user_id_hour_index', properties: ['userId', 'hour'] }],
  properties: {
    hour: p.datetime().primary(),
    userId: p.integer().primary(),
    modelName: p.text().primary(),
    channelId: p.integer().primary(),
    tokenId: p.integer().primary(),
    group: p.text().primary(),
    /** Calls that no channel answered, under the channel that was tried last. */
    calls: p.bigint('number').defaultRaw('0'),
    attempts: p.bigint('number').defaultRaw('0'),
  },
})

export type FailuresHourly = InferEntity<typeof FailuresHourly>
