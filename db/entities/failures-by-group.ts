import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** Failures by group, of hours that are over; made of `failures_hourly` by `roll_up_usage()`. */
export const FailuresByGroup = defineEntity({
  name: 'FailuresByGroup',
  tableName: 'failures_by_group',
  properties: {
    hour: p.datetime().primary(),
    group: p.text().primary(),
    calls: p.bigint('number').defaultRaw('0'),
    attempts: p.bigint('number').defaultRaw('0'),
  },
})

export type FailuresByGroup = InferEntity<typeof FailuresByGroup>
