import { type Container, type Drawing, hasTools, isCount, type ReportedUsage } from '#core/usage.ts'
import { readUsage } from '../openai-compatible/usage.ts'
import { drawnWith } from '../shared/drawn-images.ts'
import { containersIn, gigabytesOf } from '../shared/held-objects.ts'
import { countOf, type Json, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'

const countItems = (response: Json, type: string): number =>
  recordsOf(response['output']).filter((item) => item['type'] === type).length

/**
 * "Search actions incur a tool call cost"; opening a page that was found, or looking for words on it, does not
 * (https://platform.openai.com/docs/guides/tools-web-search, output and citations).
 */
const isCharged = (item: Json): boolean =>
  item['type'] === 'web_search_call' && (recordOf(item['action'])?.['type'] ?? 'search') === 'search'

/** One container serves any number of calls. Its memory is that of the tool that it was made for, which the response repeats. */
function containersOf(response: Json): Container[] {
  const found = new Map<string, Container>()
  for (const item of recordsOf(response['output'])) {
    const isCode = item['type'] === 'code_interpreter_call'
    const [id = isCode ? '' : undefined] = containersIn([item])
    if (id === undefined || found.has(id)) continue
    const kind = isCode ? 'code_interpreter' : 'shell'
    const tool = recordsOf(response['tools']).find(({ type }) => type === kind)
    found.set(id, { id, tool: kind, gigabytes: gigabytesOf(tool ?? {}) })
  }
  return [...found.values()]
}

/** A call does not say which model drew, and not always how; the tool, which the response repeats, does. */
function drawingIn(response: Json): Drawing {
  const tool = recordsOf(response['tools']).find(({ type }) => type === 'image_generation')
  const images = recordsOf(response['output'])
    .filter((item) => item['type'] === 'image_generation_call' && wordOf(item['result']) !== undefined)
    .map((item) => ({ quality: textOf(item['quality']) ?? '', size: textOf(item['size']) ?? '' }))
  const drawn = recordOf(recordOf(response['tool_usage'])?.['image_gen'])
  const input = countOf(drawn?.['input_tokens'])
  const output = countOf(drawn?.['output_tokens'])
  const imageInput = countOf(recordOf(drawn?.['input_tokens_details'])?.['image_tokens']) ?? 0
  const isCounted = [input, imageInput, output].every(isCount) && Number(output) > 0 && imageInput <= Number(input)
  return drawnWith(tool ?? {}, {
    model: '',
    images,
    ...(isCounted ? { tokens: { input: Number(input), imageInput, output: Number(output) } } : {}),
  })
}

/** What a response that has only begun says of its input. Its counts of output, or that nothing was counted yet, are no report. */
export function inputIn(response: Json): Json | undefined {
  const { input_tokens, input_tokens_details } = recordOf(response['usage']) ?? {}
  return isCount(input_tokens) && input_tokens > 0 ? { input_tokens, input_tokens_details } : undefined
}

/** Usage of a whole response object, with the tools the vendor ran, which are charged by the call. */
export function usageOf(response: Json): ReportedUsage | undefined {
  const usage = recordOf(response['usage'])
  if (!usage) return undefined
  const counts = readUsage(usage)
  const searchItems = recordsOf(response['output']).filter(isCharged).length
  const webSearchCalls = Math.max(searchItems, counts.webSearchCalls ?? 0)
  const fileSearchCalls = countItems(response, 'file_search_call')
  const containers = containersOf(response)
  const drawing = drawingIn(response)
  return {
    ...counts,
    ...(drawing.images.length > 0 ? { drawing } : {}),
    ...(webSearchCalls > 0 ? { webSearchCalls } : {}),
    ...(fileSearchCalls > 0 ? { fileSearchCalls } : {}),
    ...(containers.length > 0 ? { containers } : {}),
  }
}

/** The same of an answer in one piece, whose tools count although its tokens do not. Those of a stream are counted as they run. */
export function usageInOnePiece(response: Json): ReportedUsage | undefined {
  const usage = usageOf({ ...response, usage: recordOf(response['usage']) ?? {} })
  return recordOf(response['usage']) || (usage && hasTools(usage)) ? usage : undefined
}
