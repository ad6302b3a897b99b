import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** An answer in the form of responses that the gateway keeps itself, for upstreams that do not keep their own. */
export const LocalResponse = defineEntity({
  name: 'LocalResponse',
  tableName: 'local_responses',
  indexes: [
    { name: 'local_responses_user_id_used_at_index', properties: ['userId', 'usedAt'] },
    { name: 'local_responses_item_ids_index', properties: ['itemIds'], type: 'gin' },
  ],
  properties: {
    id: p.text().primary(),
    userId: p.integer(),
    /** The answer that its call went on from. */
    previousId: p.text().nullable(),
    /** By which later calls may refer to what was answered. */
    itemIds: p.array(),
    bytes: p.integer(),
    /** What was asked in this turn and what was answered, compressed and encrypted. */
    sealed: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
    /** Made, or gone on from: it expires so long after. */
    usedAt: p.datetime().defaultRaw('now()').index('local_responses_used_at_index'),
  },
})

export type LocalResponse = InferEntity<typeof LocalResponse>
