import type { DrawnImage, Usage } from '../usage.ts'
import type { ToolUse } from './receipt.ts'
import { figureByPattern, figureOf, toolPrices } from './tables.ts'

/** Dollars per 1000 web searches, by the vendor that runs them. */
function webSearchDollars(model: string): number {
  if (model.includes('claude')) return toolPrices.claude_web_search
  if (model.startsWith('gemini')) return toolPrices.google_search
  return figureByPattern(toolPrices.web_search_preview, model) ?? toolPrices.web_search.default
}

/** These chat models search once a call without reporting it. */
export const isChatSearchModel = (model: string): boolean => /-search-(preview|api)/.test(model)

/** The list price of an image; a quality or size left to the model counts as the most expensive. */
export function imageDollars({ quality, size }: DrawnImage): number {
  const table: Readonly<Record<string, Readonly<Record<string, number>>>> = toolPrices['gpt-image-1_per_call']
  const bySize = (Object.hasOwn(table, quality) ? table[quality] : table['high']) ?? {}
  return figureOf(bySize, size) ?? Math.max(...Object.values(bySize))
}

function imageUses(images: readonly DrawnImage[]): ToolUse[] {
  const calls = new Map<number, number>()
  for (const dollars of images.map(imageDollars)) calls.set(dollars, (calls.get(dollars) ?? 0) + 1)
  return [...calls].map(([dollars, count]) => ({ tool: 'imageGeneration', calls: count, dollars, per: 1 }))
}

/** The built-in tools a call used, at today's prices; `model` is the priced name. */
export function toolUses(call: {
  model: string
  usage: Pick<Usage, 'webSearchCalls' | 'fileSearchCalls' | 'codeInterpreterContainers' | 'drawnImages'>
}): ToolUse[] {
  const { model, usage } = call
  const containers = usage.codeInterpreterContainers ?? 0
  const searches = usage.webSearchCalls > 0 ? usage.webSearchCalls : isChatSearchModel(model) ? 1 : 0
  const uses: ToolUse[] = []
  if (searches > 0) uses.push({ tool: 'webSearch', calls: searches, dollars: webSearchDollars(model), per: 1000 })
  if (usage.fileSearchCalls > 0)
    uses.push({ tool: 'fileSearch', calls: usage.fileSearchCalls, dollars: toolPrices.file_search, per: 1000 })
  if (containers > 0)
    uses.push({ tool: 'codeInterpreter', calls: containers, dollars: toolPrices.code_interpreter_per_call, per: 1 })
  return [...uses, ...imageUses(usage.drawnImages ?? [])]
}
