import type { LongContextStep } from './long-context.ts'
import { dollarsToRatio, priceRatio } from './prices.ts'

/** A model's list price as the ratios an administrator would enter. */
export type CatalogPrice = {
  modelRatio: number
  completionRatio: number
  cacheRatio?: number | undefined
  cacheWriteRatio?: number | undefined
  cacheWrite1hRatio?: number | undefined
  /** What long prompts cost against short ones. */
  longContext?: LongContextStep[] | undefined
  /** Whose list it is. */
  vendor: string
}

type Tiers = { base: number; tiers: { start: number; price: number }[] }
type ListedPrice = number | Tiers | undefined

/** The price of a short call. */
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

const windows = new Map<string, number | undefined>()
const mostWindows = 10_000

/** Tokens of prompt and answer that a model holds at once, by the same catalogue; undefined where it does not say. */
export async function contextWindow(model: string): Promise<number | undefined> {
  if (windows.has(model)) return windows.get(model)
  const { calcPrice } = await import('@pydantic/genai-prices')
  const listed = (name: string, providerId?: string): number | undefined =>
    calcPrice({ input_tokens: 0, output_tokens: 0 }, name, providerId === undefined ? {} : { providerId })?.model
      .context_window
  const found = namesOf(model)
    .flatMap((name) => [undefined, ...vendorsToAsk].map((vendor) => [name, vendor] as const))
    .map(([name, vendor]) => listed(name, vendor))
    .find((tokens) => tokens !== undefined)
  if (windows.size >= mostWindows) windows.clear()
  windows.set(model, found)
  return found
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
    longContext: longContextOf(listed['input_mtok'], listed['output_mtok']),
    vendor,
  }
}

/** A tier's price is that of the whole call, here as there. */
function longContextOf(input: ListedPrice, output: ListedPrice): LongContextStep[] | undefined {
  const starts = [...tiersOf(input), ...tiersOf(output)].map(({ start }) => start)
  const ascending = [...new Set(starts)].toSorted((left, right) => left - right)
  const steps = ascending.map((above) => ({
    above,
    input: priceRatio(priceAbove(input, above), basePrice(input) ?? 0) ?? 1,
    output: priceRatio(priceAbove(output, above), basePrice(output) ?? 0) ?? 1,
  }))
  return steps.length === 0 ? undefined : steps
}

const tiersOf = (listed: ListedPrice): Tiers['tiers'] => (typeof listed === 'object' ? listed.tiers : [])

const priceAbove = (listed: ListedPrice, above: number): number =>
  tiersOf(listed).findLast(({ start }) => start <= above)?.price ?? basePrice(listed) ?? 0
