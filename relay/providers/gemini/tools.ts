import type { ChatRequest, FunctionTool, JsonSchema, Tool } from '#relay/chat/request.ts'
import { asFunctionTool } from '../shared/custom-tools.ts'
import { type Json, withoutAbsent } from '../shared/json.ts'
import { mixesTools, takesJsonSchema } from './models.ts'
import { toParameters } from './schema.ts'

/** Functions by these names stand for the vendor's own tools. */
const builtIn: Readonly<Record<string, string>> = {
  googleSearch: 'googleSearch',
  google_search: 'googleSearch',
  codeExecution: 'codeExecution',
  code_execution: 'codeExecution',
  urlContext: 'urlContext',
  url_context: 'urlContext',
  googleMaps: 'googleMaps',
}

const lossOf: Readonly<Record<string, string>> = { googleSearch: 'web_search' }

function ownTool(tool: Tool): Json | undefined {
  if (tool.type === 'web-search') return { googleSearch: withoutAbsent({ excludeDomains: tool.blockedDomains }) }
  if (tool.type === 'vendor') return tool.dialect === 'gemini' ? (tool.value as Json) : undefined
  const name = Object.hasOwn(builtIn, tool.name) ? builtIn[tool.name] : undefined
  return name === undefined ? undefined : { [name]: {} }
}

/** The parameters of a function in the words the model reads; nothing for one that takes none. */
function parametersOf(schema: JsonSchema | undefined, model: string): Json {
  if (!takesJsonSchema(model)) return { parameters: toParameters(schema) }
  const takesNone = schema === undefined || Object.keys(schema).every((name) => name === 'type')
  return { parametersJsonSchema: takesNone ? undefined : schema }
}

const declaration = (tool: FunctionTool, model: string): Json =>
  withoutAbsent({ name: tool.name, description: tool.description, ...parametersOf(tool.parameters, model) })

function declarationsOf({ tools, toolChoice }: ChatRequest, model: string): Json[] {
  return tools.flatMap((tool) => {
    if (tool.type === 'vendor' || tool.type === 'web-search' || ownTool(tool)) return []
    if (toolChoice?.type === 'allowed' && !toolChoice.names.includes(tool.name)) return []
    return [declaration(tool.type === 'custom' ? asFunctionTool(tool) : tool, model)]
  })
}

function toolConfig({ toolChoice }: ChatRequest): Json | undefined {
  if (!toolChoice) return undefined
  if (toolChoice.type === 'tool') {
    return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [toolChoice.name] } }
  }
  const mode = toolChoice.type === 'allowed' ? toolChoice.mode : toolChoice.type
  return { functionCallingConfig: { mode: { auto: 'AUTO', none: 'NONE', required: 'ANY' }[mode] } }
}

/** `excludesDomains`: "This field is not supported in Gemini API", only in Vertex AI. */
type Target = { model: string; excludesDomains: boolean; losses: Set<string> }

const searchingAll = (tool: Tool): Tool => (tool.type === 'web-search' ? { ...tool, blockedDomains: undefined } : tool)

/**
 * `tools` and `toolConfig`. Where the two kinds exclude each other the functions stay, for an agent can do without a search and
 * not without its own tools.
 */
export function toolFields(request: ChatRequest, { model, excludesDomains, losses }: Target): Json {
  const own = [
    ...new Map(
      request.tools.flatMap((tool) => {
        const entry = ownTool(excludesDomains ? tool : searchingAll(tool))
        return entry ? [[JSON.stringify(Object.keys(entry)), entry] as const] : []
      }),
    ).values(),
  ]
  const declarations = declarationsOf(request, model)
  if (own.length > 0 && declarations.length > 0 && !mixesTools(model)) {
    for (const name of own.flatMap((tool) => Object.keys(tool))) losses.add(lossOf[name] ?? `tools.${name}`)
    return { tools: [{ functionDeclarations: declarations }], toolConfig: toolConfig(request) }
  }
  if (excludesDomains) losses.delete('blocked_domains')
  if (declarations.length === 0) return own.length > 0 ? { tools: own } : {}
  const config = toolConfig(request)
  // Both kinds in one call have to be asked for.
  const mixed = own.length > 0 ? { ...config, includeServerSideToolInvocations: true } : config
  return { tools: [{ functionDeclarations: declarations }, ...own], toolConfig: mixed }
}
