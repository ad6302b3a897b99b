import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import { type Fields, isObject } from '#relay/chat/json.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { parseGemini } from '../gemini/parse.ts'
import { defined, readerFor, unreadNames } from '../read.ts'
import { contentsOf, stepsOf, typeOf } from './steps.ts'

const code = 'invalid_gemini_request'
export const read = readerFor(code)

const known = new Set([
  'model',
  'input',
  'system_instruction',
  'tools',
  'generation_config',
  'response_format',
  'response_mime_type',
  'response_modalities',
  'previous_interaction_id',
  'stream',
  'store',
  'background',
  'agent',
])
const knownConfig = new Set([
  'max_output_tokens',
  'seed',
  'stop_sequences',
  'temperature',
  'top_p',
  'thinking_level',
  'thinking_summaries',
  'tool_choice',
])

/** Body of `/v1beta/interactions` → hub request, by way of the contents of `generateContent`. */
export function parseInteraction(value: unknown, path: { model?: string | undefined }): ChatRequest {
  const body = read.body(value)
  if (body['agent'] !== undefined && body['agent'] !== null) throw new InvalidRequest(code, 'agent is not supported')
  // What runs on after its call has ended could never be charged.
  if (body['background'] === true) throw new InvalidRequest(code, 'background is not supported')
  const model = read.name(body['model'] ?? path.model, 'model')
  const losses = new Set<string>()
  const contents = contentsOf(stepsOf(body['input'], read), read, losses)
  if (contents.length === 0) throw read.required('input')
  const config = read.object(body['generation_config'], 'generation_config') ?? {}
  const choice = readChoice(config['tool_choice'])
  const request = parseGemini(
    defined({
      contents,
      systemInstruction: read.text(body['system_instruction'], 'system_instruction'),
      tools: readTools(body['tools'], losses),
      toolConfig: choice && { functionCallingConfig: choice },
      generationConfig: defined({
        maxOutputTokens: config['max_output_tokens'],
        seed: config['seed'],
        stopSequences: config['stop_sequences'],
        temperature: config['temperature'],
        topP: config['top_p'],
        thinkingConfig: readThinking(config),
        responseModalities: read
          .texts(body['response_modalities'], 'response_modalities')
          ?.map((name) => name.toUpperCase()),
        ...readFormat(body, losses),
      }),
    }),
    { model, stream: read.flag(body['stream'], 'stream') ?? false },
  )
  const unread = [
    ...unreadNames(body, known, '').map((name) => name.slice(1)),
    ...unreadNames(config, knownConfig, 'generation_config'),
  ]
  return { ...request, losses: [...new Set([...request.losses, ...losses, ...unread])] }
}

function readThinking(config: Fields): Fields | undefined {
  const level = read.text(config['thinking_level'], 'generation_config.thinking_level')
  const summaries = read.text(config['thinking_summaries'], 'generation_config.thinking_summaries')
  if (level === undefined && summaries === undefined) return undefined
  return defined({ thinkingLevel: level, includeThoughts: summaries === undefined ? undefined : summaries !== 'none' })
}

function readChoice(value: unknown): Fields | undefined {
  if (value === undefined || value === null) return undefined
  const allowed = isObject(value) ? (read.object(value['allowed_tools'], 'tool_choice.allowed_tools') ?? {}) : undefined
  const mode = read.text(allowed ? (allowed['mode'] ?? 'any') : value, 'generation_config.tool_choice')
  const names = allowed && read.texts(allowed['tools'], 'tool_choice.allowed_tools.tools')
  return defined({ mode: mode?.toUpperCase(), allowedFunctionNames: names })
}

const vendorTools = new Map([
  ['google_search', 'googleSearch'],
  ['code_execution', 'codeExecution'],
  ['url_context', 'urlContext'],
])

function readTools(value: unknown, losses: Set<string>): Fields[] | undefined {
  const tools = (read.list(value, 'tools') ?? []).map((tool, index) => {
    if (!isObject(tool)) throw read.invalid(`tools[${index}]`)
    return tool
  })
  const functions = tools
    .filter(({ type }) => type === 'function')
    .map(({ name, description, parameters }) => defined({ name, description, parametersJsonSchema: parameters }))
  const others = tools.flatMap((tool): Fields[] => {
    const type = typeOf(tool)
    const name = vendorTools.get(type)
    if (name === undefined && type !== 'function') losses.add(`tools.${type}`)
    return name === undefined ? [] : [{ [name]: {} }]
  })
  return tools.length === 0
    ? undefined
    : [...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...others]
}

const formatTypes = new Set(['text', 'image', 'audio', 'video'])

/** A form with a type, a list of those, or a schema alone. */
function readFormat(body: Fields, losses: Set<string>): Fields {
  const given = body['response_format']
  const formats = (Array.isArray(given) ? given : [given]).filter(isObject)
  const isTyped = (format: Fields): boolean => formatTypes.has(typeOf(format))
  for (const format of formats) if (isTyped(format) && format['type'] !== 'text') losses.add('response_format')
  const text = formats.find((format) => format['type'] === 'text' || !isTyped(format))
  const schema = text && isTyped(text) ? text['schema'] : text
  return defined({
    responseMimeType:
      text && isTyped(text) ? text['mime_type'] : (body['response_mime_type'] ?? (schema && 'application/json')),
    responseJsonSchema: schema,
  })
}
