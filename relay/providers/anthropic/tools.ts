import type { ChatRequest, FunctionTool, JsonSchema, Tool, ToolChoice, WebSearchTool } from '#relay/chat/request.ts'
import { asFunctionTool } from '../shared/custom-tools.ts'
import { type Json, withoutAbsent } from '../shared/json.ts'
import type { ClaudeTraits } from './models.ts'

/** The schema of a tool's input must be that of an object. */
const inputSchema = (schema: JsonSchema | undefined): JsonSchema =>
  schema ? { ...schema, type: 'object' } : { type: 'object', properties: {} }

const functionTool = (tool: FunctionTool, traits: ClaudeTraits): Json =>
  withoutAbsent({
    name: tool.name,
    description: tool.description,
    input_schema: inputSchema(tool.parameters),
    strict: tool.strict && traits.structuredOutput ? true : undefined,
    cache_control: tool.cacheControl && withoutAbsent(tool.cacheControl),
  })

const usesOf = { low: 1, medium: 5, high: 10 }

function webSearch(tool: WebSearchTool): Json {
  return withoutAbsent({
    type: 'web_search_20250305',
    name: 'web_search',
    max_uses: tool.maxUses ?? (tool.contextSize && usesOf[tool.contextSize]),
    allowed_domains: tool.allowedDomains,
    blocked_domains: tool.allowedDomains ? undefined : tool.blockedDomains,
    user_location: tool.userLocation && { type: 'approximate', ...withoutAbsent(tool.userLocation) },
  })
}

function toClaudeTool(tool: Tool, traits: ClaudeTraits): Json[] {
  if (tool.type === 'vendor') return tool.dialect === 'claude' ? [tool.value as Json] : []
  if (tool.type === 'web-search') return [webSearch(tool)]
  return [functionTool(tool.type === 'custom' ? asFunctionTool(tool) : tool, traits)]
}

/** Only the tools a caller allows, where the choice is such a list. */
const offered = (tools: readonly Tool[], choice: ToolChoice | undefined): readonly Tool[] =>
  choice?.type === 'allowed' ? tools.filter((tool) => !('name' in tool) || choice.names.includes(tool.name)) : tools

function choiceOf(choice: ToolChoice | undefined): Json | undefined {
  if (!choice) return undefined
  if (choice.type === 'tool') return { type: 'tool', name: choice.name }
  const mode = choice.type === 'allowed' ? choice.mode : choice.type
  return { type: mode === 'required' ? 'any' : mode }
}

/** `tools` and `tool_choice`; a choice the model refuses to be forced into falls back to its own. */
export function toolFields(
  request: ChatRequest,
  how: { traits: ClaudeTraits; mayForce: boolean; losses: Set<string> },
): Json {
  const tools = offered(request.tools, request.toolChoice).flatMap((tool) => toClaudeTool(tool, how.traits))
  if (tools.length === 0) return {}
  // One list excludes the other here.
  if (request.tools.some((tool) => tool.type === 'web-search' && tool.allowedDomains && tool.blockedDomains)) {
    how.losses.add('blocked_domains')
  }
  let choice = choiceOf(request.toolChoice)
  if ((choice?.['type'] === 'any' || choice?.['type'] === 'tool') && !how.mayForce) {
    choice = { type: 'auto' }
    how.losses.add('tool_choice')
  }
  if (request.parallelToolCalls === false && choice?.['type'] !== 'none') {
    choice = { type: 'auto', ...choice, disable_parallel_tool_use: true }
  }
  return { tools, tool_choice: choice }
}
