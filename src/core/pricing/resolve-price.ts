import { audioCompletionRatioOf, audioRatioOf, imageOutputRatioOf } from './audio-rules.ts'
import { completionRuleOf } from './completion-rules.ts'
import type { LongContextStep, LongContextTable } from './long-context.ts'
import type { CallPrice, Price, RatioPrice } from './price.ts'
import { bareName, defaultCompletionRatio, defaultModelPrice, figureByPattern, figureOf } from './tables.ts'
import { imageRatio, pricingDefaults } from './tables.ts'
import type { PriceTables, RatioMap } from './tables.ts'

/** The options that price what the tables do not, by their documented keys. */
export type PriceSettings = {
  fallback_pricing_enabled: boolean
  fallback_single_price: number
  fallback_input_ratio: number
  fallback_completion_ratio: number
  SelfUseModeEnabled: boolean
  /** The caller's own setting `accept_unset_model_ratio_model`. */
  acceptUnset: boolean
}

/** Models of OpenAI from 5.6 on, which keep such writes for twelve hours: https://developers.openai.com/api/docs/models/gpt-6.2-sol, "Pricing". */
const keepsForHours = (model: string): boolean => /^gpt-(5\.([6-9]|\d\d)|[6-9]|[12]\d)/.test(bareName(model))

const cacheWrite1hRatioOf = (model: string): number => (keepsForHours(model) ? 2.5 : 2)

/** The names to look a model up by: its own, then the row that stands for its whole family. */
function priceNames(model: string): string[] {
  const family = familyOf(model)
  return family === undefined || family === model ? [model] : [model, family]
}

function familyOf(model: string): string | undefined {
  if (model.startsWith('gpt-4-gizmo')) return 'gpt-4-gizmo-*'
  if (model.startsWith('gpt-4o-gizmo')) return 'gpt-4o-gizmo-*'
  if (!/^gemini-2\.5-.*-thinking-\d+$/.test(model)) return undefined
  if (model.startsWith('gemini-2.5-flash-lite')) return 'gemini-2.5-flash-lite-preview-thinking-*'
  if (model.startsWith('gemini-2.5-flash')) return 'gemini-2.5-flash-thinking-*'
  return model.startsWith('gemini-2.5-pro') ? 'gemini-2.5-pro-thinking-*' : undefined
}

const lookUp = (map: RatioMap, names: readonly string[]): number | undefined => {
  for (const name of names) {
    const figure = figureOf(map, name)
    if (figure !== undefined) return figure
  }
  return undefined
}

/**
 * What a model costs, or undefined where nobody has priced it and nothing else allows it. A price per call beats a ratio;
 * a price of 0 is a price.
 */
export function resolvePrice(input: {
  model: string
  tables: PriceTables
  settings: PriceSettings
}): Price | undefined {
  return tablePrice(input.model, input.tables) ?? priceOfUnpriced(input)
}

function tablePrice(model: string, tables: PriceTables): Price | undefined {
  for (const name of priceNames(model)) {
    const modelPrice = figureOf(tables.ModelPrice, name)
    if (modelPrice !== undefined) return { kind: 'call', modelPrice, source: 'table' }
    const modelRatio = figureOf(tables.ModelRatio, name)
    if (modelRatio !== undefined) {
      const completionRatio = completionRatioOf(model, tables.CompletionRatio)
      return ratioPriceOf(model, tables, { modelRatio, completionRatio, source: 'table' })
    }
  }
  return undefined
}

function priceOfUnpriced(input: { model: string; tables: PriceTables; settings: PriceSettings }): Price | undefined {
  const { model, tables, settings } = input
  if (settings.fallback_pricing_enabled) {
    const modelPrice = settings.fallback_single_price
    if (modelPrice > 0) return { kind: 'call', modelPrice, source: 'fallback' }
    const modelRatio = settings.fallback_input_ratio
    const completionRatio = settings.fallback_completion_ratio
    if (modelRatio > 0 && completionRatio > 0) {
      return ratioPriceOf(model, tables, { modelRatio, completionRatio, source: 'fallback' })
    }
  }
  if (!settings.SelfUseModeEnabled && !settings.acceptUnset) return undefined
  const completionRatio = completionRatioOf(model, tables.CompletionRatio)
  return ratioPriceOf(model, tables, {
    modelRatio: pricingDefaults.UnknownModelRatio,
    completionRatio,
    source: 'unset',
  })
}

function ratioPriceOf(
  model: string,
  tables: PriceTables,
  base: Pick<RatioPrice, 'modelRatio' | 'completionRatio' | 'source'>,
): RatioPrice {
  const names = priceNames(model)
  const longContext = longContextOf(tables.LongContextRatio, names)
  const ofAudio = audioRatioOf(model, base.modelRatio)
  const imageOutputRatio = imageOutputRatioOf(model, base)
  return {
    kind: 'ratio',
    ...base,
    cacheRatio: lookUp(tables.CacheRatio, names) ?? pricingDefaults.UnknownCacheRatio,
    cacheWriteRatio: lookUp(tables.CreateCacheRatio, names) ?? pricingDefaults.UnknownCreateCacheRatio,
    cacheWrite1hRatio: cacheWrite1hRatioOf(model),
    imageRatio: figureByPattern(imageRatio, bareName(model)) ?? pricingDefaults.UnknownImageRatio,
    audioRatio: ofAudio,
    audioCompletionRatio: audioCompletionRatioOf(model, { ...base, audioRatio: ofAudio }),
    ...(imageOutputRatio === undefined ? {} : { imageOutputRatio }),
    ...(longContext.length > 0 ? { longContext } : {}),
  }
}

function longContextOf(table: LongContextTable, names: readonly string[]): LongContextStep[] {
  const name = names.find((known) => Object.hasOwn(table, known))
  return name === undefined ? [] : [...(table[name] ?? [])]
}

/** What an output token costs against an input token. A locked rule by name beats the map, except for names with a `/`. */
export function completionRatioOf(model: string, map: RatioMap): number {
  const own = lookUp(map, priceNames(model))
  if (model.includes('/') && own !== undefined) return own
  const rule = completionRuleOf(model)
  if (rule?.locked) return rule.ratio ?? 1
  if (own !== undefined) return own
  if (rule?.as !== undefined) return figureOf(defaultCompletionRatio, rule.as) ?? 1
  return rule?.ratio ?? 1
}

/**
 * Whether writing a model's prompts into a cache is part of its price list: somebody has entered what it costs, or its vendor charges for
 * it, so that the default does.
 */
export const listsCacheWrites = (model: string, map: RatioMap): boolean =>
  lookUp(map, priceNames(model)) !== undefined || model.includes('claude') || keepsForHours(model)

/** Drawing and music cost a price per call also where the administrator's table has none. */
export function resolveTaskPrice(model: string, modelPrices: RatioMap): CallPrice {
  const modelPrice = figureOf(modelPrices, model)
  if (modelPrice !== undefined) return { kind: 'call', modelPrice, source: 'table' }
  return {
    kind: 'call',
    modelPrice: figureOf(defaultModelPrice, model) ?? pricingDefaults.UnknownTaskPrice,
    source: 'default',
  }
}
