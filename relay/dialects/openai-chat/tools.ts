import { flattenGrammar } from '#relay/chat/grammar-format.ts'
import { type Fields, isObject } from '#relay/chat/json.ts'
import type { FunctionTool, Tool, ToolChoice, WebSearchTool } from '#relay/chat/request.ts'
import { type Reader, defined, readCacheControl } from '../read.ts'

/** `tools`, the legacy `functions` and `web_search_options` of a chat completion request. */
export function readTools(body: Fields, read: Reader): Tool[] {
  const tools = (read.list(body['tools'], 'tools') ?? []).map((tool, index) => {
    if (!isObject(tool)) throw read.invalid(`tools[${index}]`)
    return readTool(tool, `tools[${index}]`, read)
  })
  const functions = (read.list(body['functions'], 'functions') ?? []).map((given, index) =>
    readFunction(read.object(given, `functions[${index}]`) ?? {}, `functions[${index}]`, read),
  )
  const search = read.object(body['web_search_options'], 'web_search_options')
  return [...tools, ...functions, ...(search === undefined ? [] : [readWebSearch(search)])]
}

function readTool(tool: Fields, path: string, read: Reader): Tool {
  const type = tool['type'] ?? 'function'
  if (type === 'function') {
    const given = read.object(tool['function'], `${path}.function`) ?? {}
    const read_ = readFunction(given, `${path}.function`, read)
    const cacheControl = readCacheControl(tool['cache_control']) ?? read_.cacheControl
    return defined({ ...read_, cacheControl })
  }
  if (type !== 'custom') return { type: 'vendor', dialect: 'openai-chat', value: tool }
  const custom = read.object(tool['custom'], `${path}.custom`) ?? {}
  return defined({
    type: 'custom',
    name: read.name(custom['name'], `${path}.custom.name`),
    description: read.text(custom['description'], `${path}.custom.description`),
    format: flattenGrammar(custom['format']),
  })
}

function readFunction(given: Fields, path: string, read: Reader): FunctionTool {
  return defined({
    type: 'function',
    name: read.name(given['name'], `${path}.name`),
    description: read.text(given['description'], `${path}.description`),
    parameters: read.object(given['parameters'], `${path}.parameters`),
    strict: read.flag(given['strict'], `${path}.strict`),
    cacheControl: readCacheControl(given['cache_control']),
  })
}

const usesBySize = { low: 1, medium: 5, high: 10 } as const

/** Web search as both OpenAI dialects ask for it; the place stands directly or under `approximate`. */
export function readWebSearch(options: Fields): WebSearchTool {
  const size = options['search_context_size']
  const contextSize = size === 'low' || size === 'medium' || size === 'high' ? size : undefined
  const location = isObject(options['user_location']) ? options['user_location'] : undefined
  const place = isObject(location?.['approximate']) ? location['approximate'] : location
  return defined({
    type: 'web-search',
    contextSize,
    maxUses: contextSize === undefined ? undefined : usesBySize[contextSize],
    userLocation: place === undefined ? undefined : readPlace(place),
  })
}

/** Sites a search is kept to or from; an empty list says nothing. */
export function domainsOf(value: unknown, path: string, read: Reader): string[] | undefined {
  const domains = read.texts(value, path)
  return domains?.length === 0 ? undefined : domains
}

export function readPlace(place: Fields): NonNullable<WebSearchTool['userLocation']> {
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  const { city, country, region, timezone } = place
  return defined({ city: text(city), country: text(country), region: text(region), timezone: text(timezone) })
}

/** `tool_choice`, or the legacy `function_call`. */
export function readToolChoice(body: Fields, read: Reader): ToolChoice | undefined {
  const choice = body['tool_choice'] ?? body['function_call']
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice }
  // Mistral's word for it.
  if (choice === 'any') return { type: 'required' }
  if (!isObject(choice)) throw read.invalid('tool_choice')
  if (choice['type'] === 'allowed_tools') return readAllowed(choice['allowed_tools'] ?? choice, read)
  const named = choice['function'] ?? choice['custom'] ?? choice
  return { type: 'tool', name: read.name(isObject(named) ? named['name'] : undefined, 'tool_choice.name') }
}

function readAllowed(value: unknown, read: Reader): ToolChoice {
  const allowed = read.object(value, 'tool_choice.allowed_tools') ?? {}
  const tools = read.list(allowed['tools'], 'tool_choice.allowed_tools.tools') ?? []
  const names = tools.flatMap((tool) => {
    if (!isObject(tool)) return []
    const named = tool['function'] ?? tool['custom'] ?? tool
    return isObject(named) && typeof named['name'] === 'string' ? [named['name']] : []
  })
  return { type: 'allowed', mode: allowed['mode'] === 'required' ? 'required' : 'auto', names }
}
