import type { McpCall, WebSearch } from './types.ts'
import { type Fields, isObject } from '../json.ts'
import { idAs } from './ids.ts'

/** A search as an item, as it stands when it is done. */
export function searchItem(search: WebSearch): Fields {
  const { queries, results } = search
  const sources = results?.map(({ url }) => ({ type: 'url', url }))
  return {
    type: 'web_search_call',
    id: idAs('ws', search.id),
    status: search.error === undefined ? 'completed' : 'failed',
    action: {
      type: 'search',
      query: queries.join(', '),
      ...(queries.length > 1 ? { queries } : {}),
      ...(sources === undefined ? {} : { sources }),
    },
  }
}

/** The call of a remote tool as an item, as it stands when it is done. */
export const remoteCallItem = (call: McpCall): Fields => ({
  type: 'mcp_call',
  id: idAs('mcp', call.id),
  approval_request_id: null,
  server_label: call.server,
  name: call.name,
  arguments: call.arguments === '' ? '{}' : call.arguments,
  output: call.isError === true ? null : (call.output ?? null),
  error: call.isError === true ? (call.output ?? '') : null,
  status: call.isError === true ? 'failed' : 'completed',
})

const textsOf = (values: readonly unknown[]): string[] =>
  values.filter((value): value is string => typeof value === 'string' && value !== '')

const isPage = (value: unknown): value is { url: string } => isObject(value) && typeof value['url'] === 'string'

/** A search of an item; nothing for one that opened a page or looked for words on it. */
export function searchOf(item: Fields): WebSearch | undefined {
  const action = isObject(item['action']) ? item['action'] : {}
  if (item['type'] !== 'web_search_call' || (action['type'] ?? 'search') !== 'search') return undefined
  const queries = Array.isArray(action['queries']) ? textsOf(action['queries']) : []
  const { sources } = action
  return {
    id: typeof item['id'] === 'string' ? item['id'] : '',
    queries: queries.length > 0 ? queries : textsOf([action['query']]),
    ...(Array.isArray(sources) ? { results: sources.filter(isPage).map(({ url }) => ({ url })) } : {}),
    ...(item['status'] === 'failed' ? { error: 'unavailable' } : {}),
  }
}

/** The vendor says what went wrong as a text or as an object with one in it. */
const failureOf = (error: unknown): string | undefined => {
  if (typeof error === 'string') return error
  if (!isObject(error)) return undefined
  return typeof error['message'] === 'string' ? error['message'] : JSON.stringify(error)
}

export function remoteCallOf(item: Fields): McpCall | undefined {
  const { type, name, server_label: server, output, arguments: given } = item
  if (type !== 'mcp_call' || typeof name !== 'string') return undefined
  const failure = failureOf(item['error'])
  return {
    id: typeof item['id'] === 'string' ? item['id'] : '',
    server: typeof server === 'string' ? server : '',
    name,
    arguments: typeof given === 'string' ? given : '{}',
    output: failure ?? (typeof output === 'string' ? output : ''),
    ...(failure === undefined ? {} : { isError: true }),
  }
}
