import { nestGrammar } from '#relay/chat/grammar-format.ts'
import { hasGrammar } from '#relay/chat/losses.ts'
import type { ChatRequest, Tool, ToolChoice, WebSearchTool } from '#relay/chat/request.ts'
import { asFunctionTool } from '../shared/custom-tools.ts'
import { type Json, withoutAbsent } from '../shared/json.ts'
import type { Writing } from './messages.ts'

function toOpenAiTool(tool: Tool, writing: Writing): Json[] {
  if (tool.type === 'vendor') return tool.dialect === 'openai-chat' ? [tool.value as Json] : []
  if (tool.type === 'web-search') return []
  if (tool.type === 'custom' && writing.extendedTools) {
    const { name, description, format } = tool
    return [{ type: 'custom', custom: withoutAbsent({ name, description, format: nestGrammar(format) }) }]
  }
  if (tool.type === 'custom' && hasGrammar(tool)) writing.losses.add('tools.format')
  const { name, description, parameters, strict, cacheControl } = tool.type === 'custom' ? asFunctionTool(tool) : tool
  if (cacheControl && !writing.style.carriesCacheControl) writing.losses.add('cache_control')
  return [
    withoutAbsent({
      type: 'function',
      function: withoutAbsent({ name, description, parameters, strict }),
      cache_control: writing.style.carriesCacheControl ? cacheControl : undefined,
    }),
  ]
}

function toToolChoice(choice: ToolChoice, request: ChatRequest): unknown {
  const named = (name: string) =>
    request.tools.some((tool) => tool.type === 'custom' && tool.name === name)
      ? { type: 'custom', custom: { name } }
      : { type: 'function', function: { name } }
  if (choice.type === 'tool') return named(choice.name)
  if (choice.type !== 'allowed') return choice.type
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools: choice.names.map(named) } }
}

/** A list of allowed tools for vendors without one: only those are offered. */
function reduce(request: ChatRequest): { tools: Tool[]; choice: ToolChoice | undefined } {
  const { tools, toolChoice } = request
  if (toolChoice?.type !== 'allowed') return { tools, choice: toolChoice }
  const allowed = tools.filter(
    (tool) => !(tool.type === 'function' || tool.type === 'custom') || toolChoice.names.includes(tool.name),
  )
  return { tools: allowed, choice: { type: toolChoice.mode } }
}

function webSearchOptions(tool: WebSearchTool): Json {
  const approximate = tool.userLocation ? withoutAbsent(tool.userLocation) : undefined
  return withoutAbsent({
    search_context_size: tool.contextSize ?? contextSizeOf(tool.maxUses),
    user_location: approximate ? { type: 'approximate', approximate } : undefined,
  })
}

function contextSizeOf(maxUses: number | undefined): 'low' | 'medium' | 'high' | undefined {
  if (maxUses === undefined) return undefined
  if (maxUses <= 1) return 'low'
  return maxUses <= 5 ? 'medium' : 'high'
}

/** Only search models search on the chat path; a caller of the same dialect is taken at their word. */
function searchFields(request: ChatRequest, model: string, writing: Writing): Json {
  const search = request.tools.find((tool) => tool.type === 'web-search')
  if (!search) return {}
  if (request.extra.dialect === 'openai-chat' || /search|sonar/.test(model)) {
    return { web_search_options: webSearchOptions(search), ...writing.style.searchDomains?.(search, writing.losses) }
  }
  writing.losses.add('web_search')
  return {}
}

/** `tools`, `tool_choice`, `parallel_tool_calls` and `web_search_options`: the first three only together. */
export function toolFields(request: ChatRequest, model: string, writing: Writing): Json {
  const { tools: offered, choice } = writing.extendedTools
    ? { tools: request.tools, choice: request.toolChoice }
    : reduce(request)
  const tools = offered.flatMap((tool) => toOpenAiTool(tool, writing))
  const search = searchFields(request, model, writing)
  if (tools.length === 0) return search
  return {
    tools,
    tool_choice: choice && toToolChoice(choice, { ...request, tools: writing.extendedTools ? request.tools : [] }),
    parallel_tool_calls: request.parallelToolCalls,
    ...search,
  }
}
