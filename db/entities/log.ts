import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'

/** What a row keeps beside its columns: keys that older consoles read (`otherOf` in the relay's record), then our own. */
export type LogOther = Record<string, unknown>

/** Append-only, partitioned by month; relay calls are written by the ledger in the transaction that charges them. */
export const Log = defineEntity({
  name: 'Log',
  tableName: 'logs',
  indexes: [
    { name: 'logs_user_id_id_index', properties: ['userId', 'id'] },
    { name: 'logs_request_id_index', properties: ['requestId'] },
    { name: 'logs_model_name_id_index', properties: ['modelName', 'id'] },
    { name: 'logs_type_created_at_index', properties: ['type', 'createdAt'] },
    { name: 'logs_channel_id_id_index', properties: ['channelId', 'id'] },
    { name: 'logs_token_name_id_index', properties: ['tokenName', 'id'] },
    { name: 'logs_group_id_index', properties: ['group', 'id'] },
  ],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    createdAt: p.datetime().primary().defaultRaw('now()'),
    userId: p.integer(),
    type: p.smallint(),
    content: p.text().default(''),
    username: p.text().default(''),
    tokenName: p.text().default(''),
    tokenId: p.integer().default(0),
    modelName: p.text().default(''),
    quota: p.bigint('number').defaultRaw('0'),
    promptTokens: p.integer().default(0),
    completionTokens: p.integer().default(0),
    useTimeMs: p.integer().default(0),
    isStream: p.boolean().default(false),
    channelId: p.integer().default(0),
    group: p.text().default(''),
    clientIp: p.text().default(''),
    requestId: p.text().default(''),
    /** What the call cost the operator, in billionths of a dollar; null where nobody has said. */
    cost: p.bigint('number').nullable(),
    other: p.json().$type<LogOther>().nullable(),
  },
})

export type Log = InferEntity<typeof Log>
