import { defineEntity, p, type InferEntity } from '@mikro-orm/postgresql'
import type { BuyingPrice } from '#core/pricing/buying-price.ts'

/** A connection to one upstream provider. Texts that hold JSON are stored as the operator typed them. */
export const Channel = defineEntity({
  name: 'Channel',
  tableName: 'channels',
  properties: {
    id: p.integer().primary().autoincrement(),
    type: p.integer(),
    name: p.text(),
    /** All credentials, comma-joined, encrypted. */
    keyEncrypted: p.text(),
    /** HMAC of the whole key text, for the documented search by key. */
    keyHmac: p.text().default('').index(),
    status: p.smallint().default(1),
    statusReason: p.text().default(''),
    statusAt: p.datetime().nullable(),
    openaiOrganization: p.text().default(''),
    testModel: p.text().default(''),
    maxInputTokens: p.integer().default(0),
    baseUrl: p.text().default(''),
    other: p.text().default(''),
    /** Comma-joined. */
    models: p.text().default(''),
    /** Comma-joined groups. */
    group: p.text().default('default'),
    modelPrefix: p.text().default(''),
    tag: p.text().default('').index(),
    modelMapping: p.text().default(''),
    statusCodeMapping: p.text().default(''),
    setting: p.text().default(''),
    /** The address of the proxy where it has a password, encrypted; `setting` shows *** in the password's place. */
    proxyEncrypted: p.text().default(''),
    paramOverride: p.text().default(''),
    systemPrompt: p.text().default(''),
    priority: p.integer().default(0),
    weight: p.integer().default(0),
    autoBan: p.boolean().default(true),
    usedQuota: p.bigint('number').defaultRaw('0'),
    /** What was paid for it, in billionths of a US dollar, as far as buying prices are known. */
    usedCost: p.bigint('number').defaultRaw('0'),
    /** As the provider reports it, in `balanceCurrency`. */
    balance: p.double().default(0),
    /** By ISO 4217; null for points of the provider's own, and where it was last asked before this was noted. */
    balanceCurrency: p.text().nullable(),
    balanceUpdatedAt: p.datetime().nullable(),
    /** What its models cost the operator, dated. */
    buyingPrices: p.json().$type<BuyingPrice[]>().defaultRaw("'[]'"),
    responseTimeMs: p.integer().default(0),
    testedAt: p.datetime().nullable(),
    /** Another one after every change of what processes cache of the channel; kept by triggers. */
    revision: p.bigint('number').defaultRaw('0'),
    createdAt: p.datetime().defaultRaw('now()'),
  },
})

export type Channel = InferEntity<typeof Channel>
