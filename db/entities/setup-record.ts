import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** Present once the product was set up; the single row's fixed id makes a second setup impossible. */
export const SetupRecord = defineEntity({
  name: 'SetupRecord',
  tableName: 'setup_records',
  properties: {
    id: p.integer().primary().autoincrement(false),
    version: p.text(),
    initializedAt: p.datetime().defaultRaw('now()'),
  },
})

export type SetupRecord = InferEntity<typeof SetupRecord>
