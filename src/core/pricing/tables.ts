import defaults from './default-pricing.json' with { type: 'json' }
import type { LongContextTable } from './long-context.ts'

/** Model (or group) name → number, as an option stores it. */
export type RatioMap = Readonly<Record<string, number>>

/** The price tables an administrator can change, by option key. Each saved map replaces the whole default map. */
export type PriceTables = {
  ModelRatio: RatioMap
  ModelPrice: RatioMap
  CompletionRatio: RatioMap
  CacheRatio: RatioMap
  /** What is written to a cache, against input. */
  CreateCacheRatio: RatioMap
  LongContextRatio: LongContextTable
}

const defaultModelRatio: RatioMap = defaults.ModelRatio
export const defaultModelPrice: RatioMap = defaults.ModelPrice
export const defaultCompletionRatio: RatioMap = defaults.CompletionRatio
const defaultCacheRatio: RatioMap = defaults.CacheRatio
const defaultCreateCacheRatio: RatioMap = defaults.CreateCacheRatio
export const imageRatio: RatioMap = defaults.ImageRatio
export const audioRatio: RatioMap = defaults.AudioRatio
export const audioCompletionRatio: RatioMap = defaults.AudioCompletionRatio
export const defaultGroupRatio: RatioMap = defaults.GroupRatio
/** User group → used group → ratio. */
export const defaultGroupGroupRatio: Readonly<Record<string, RatioMap>> = defaults.GroupGroupRatio
export const defaultTopupGroupRatio: RatioMap = defaults.TopupGroupRatio
export const defaultUserUsableGroups: Readonly<Record<string, string>> = defaults.UserUsableGroups
export const defaultAutoGroups: readonly string[] = defaults.AutoGroups
export const toolPrices = defaults.ToolPrices
export const imageSizeRatio: RatioMap = defaults.ImageSizeRatio
export const imageQualityRatio: Readonly<Record<string, RatioMap>> = defaults.ImageQualityRatio
export const pricingDefaults = defaults.Defaults

export const defaultPriceTables: PriceTables = {
  ModelRatio: defaultModelRatio,
  ModelPrice: defaultModelPrice,
  CompletionRatio: defaultCompletionRatio,
  CacheRatio: defaultCacheRatio,
  CreateCacheRatio: defaultCreateCacheRatio,
  LongContextRatio: {},
}

/** A usable figure of a table: own key, finite, not negative. Anything else counts as not set. */
export function figureOf(map: RatioMap | undefined, name: string): number | undefined {
  if (map === undefined || !Object.hasOwn(map, name)) return undefined
  const figure = map[name]
  return typeof figure === 'number' && Number.isFinite(figure) && figure >= 0 ? figure : undefined
}

/** A model's name without the vendors before it, as in `google/gemini-2.5-flash`. */
export const bareName = (model: string): string => model.slice(model.lastIndexOf('/') + 1)

/** The figure of the longest entry that fits; an entry ending in `*` fits every name that starts with what precedes it. */
export function figureByPattern(map: RatioMap, name: string): number | undefined {
  const exact = figureOf(map, name)
  if (exact !== undefined) return exact
  const fitting = Object.keys(map).filter((key) => key.endsWith('*') && name.startsWith(key.slice(0, -1)))
  const longest = fitting.toSorted((left, right) => right.length - left.length)[0]
  return longest === undefined ? undefined : figureOf(map, longest)
}
