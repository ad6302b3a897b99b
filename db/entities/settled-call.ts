import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** A call that was charged within the last hours; partitioned by the hour's slot. Written by the ledger's functions only. */
export const SettledCall = defineEntity({
  name: 'SettledCall',
  tableName: 'settled_calls',
  properties: {
    /** The request id. */
    id: p.text().primary(),
    slot: p.smallint().primary(),
  },
})

export type SettledCall = InferEntity<typeof SettledCall>
