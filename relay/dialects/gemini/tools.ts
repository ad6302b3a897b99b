import { type Fields, isObject } from '#relay/chat/json.ts'
import type { FunctionTool, Tool, ToolChoice } from '#relay/chat/request.ts'
import { type Reader, defined, unreadNames } from '../read.ts'
import { domainsOf } from '../openai-chat/tools.ts'
import { bothSpellings, enumWord, pick, pickObject } from './fields.ts'
import { toJsonSchema } from './schema.ts'

const declarations = bothSpellings(['functionDeclarations'])
const searches = bothSpellings(['googleSearch', 'googleSearchRetrieval'])

const knownDeclaration = bothSpellings(['name', 'description', 'parameters', 'parametersJsonSchema'])
const knownSearch = bothSpellings(['excludeDomains'])
const knownConfig = bothSpellings(['functionCallingConfig'])

const knownCalling = bothSpellings(['mode', 'allowedFunctionNames'])

const objectsIn = (value: unknown): Fields[] => (Array.isArray(value) ? value : [value]).filter(isObject)

/** What is said of tools and of their choice beyond what the hub reads of them. */
export const unreadToolFields = (tools: unknown, toolConfig: unknown): string[] => [
  ...objectsIn(tools).flatMap((entry) => [
    ...objectsIn(pick(entry, 'functionDeclarations')).flatMap((declaration) =>
      unreadNames(declaration, knownDeclaration, 'tools'),
    ),
    ...Object.entries(entry).flatMap(([name, settings]) =>
      searches.has(name) && isObject(settings) ? unreadNames(settings, knownSearch, `tools.${name}`) : [],
    ),
  ]),
  ...objectsIn(toolConfig).flatMap((config) => [
    ...unreadNames(config, knownConfig, 'toolConfig'),
    ...objectsIn(pick(config, 'functionCallingConfig')).flatMap((calling) =>
      unreadNames(calling, knownCalling, 'functionCallingConfig'),
    ),
  ]),
]

/** Every entry of `tools` may hold functions and built-in tools side by side. */
export function readTools(value: unknown, read: Reader): Tool[] {
  const entries = isObject(value) ? [value] : (read.list(value, 'tools') ?? [])
  return entries.flatMap((entry, index): Tool[] => {
    if (!isObject(entry)) throw read.invalid(`tools[${index}]`)
    const path = `tools[${index}].functionDeclarations`
    const functions = (read.list(pick(entry, 'functionDeclarations'), path) ?? []).map((declaration, position) => {
      if (!isObject(declaration)) throw read.invalid(`${path}[${position}]`)
      return readFunction(declaration, `${path}[${position}]`, read)
    })
    const builtIn = Object.entries(entry).flatMap(([name, settings]): Tool[] => {
      if (declarations.has(name) || settings === null) return []
      if (searches.has(name)) {
        const excluded = isObject(settings) ? pick(settings, 'excludeDomains') : undefined
        return [defined({ type: 'web-search', blockedDomains: domainsOf(excluded, `${name}.excludeDomains`, read) })]
      }
      return [{ type: 'vendor', dialect: 'gemini', value: { [name]: settings } }]
    })
    return [...functions, ...builtIn]
  })
}

function readFunction(declaration: Fields, path: string, read: Reader): FunctionTool {
  const raw = pickObject(declaration, 'parametersJsonSchema')
  const own = read.object(declaration['parameters'], `${path}.parameters`)
  return defined({
    type: 'function',
    name: read.name(declaration['name'], `${path}.name`),
    description: read.text(declaration['description'], `${path}.description`),
    parameters: raw ?? (own === undefined ? undefined : toJsonSchema(own)),
  })
}

const modes = ['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED']

export function readToolChoice(toolConfig: unknown, read: Reader): ToolChoice | undefined {
  const config = read.object(toolConfig, 'toolConfig')
  const calling = config === undefined ? undefined : pickObject(config, 'functionCallingConfig')
  if (calling === undefined) return undefined
  const names = read.texts(pick(calling, 'allowedFunctionNames'), 'toolConfig.allowedFunctionNames') ?? []
  const [only] = names
  const mode = enumWord(calling['mode'], modes) ?? 'AUTO'
  switch (typeof mode === 'string' ? mode.toUpperCase() : undefined) {
    case 'NONE':
      return { type: 'none' }
    case 'ANY':
      if (only === undefined) return { type: 'required' }
      return names.length === 1 ? { type: 'tool', name: only } : { type: 'allowed', mode: 'required', names }
    case 'AUTO':
    case 'VALIDATED':
    case 'MODE_UNSPECIFIED':
      return only === undefined ? { type: 'auto' } : { type: 'allowed', mode: 'auto', names }
    default:
      throw read.invalid('toolConfig.functionCallingConfig.mode')
  }
}
