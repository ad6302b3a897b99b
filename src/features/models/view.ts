import type { Price } from '#core/pricing/price.ts'

/** A price with the figures that apply to its kind; the others are null. */
export const toPriceView = (price: Price) => ({
  kind: price.kind,
  source: price.source,
  /** US dollars a call. */
  modelPrice: price.kind === 'call' ? price.modelPrice : null,
  modelRatio: price.kind === 'ratio' ? price.modelRatio : null,
  completionRatio: price.kind === 'ratio' ? price.completionRatio : null,
  cacheRatio: price.kind === 'ratio' ? price.cacheRatio : null,
  cacheWriteRatio: price.kind === 'ratio' ? price.cacheWriteRatio : null,
  cacheWrite1hRatio: price.kind === 'ratio' ? price.cacheWrite1hRatio : null,
  imageRatio: price.kind === 'ratio' ? price.imageRatio : null,
  audioRatio: price.kind === 'ratio' ? price.audioRatio : null,
  audioCompletionRatio: price.kind === 'ratio' ? price.audioCompletionRatio : null,
  /** Of output that is images; null where it costs what all output does. */
  imageOutputRatio: price.kind === 'ratio' ? (price.imageOutputRatio ?? null) : null,
  longContext: price.kind === 'ratio' ? (price.longContext ?? []) : [],
})

type PriceView = ReturnType<typeof toPriceView>

export type PricingItem = { model: string; groups: string[]; price: PriceView }

/** Most vendors charge nothing for writing their cache: for these models the price list says nothing of it. */
export const toPricingItem = (
  model: string,
  price: Price,
  { groups, cacheWrites }: { groups: string[]; cacheWrites: boolean },
): PricingItem => {
  const view = toPriceView(price)
  return { model, groups, price: cacheWrites ? view : { ...view, cacheWriteRatio: null, cacheWrite1hRatio: null } }
}
