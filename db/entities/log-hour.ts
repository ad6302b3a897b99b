import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** Between which ids the log rows of an hour lie that is over, so that a look at a time is a look at a range of ids. */
export const LogHour = defineEntity({
  name: 'LogHour',
  tableName: 'log_hours',
  properties: {
    hour: p.datetime().primary(),
    /** The least of all rows from this hour on. */
    firstId: p.bigint('number'),
    /** The greatest of all rows up to the end of this hour. */
    lastId: p.bigint('number'),
  },
})

export type LogHour = InferEntity<typeof LogHour>
