import { z } from 'zod'
import type { GroupTables } from './group-ratio.ts'
import { areAscending, type LongContextStep } from './long-context.ts'
import { longContextSteps } from './long-context-schema.ts'
import type { PriceTables } from './tables.ts'

const name = z.string().trim().min(1).max(255)
const figure = z.number().min(0).max(1e9)

/** Null: none any more, so that the usual one counts; left out: as it is. */
const furtherRatio = figure.nullable().optional()

/** A price per call, or ratios per token: one of the two, never both; or neither any more. */
export const modelPriceInput = z.union([
  z.strictObject({ model: name, modelPrice: figure }),
  z.strictObject({
    model: name,
    modelRatio: figure,
    completionRatio: furtherRatio,
    cacheRatio: furtherRatio,
    cacheWriteRatio: furtherRatio,
    /** None: every prompt at one price. */
    longContext: longContextSteps.refine(areAscending).optional(),
  }),
  z.strictObject({ model: name, removed: z.literal(true) }),
])
export type ModelPriceInput = z.infer<typeof modelPriceInput>

/** What changes; everything that is not named stays as it is at that moment. */
export const priceChange = z.strictObject({
  prices: z.array(modelPriceInput).max(2000).default([]),
  groupRatios: z.record(name, figure).default({}),
})
export type PriceChange = z.infer<typeof priceChange>

export const priceTableKeys = [
  'ModelPrice',
  'ModelRatio',
  'CompletionRatio',
  'CacheRatio',
  'CreateCacheRatio',
  'LongContextRatio',
] as const

/** Names come from people; as own keys of an object without ancestors none of them means anything else. */
const copyOf = <Entry>(table: Readonly<Record<string, Entry>>): Record<string, Entry> =>
  Object.assign(Object.create(null) as Record<string, Entry>, table)

type Changed = PriceTables & Pick<GroupTables, 'GroupRatio'>

/** The tables after a change. A price per call and ratios exclude each other. */
export function withPriceChange(before: Changed, { prices, groupRatios }: PriceChange): Changed {
  const tables = {
    ModelPrice: copyOf(before.ModelPrice),
    ModelRatio: copyOf(before.ModelRatio),
    CompletionRatio: copyOf(before.CompletionRatio),
    CacheRatio: copyOf(before.CacheRatio),
    CreateCacheRatio: copyOf(before.CreateCacheRatio),
    LongContextRatio: copyOf(before.LongContextRatio),
  }
  for (const price of prices) enter(tables, price)
  return { ...tables, GroupRatio: Object.assign(copyOf(before.GroupRatio), groupRatios) }
}

/** What the tables say of one model, as a text to compare: whoever begins with it sees whether it was changed since. */
export const entriesOf = (tables: PriceTables, model: string): string =>
  JSON.stringify(priceTableKeys.map((key) => (Object.hasOwn(tables[key], model) ? tables[key][model] : null)))

/** Of a model that they do not name. */
export const noEntries = JSON.stringify(priceTableKeys.map(() => null))

type Writable = Record<Exclude<(typeof priceTableKeys)[number], 'LongContextRatio'>, Record<string, number>> & {
  LongContextRatio: Record<string, readonly LongContextStep[]>
}

function enter(tables: Writable, price: ModelPriceInput): void {
  const { model } = price
  if (!('modelRatio' in price)) {
    for (const key of priceTableKeys) delete tables[key][model]
    if ('modelPrice' in price) tables.ModelPrice[model] = price.modelPrice
    return
  }
  delete tables.ModelPrice[model]
  tables.ModelRatio[model] = price.modelRatio
  enterOne(tables.CompletionRatio, model, price.completionRatio)
  enterOne(tables.CacheRatio, model, price.cacheRatio)
  enterOne(tables.CreateCacheRatio, model, price.cacheWriteRatio)
  enterOne(tables.LongContextRatio, model, price.longContext?.length === 0 ? null : price.longContext)
}

function enterOne<Entry>(table: Record<string, Entry>, model: string, entry: Entry | null | undefined): void {
  if (entry === null) delete table[model]
  else if (entry !== undefined) table[model] = entry
}
