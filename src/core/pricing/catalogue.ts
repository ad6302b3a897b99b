import { dollarsToRatio, priceRatio } from './prices.ts'

/** A model's list price as the ratios an administrator would enter. */
export type CatalogPrice = {
  modelRatio: number
  completionRatio: number
  cacheRatio?: number | undefined
  cacheWriteRatio?: number | undefined
  cacheWrite1hRatio?: number | undefined
  /** Whose list it is. */
  vendor: string
}

type ListedPrice = number | { base: number } | undefined

/** The price of a short call; what a long context costs more has no place among the ratios. */
const basePrice = (listed: ListedPrice): number | undefined => (typeof listed === 'object' ? listed.base : listed)

/** Asked in this order when a name alone does not tell its vendor; the last lists everybody's models as `vendor/model`. */
const vendorsToAsk = ['zai', 'zhipuai', 'moonshotai', 'minimax', 'perplexity', 'cohere', 'groq', 'openrouter']

/**
 * Looks a model up in the public price catalogue, also under `vendor/model`. The catalogue is large, so it is loaded at the
 * first question. Undefined where the catalogue has no token price for the name.
 */
export async function catalogPrice(model: string): Promise<CatalogPrice | undefined> {
  const { calcPrice } = await import('@pydantic/genai-prices')
  for (const name of namesOf(model)) {
    for (const providerId of [undefined, ...vendorsToAsk]) {
      const found = calcPrice(
        { input_tokens: 0, output_tokens: 0 },
        name,
        providerId === undefined ? {} : { providerId },
      )
      const price = found === null ? undefined : toRatios(found.model_price, found.provider.id)
      if (price !== undefined) return price
    }
  }
  return undefined
}

/** The whole name last: only the vendor of everybody's models knows it. */
const namesOf = (model: string): string[] => {
  const bare = model.slice(model.lastIndexOf('/') + 1)
  return bare === model ? [model] : [bare, model]
}

function toRatios(listed: Record<string, ListedPrice>, vendor: string): CatalogPrice | undefined {
  const input = basePrice(listed['input_mtok'])
  if (input === undefined) return undefined
  const against = (key: string): number | undefined => {
    const dollars = basePrice(listed[key])
    return dollars === undefined ? undefined : priceRatio(dollars, input)
  }
  return {
    modelRatio: dollarsToRatio(input),
    completionRatio: against('output_mtok') ?? 1,
    cacheRatio: against('cache_read_mtok'),
    cacheWriteRatio: against('cache_write_mtok'),
    cacheWrite1hRatio: against('cache_write_1h_mtok'),
    vendor,
  }
}
