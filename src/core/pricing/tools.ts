import type { Container, Drawing, Usage } from '../usage.ts'
import type { ToolUse } from './receipt.ts'
import type { Price, RatioPrice } from './price.ts'
import { completionRatioOf } from './resolve-price.ts'
import { defaultCompletionRatio, defaultPriceTables, figureByPattern, figureOf, toolPrices } from './tables.ts'

/** Dollars per 1000 web searches, by the vendor that runs them. */
function webSearchDollars(model: string): number {
  if (model.includes('claude')) return toolPrices.claude_web_search
  if (model.startsWith('gemini')) return toolPrices.google_search
  return figureByPattern(toolPrices.web_search_preview, model) ?? toolPrices.web_search.default
}

/** These chat models search once a call without reporting it. */
export const isChatSearchModel = (model: string): boolean => /-search-(preview|api)/.test(model)

/** The price of a container is that of one with a gigabyte, as many times over as it has gigabytes. */
const containerUses = (containers: readonly Container[]): ToolUse[] =>
  [...Map.groupBy(containers, ({ gigabytes }) => gigabytes)].map(([gigabytes, { length }]) => {
    const dollars = roundedDollars(toolPrices.code_interpreter_per_call * gigabytes)
    return { tool: 'codeInterpreter', calls: length, dollars, per: 1 }
  })

/** The model whose images have a list price, and the one that draws where nobody says which. */
const listedModel = 'gpt-image-1'

/** The list price of an image; a quality or size left to the model counts as the most expensive. */
function listedImageDollars({ quality, size }: Drawing['images'][number]): number {
  const table: Readonly<Record<string, Readonly<Record<string, number>>>> = toolPrices['gpt-image-1_per_call']
  const bySize = (Object.hasOwn(table, quality) ? table[quality] : table['high']) ?? {}
  return figureOf(bySize, size) ?? Math.max(...Object.values(bySize))
}

export type ImagePrices = {
  /** What a model that draws costs; undefined where nobody has priced it. */
  priceOf: (model: string) => Price | undefined
  quotaPerUnit: number
}

/** Of the model that the list is of, as the built-in tables have it. */
const listedOutput =
  (figureOf(defaultPriceTables.ModelRatio, listedModel) ?? 0) * completionRatioOf(listedModel, defaultCompletionRatio)

export const roundedDollars = (dollars: number): number => Math.round(dollars * 1e9) / 1e9

/** What a token costs that draws, against one of the prompt. */
export const drawingRatio = (price: RatioPrice): number => price.imageOutputRatio ?? price.completionRatio

/**
 * Dollars of an image whose tokens nobody reported: its list price, as many times over as a token of the model that drew it costs of one
 * of the list's. Where nobody has priced the model, the list price.
 */
export function untoldImageDollars(image: Drawing['images'][number], price: RatioPrice): number {
  const listed = listedImageDollars(image)
  if (price.source !== 'table') return listed
  return roundedDollars((listed * price.modelRatio * drawingRatio(price)) / listedOutput)
}

/**
 * What was drawn costs what it does as a call of its own to the model that drew: by the call, or by the tokens where the vendor
 * reports them. Where it does not, an image costs its list price, as many times over as a token of that model costs of one of the list's.
 */
function imageUses({ model, images, tokens }: Drawing, prices: ImagePrices | undefined): ToolUse[] {
  const price = prices?.priceOf(model || listedModel)
  const isPriced = price?.source === 'table'
  if (isPriced && price.kind === 'ratio' && tokens && prices) {
    const { input, imageInput, output } = tokens
    const weighed = input - imageInput + imageInput * price.imageRatio + output * drawingRatio(price)
    const dollars = roundedDollars((weighed * price.modelRatio) / prices.quotaPerUnit / images.length)
    return [{ tool: 'imageGeneration', calls: images.length, dollars, per: 1 }]
  }
  const calls = new Map<number, number>()
  for (const image of images) {
    const dollars = !isPriced
      ? listedImageDollars(image)
      : price.kind === 'call'
        ? price.modelPrice
        : untoldImageDollars(image, price)
    calls.set(dollars, (calls.get(dollars) ?? 0) + 1)
  }
  return [...calls].map(([dollars, count]) => ({ tool: 'imageGeneration', calls: count, dollars, per: 1 }))
}

/** The built-in tools a call used, at today's prices. */
export function toolUses(call: {
  /** The priced name. */
  model: string
  /** The name that the upstream knows, where it may be another. */
  sentAs?: string | undefined
  usage: Pick<Usage, 'webSearchCalls' | 'fileSearchCalls' | 'containers' | 'drawing'>
  imagePrices?: ImagePrices | undefined
}): ToolUse[] {
  const { model, sentAs = model, usage, imagePrices } = call
  const searchesAnyway = isChatSearchModel(model) || isChatSearchModel(sentAs) ? 1 : 0
  const searches = usage.webSearchCalls > 0 ? usage.webSearchCalls : searchesAnyway
  const uses: ToolUse[] = []
  if (searches > 0) uses.push({ tool: 'webSearch', calls: searches, dollars: webSearchDollars(model), per: 1000 })
  if (usage.fileSearchCalls > 0)
    uses.push({ tool: 'fileSearch', calls: usage.fileSearchCalls, dollars: toolPrices.file_search, per: 1000 })
  uses.push(...containerUses(usage.containers ?? []))
  return usage.drawing ? [...uses, ...imageUses(usage.drawing, imagePrices)] : uses
}
