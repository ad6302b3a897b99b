import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** Calls and failures under a token's name, of hours that are over; made of the log by `roll_up_usage()`. */
export const TokenNameHour = defineEntity({
  name: 'TokenNameHour',
  tableName: 'token_name_hours',
  properties: {
    tokenName: p.text().primary(),
    hour: p.datetime().primary(),
    calls: p.bigint('number').defaultRaw('0'),
    quota: p.bigint('number').defaultRaw('0'),
    failedCalls: p.bigint('number').defaultRaw('0'),
    failedAttempts: p.bigint('number').defaultRaw('0'),
  },
})

export type TokenNameHour = InferEntity<typeof TokenNameHour>
