import type { OptionsReader } from '#core/options/registry/index.ts'
import { groupRatioOf } from './group-ratio.ts'
import type { CallPrice, Price } from './price.ts'
import { type PriceSettings, resolvePrice, resolveTaskPrice } from './resolve-price.ts'
import { figureOf, type PriceTables } from './tables.ts'
import { taskPriceName } from './tasks.ts'

export const priceTablesOf = (options: OptionsReader): PriceTables => ({
  ModelRatio: options.get('ModelRatio'),
  ModelPrice: options.get('ModelPrice'),
  CompletionRatio: options.get('CompletionRatio'),
  CacheRatio: options.get('CacheRatio'),
  CreateCacheRatio: options.get('CreateCacheRatio'),
  LongContextRatio: options.get('LongContextRatio'),
})

/** What a model costs by the present options; undefined where no call of it would be served. */
export const priceOf = (
  options: OptionsReader,
  { model, acceptUnset }: { model: string; acceptUnset: boolean },
): Price | undefined =>
  resolvePrice({
    model,
    tables: priceTablesOf(options),
    settings: {
      fallback_pricing_enabled: options.get('fallback_pricing_enabled'),
      fallback_single_price: options.get('fallback_single_price') ?? 0,
      fallback_input_ratio: options.get('fallback_input_ratio') ?? 0,
      fallback_completion_ratio: options.get('fallback_completion_ratio') ?? 0,
      SelfUseModeEnabled: options.get('SelfUseModeEnabled'),
      acceptUnset,
    },
  })

const tablesOnly: PriceSettings = {
  fallback_pricing_enabled: false,
  fallback_single_price: 0,
  fallback_input_ratio: 0,
  fallback_completion_ratio: 0,
  SelfUseModeEnabled: false,
  acceptUnset: false,
}

/** A table prices the model, whatever a fallback or the self-use mode would make of it. */
export const isInPriceTables = (options: OptionsReader, model: string): boolean =>
  resolvePrice({ model, tables: priceTablesOf(options), settings: tablesOnly }) !== undefined

type PricedTask = { model: string; mode: string; pricedModel?: string | undefined }

/**
 * What a task costs by the present options; a mode of the drawing service may have a price of its own. One that was charged
 * under a name of the table (`pricedModel`) is priced under it again, as long as it is there.
 */
export function taskPriceOf(options: OptionsReader, { model, mode, pricedModel }: PricedTask): CallPrice {
  const prices = options.get('ModelPrice')
  const listed = pricedModel === undefined ? undefined : figureOf(prices, pricedModel)
  if (listed !== undefined) return { kind: 'call', modelPrice: listed, source: 'table' }
  return resolveTaskPrice(taskPriceName({ model, mode }, prices), prices)
}

/** What a group makes of every price, by the present options. */
export const chargedGroupRatio = (
  options: OptionsReader,
  groups: { userGroup: string; usedGroup: string },
): { ratio: number; known: boolean } =>
  groupRatioOf(groups, { GroupRatio: options.get('GroupRatio'), GroupGroupRatio: options.get('GroupGroupRatio') })
