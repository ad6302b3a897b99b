import { changedTools } from '#relay/chat/hosted/claude-tool-changes.ts'
import { type Fields, isObject } from '#relay/chat/json.ts'
import type { NativeOnlyPart, Tool, ToolChoice, WebSearchTool } from '#relay/chat/request.ts'
import { domainsOf, readPlace } from '../openai-chat/tools.ts'
import { type Reader, defined, readCacheControl, unreadNames } from '../read.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'

const knownTool = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control'])

/**
 * The tools as the conversation has changed them.
 * @throws {InvalidRequest} invalid_claude_request
 */
export function readTools(
  value: unknown,
  read: Reader,
  changes: readonly Fields[],
): { tools: Tool[]; nativeOnly: NativeOnlyPart[]; losses: string[] } {
  const declared: unknown = value ?? []
  if (!Array.isArray(declared)) {
    throw new InvalidRequest('invalid_claude_request', 'tools: Input should be a valid list')
  }
  const { tools: offered, unoffered, losses } = changedTools(declared, changes)
  const nativeOnly = unoffered.map(readUnoffered)
  const tools = offered.map((tool: unknown, index): Tool => {
    if (!isObject(tool)) throw read.invalid(`tools[${index}]`)
    const type = read.text(tool['type'], `tools[${index}].type`) ?? 'custom'
    if (type === 'custom') {
      losses.push(...unreadNames(tool, knownTool, 'tools'))
      const examples: unknown = tool['input_examples']
      if (Array.isArray(examples)) nativeOnly.push({ type: 'text', text: JSON.stringify(examples) })
      return readTool(tool, `tools[${index}]`, read)
    }
    if (!type.startsWith('web_search_')) return { type: 'vendor', dialect: 'claude', value: tool }
    return readWebSearch(tool, `tools[${index}]`, read)
  })
  return { tools, nativeOnly, losses }
}

const readUnoffered = (value: unknown): NativeOnlyPart =>
  defined({
    type: 'text',
    text: JSON.stringify(value),
    toolChange: true,
    cacheControl: isObject(value) ? readCacheControl(value['cache_control']) : undefined,
  })

const readTool = (tool: Fields, path: string, read: Reader): Tool =>
  defined({
    type: 'function',
    name: read.name(tool['name'], `${path}.name`),
    description: read.text(tool['description'], `${path}.description`),
    parameters: read.object(tool['input_schema'], `${path}.input_schema`),
    strict: read.flag(tool['strict'], `${path}.strict`),
    cacheControl: readCacheControl(tool['cache_control']),
  })

function readWebSearch(tool: Fields, path: string, read: Reader): WebSearchTool {
  const maxUses = read.integer(tool['max_uses'], `${path}.max_uses`, [0, 1_000_000])
  const place = read.object(tool['user_location'], `${path}.user_location`)
  return defined({
    type: 'web-search',
    contextSize: maxUses === undefined ? undefined : maxUses <= 1 ? 'low' : maxUses <= 5 ? 'medium' : 'high',
    maxUses,
    allowedDomains: domainsOf(tool['allowed_domains'], `${path}.allowed_domains`, read),
    blockedDomains: domainsOf(tool['blocked_domains'], `${path}.blocked_domains`, read),
    userLocation: place === undefined ? undefined : readPlace(place),
  })
}

export function readToolChoice(
  value: unknown,
  read: Reader,
): { toolChoice?: ToolChoice | undefined; parallelToolCalls?: boolean | undefined } {
  const choice = read.object(value, 'tool_choice')
  if (choice === undefined) return {}
  const disabled = read.flag(choice['disable_parallel_tool_use'], 'tool_choice.disable_parallel_tool_use')
  return { toolChoice: choiceOf(choice, read), parallelToolCalls: disabled === undefined ? undefined : !disabled }
}

function choiceOf(choice: Fields, read: Reader): ToolChoice {
  switch (choice['type']) {
    case 'auto':
    case 'none':
      return { type: choice['type'] }
    case 'any':
      return { type: 'required' }
    case 'tool':
      return { type: 'tool', name: read.name(choice['name'], 'tool_choice.name') }
    default:
      throw read.invalid('tool_choice.type')
  }
}
