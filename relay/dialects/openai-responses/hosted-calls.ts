import type { McpCall, WebSearch } from '#relay/chat/hosted/types.ts'
import { remoteCallItem, remoteCallOf, searchItem, searchOf } from '#relay/chat/hosted/response-items.ts'
import type { Fields } from '#relay/chat/json.ts'
import type { McpCallPart, WebSearchPart } from '#relay/chat/request.ts'
import type { EventWriter } from './event-writer.ts'

/** The items' events from beginning to end, for what is reported when it is done. */
export function searchEvents(writer: EventWriter, search: WebSearch, output: object[]): string {
  const item = searchItem(search)
  const at = { output_index: output.length, item_id: item['id'] }
  output.push(item)
  const { output_index } = at
  const begun = { ...item, status: 'in_progress', action: { type: 'search', query: '' } }
  return (
    writer.event('response.output_item.added', { output_index, item: begun }) +
    writer.event('response.web_search_call.in_progress', at) +
    writer.event('response.web_search_call.searching', at) +
    writer.event('response.web_search_call.completed', at) +
    writer.event('response.output_item.done', { output_index, item })
  )
}

export function remoteCallEvents(writer: EventWriter, call: McpCall, output: object[]): string {
  const item = remoteCallItem(call)
  const at = { output_index: output.length, item_id: item['id'] }
  output.push(item)
  const { output_index } = at
  const begun = { ...item, arguments: '', output: null, error: null, status: 'in_progress' }
  return (
    writer.event('response.output_item.added', { output_index, item: begun }) +
    writer.event('response.mcp_call.in_progress', at) +
    writer.event('response.mcp_call_arguments.delta', { ...at, delta: item['arguments'] }) +
    writer.event('response.mcp_call_arguments.done', { ...at, arguments: item['arguments'] }) +
    writer.event(`response.mcp_call.${call.isError === true ? 'failed' : 'completed'}`, at) +
    writer.event('response.output_item.done', { output_index, item })
  )
}

/** A search or a remote call of a conversation; nothing for any other item. */
export function readHostedItem(item: Fields): WebSearchPart | McpCallPart | undefined {
  const own = { dialect: 'openai-responses' as const, value: [item] }
  const search = searchOf(item)
  if (search) return { type: 'web-search', search, own }
  const call = remoteCallOf(item)
  return call && { type: 'mcp-call', call, own }
}
