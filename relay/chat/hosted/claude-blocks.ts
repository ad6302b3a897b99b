import type { McpCall, WebSearch } from './types.ts'
import { type Fields, isObject, parseObject } from '../json.ts'
import type { McpCallPart, WebSearchPart } from '../request.ts'
import { idAs } from './ids.ts'

/** A call that the vendor made, and what came of it: two blocks that stand behind each other. */
export type HostedBlocks = { use: Fields; input: Fields; result: Fields | undefined }

export function searchBlocks(search: WebSearch): HostedBlocks {
  const id = idAs('srvtoolu', search.id)
  const found = (search.results ?? []).map(({ url, title, pageAge }) => ({
    type: 'web_search_result',
    url,
    title: title ?? url,
    // Only the vendor itself can prove what it found; its clients require the field.
    encrypted_content: '',
    page_age: pageAge ?? null,
  }))
  const failed = { type: 'web_search_tool_result_error', error_code: search.error }
  return {
    use: { type: 'server_tool_use', id, name: 'web_search' },
    input: { query: search.queries.join(', ') },
    result: { type: 'web_search_tool_result', tool_use_id: id, content: search.error === undefined ? found : failed },
  }
}

export function remoteCallBlocks(call: McpCall): HostedBlocks {
  const id = idAs('mcptoolu', call.id)
  const { output } = call
  return {
    use: { type: 'mcp_tool_use', id, name: call.name, server_name: call.server },
    input: parseObject(call.arguments) ?? {},
    result:
      output === undefined
        ? undefined
        : {
            type: 'mcp_tool_result',
            tool_use_id: id,
            is_error: call.isError === true,
            content: [{ type: 'text', text: output }],
          },
  }
}

/** Both blocks as they stand in a complete answer. */
export const completeBlocks = ({ use, input, result }: HostedBlocks): Fields[] => [
  { ...use, input },
  ...(result ? [result] : []),
]

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

function readSearch(use: Fields, result: Fields): WebSearch {
  const query = isObject(use['input']) ? textOf(use['input']['query']) : undefined
  const { content } = result
  const results = (Array.isArray(content) ? content : []).flatMap((each: unknown) => {
    const url = isObject(each) ? textOf(each['url']) : undefined
    if (!isObject(each) || url === undefined) return []
    return [{ url, title: textOf(each['title']), pageAge: textOf(each['page_age']) }]
  })
  const error = isObject(content) ? (textOf(content['error_code']) ?? 'unavailable') : undefined
  return { id: String(use['id']), queries: query === undefined ? [] : [query], results, error }
}

function readRemoteCall(use: Fields, result: Fields): McpCall {
  const { content } = result
  const texts = (Array.isArray(content) ? content : [content]).flatMap((each: unknown) =>
    isObject(each) ? (textOf(each['text']) ?? []) : (textOf(each) ?? []),
  )
  return {
    id: String(use['id']),
    server: textOf(use['server_name']) ?? '',
    name: textOf(use['name']) ?? '',
    arguments: JSON.stringify(isObject(use['input']) ? use['input'] : {}),
    output: texts.join('\n'),
    ...(result['is_error'] === true ? { isError: true } : {}),
  }
}

/**
 * Searches and remote calls among the blocks of an answer, each with its result, by the block that begins it. What has no
 * result is no such part.
 */
export function readHostedCalls(
  blocks: readonly Fields[],
): ReadonlyMap<Fields, WebSearchPart | McpCallPart | 'its result'> {
  const found = new Map<Fields, WebSearchPart | McpCallPart | 'its result'>()
  const results = new Map<unknown, Fields>()
  for (const block of blocks) {
    const isResult = block['type'] === 'web_search_tool_result' || block['type'] === 'mcp_tool_result'
    if (isResult) results.set(block['tool_use_id'], block)
  }
  for (const use of results.size === 0 ? [] : blocks) {
    const isSearch = use['type'] === 'server_tool_use' && use['name'] === 'web_search'
    if (!isSearch && use['type'] !== 'mcp_tool_use') continue
    const result = results.get(use['id'])
    if (result?.['type'] !== (isSearch ? 'web_search_tool_result' : 'mcp_tool_result')) continue
    const own = { dialect: 'claude' as const, value: [use, result] }
    found.set(
      use,
      isSearch
        ? { type: 'web-search', search: readSearch(use, result), own }
        : { type: 'mcp-call', call: readRemoteCall(use, result), own },
    )
    found.set(result, 'its result')
  }
  return found
}
