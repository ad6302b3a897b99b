import type { OptionsReader } from '#core/options/registry/index.ts'
import { groupRatioOf } from './group-ratio.ts'
import type { CallPrice, Price } from './price.ts'
import { type PriceSettings, resolvePrice, resolveTaskPrice } from './resolve-price.ts'
import { figureOf, type PriceTables, type RatioMap } from './tables.ts'
import { taskPriceName } from './tasks.ts'
import type { ImagePrices } from './tools.ts'

export const priceTablesOf = (options: OptionsReader): PriceTables => ({
  ModelRatio: options.get('ModelRatio'),
  ModelPrice: options.get('ModelPrice'),
  CompletionRatio: options.get('CompletionRatio'),
  CacheRatio: options.get('CacheRatio'),
  CreateCacheRatio: options.get('CreateCacheRatio'),
  LongContextRatio: options.get('LongContextRatio'),
})

type CommonSettings = Omit<PriceSettings, 'acceptUnset'>

const commonSettingsOf = (options: OptionsReader): CommonSettings => ({
  fallback_pricing_enabled: options.get('fallback_pricing_enabled'),
  fallback_single_price: options.get('fallback_single_price') ?? 0,
  fallback_input_ratio: options.get('fallback_input_ratio') ?? 0,
  fallback_completion_ratio: options.get('fallback_completion_ratio') ?? 0,
  SelfUseModeEnabled: options.get('SelfUseModeEnabled'),
})

/** What models cost by one state of the options: the same few are asked for with every call. */
type KnownPrices = {
  tables: PriceTables
  settings: CommonSettings
  prices: Map<string, Price | undefined>
  /** Of those who accept models that nobody has priced. */
  accepted: Map<string, Price | undefined>
}

const knownPrices = new WeakMap<RatioMap, KnownPrices>()
/** Names come from callers too. */
const mostKnown = 5000

const isCurrent = ({ tables, settings }: KnownPrices, options: OptionsReader): boolean =>
  tables.ModelPrice === options.get('ModelPrice') &&
  tables.CompletionRatio === options.get('CompletionRatio') &&
  tables.CacheRatio === options.get('CacheRatio') &&
  tables.CreateCacheRatio === options.get('CreateCacheRatio') &&
  tables.LongContextRatio === options.get('LongContextRatio') &&
  settings.fallback_pricing_enabled === options.get('fallback_pricing_enabled') &&
  settings.fallback_single_price === (options.get('fallback_single_price') ?? 0) &&
  settings.fallback_input_ratio === (options.get('fallback_input_ratio') ?? 0) &&
  settings.fallback_completion_ratio === (options.get('fallback_completion_ratio') ?? 0) &&
  settings.SelfUseModeEnabled === options.get('SelfUseModeEnabled')

function knownPricesOf(options: OptionsReader): KnownPrices {
  const ratios = options.get('ModelRatio')
  const known = knownPrices.get(ratios)
  if (known && isCurrent(known, options)) return known
  const fresh: KnownPrices = {
    tables: priceTablesOf(options),
    settings: commonSettingsOf(options),
    prices: new Map(),
    accepted: new Map(),
  }
  knownPrices.set(ratios, fresh)
  return fresh
}

/**
 * What a model costs by the present options; undefined where no call of it would be served. As long as the options stay as they
 * are it is the same object, which nobody may change.
 */
export function priceOf(
  options: OptionsReader,
  { model, acceptUnset }: { model: string; acceptUnset: boolean },
): Price | undefined {
  const { tables, settings, prices, accepted } = knownPricesOf(options)
  const known = acceptUnset ? accepted : prices
  let price = known.get(model)
  if (price === undefined && !known.has(model)) {
    price = resolvePrice({ model, tables, settings: { ...settings, acceptUnset } })
    if (known.size >= mostKnown) known.clear()
    known.set(model, price && Object.freeze(price))
  }
  return price
}

/** The name that the formulas and tools of a call go by, as its price does; `sentAs` is what the upstream knows. */
export const nameOfPrice = ({ pricedModel }: { pricedModel?: string | undefined }, sentAs: string): string =>
  pricedModel ?? sentAs

/** What the images of a model cost by the present tables. */
export const imagePricesOf = (options: OptionsReader): ImagePrices => ({
  priceOf: (model) => priceOf(options, { model, acceptUnset: false }),
  quotaPerUnit: options.get('QuotaPerUnit'),
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
