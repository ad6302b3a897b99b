import { type Fields, isObject } from '#relay/chat/json.ts'
import type { Tool, ToolChoice } from '#relay/chat/request.ts'
import { domainsOf, readToolChoice as readChatToolChoice, readWebSearch } from '../openai-chat/tools.ts'
import { joinedName, ownTool } from './agent-tools.ts'
import { type Reader, defined, unreadNames } from '../read.ts'

const knownTool = new Set(['type', 'name', 'description', 'parameters', 'strict', 'format'])
const knownSearch = new Set(['type', 'search_context_size', 'user_location', 'filters'])
const knownFilter = new Set(['allowed_domains'])

/** What is said of tools beyond what the hub reads of them. */
export const unreadToolFields = (value: unknown): string[] =>
  (Array.isArray(value) ? value : []).flatMap((tool: unknown) => {
    const type = isObject(tool) ? tool['type'] : undefined
    if (!isObject(tool) || typeof type !== 'string') return []
    if (type === 'function' || type === 'custom') return unreadNames(tool, knownTool, 'tools')
    if (!type.startsWith('web_search') || tool['external_web_access'] === false) return []
    const filters = isObject(tool['filters']) ? unreadNames(tool['filters'], knownFilter, 'tools.filters') : []
    return [...unreadNames(tool, knownSearch, 'tools'), ...filters]
  })

/** Tools stand flat here, without the object around a function that chat completions have. */
export function readTools(value: unknown, read: Reader): Tool[] {
  return (read.list(value, 'tools') ?? []).map((tool, index): Tool => {
    if (!isObject(tool)) throw read.invalid(`tools[${index}]`)
    const path = `tools[${index}]`
    const type = read.name(tool['type'], `${path}.type`)
    if (type === 'function') return readFunction(tool, path, read)
    if (type === 'custom') {
      return defined({
        type: 'custom',
        name: read.name(tool['name'], `${path}.name`),
        description: read.text(tool['description'], `${path}.description`),
        format: tool['format'],
      })
    }
    // Others search live only, which a caller who wants what is stored has forbidden.
    if (type.startsWith('web_search') && tool['external_web_access'] !== false) {
      const filters = read.object(tool['filters'], `${path}.filters`)
      const allowedDomains = domainsOf(filters?.['allowed_domains'], `${path}.filters.allowed_domains`, read)
      return defined({ ...readWebSearch(tool), allowedDomains })
    }
    return ownTool(tool) ?? { type: 'vendor', dialect: 'openai-responses', value: tool }
  })
}

const readFunction = (tool: Fields, path: string, read: Reader): Tool =>
  defined({
    type: 'function',
    name: read.name(tool['name'], `${path}.name`),
    description: read.text(tool['description'], `${path}.description`),
    parameters: read.object(tool['parameters'], `${path}.parameters`),
    strict: read.flag(tool['strict'], `${path}.strict`),
  })

/** A choice of a tool that only the vendor runs has no name and is lost. */
export function readToolChoice(body: Fields, read: Reader): { toolChoice?: ToolChoice | undefined; losses: string[] } {
  const choice = body['tool_choice']
  if (!isObject(choice) || choice['type'] === 'allowed_tools')
    return { toolChoice: readChatToolChoice({ tool_choice: choice }, read), losses: [] }
  const { type, name, namespace } = choice
  const own = ownTool(choice)
  if (own) return { toolChoice: { type: 'tool', name: own.name }, losses: [] }
  if ((type !== 'function' && type !== 'custom') || name === undefined) return { losses: ['tool_choice'] }
  const called = read.name(name, 'tool_choice.name')
  return {
    toolChoice: { type: 'tool', name: typeof namespace === 'string' ? joinedName(namespace, called) : called },
    losses: [],
  }
}
