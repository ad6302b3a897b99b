import { DomainError } from '#core/errors.ts'
import { googleFields } from '#relay/chat/google-fields.ts'
import { detailsIn, lossesTowards } from '#relay/chat/losses.ts'
import type { ChatRequest, Message } from '#relay/chat/request.ts'
import type { ProviderCall, UpstreamRequest } from '../types.ts'
import { type Json, recordOf, wordOf, withoutAbsent } from '../shared/json.ts'
import { formatInstruction } from '../anthropic/output-format.ts'
import { joinPath } from '../shared/join-path.ts'
import { toContents } from './contents.ts'
import { mixesTools, refusesInstructions, takesJsonSchema, takesPenalties, thinkingOf } from './models.ts'
import { toGeminiSchema } from './schema.ts'
import { type NamedThinking, thinkingByName, requestedThinking } from './thinking.ts'
import { toolFields } from './tools.ts'

const mostStops = 5

const categories = [
  'HARM_CATEGORY_HARASSMENT',
  'HARM_CATEGORY_HATE_SPEECH',
  'HARM_CATEGORY_SEXUALLY_EXPLICIT',
  'HARM_CATEGORY_DANGEROUS_CONTENT',
]
/** Newer models may refuse it, so it goes only where it is set by name. */
const retiredCategory = 'HARM_CATEGORY_CIVIC_INTEGRITY'

function safetySettings(call: ProviderCall): Json[] | undefined {
  const settings = call.options['gemini.safety_settings']
  const own = (name: string): string | undefined => (Object.hasOwn(settings, name) ? settings[name] : undefined)
  const named = own(retiredCategory) === undefined ? categories : [...categories, retiredCategory]
  const entries = named.flatMap((category) => {
    const threshold = own(category) ?? own('default')
    return threshold === undefined ? [] : [{ category, threshold }]
  })
  return entries.length > 0 ? entries : undefined
}

function modalitiesOf(request: ChatRequest, call: ProviderCall, model: string): string[] | undefined {
  if (request.audio) return ['AUDIO']
  const wanted = request.modalities?.map((modality) => modality.toUpperCase())
  if (wanted && wanted.some((modality) => modality !== 'TEXT')) return wanted
  const draws = call.options['gemini.supported_imagine_models']
  return draws.includes(call.originalModel) || draws.includes(model) ? ['TEXT', 'IMAGE'] : undefined
}

function formatFields({ responseFormat }: ChatRequest, model: string, instructed: boolean): Json {
  if (!responseFormat || responseFormat.type === 'text' || instructed) return {}
  const responseMimeType = 'application/json'
  if (responseFormat.type === 'json') return { responseMimeType }
  const { schema } = responseFormat
  return takesJsonSchema(model)
    ? { responseMimeType, responseJsonSchema: schema }
    : { responseMimeType, responseSchema: toGeminiSchema(schema) }
}

function candidateCount(request: ChatRequest, call: ProviderCall): number | undefined {
  const count = request.choiceCount ?? 1
  if (count > 1 && call.stream) {
    throw new DomainError('unsupported.streamed_answers')
  }
  return count > 1 ? count : undefined
}

function thinkingConfig(request: ChatRequest, named: NamedThinking, losses: Set<string>): Json | undefined {
  if (named.thinkingConfig?.['thinkingBudget'] !== undefined || named.thinkingConfig?.['thinkingLevel'] !== undefined) {
    return named.thinkingConfig
  }
  const requested = request.reasoning && requestedThinking(request.reasoning, named.model, request.extra.dialect)
  if (request.reasoning && thinkingOf(named.model).kind === 'none') losses.add('reasoning_effort')
  return requested || named.thinkingConfig ? { ...named.thinkingConfig, ...requested } : undefined
}

function penalties(request: ChatRequest, model: string, losses: Set<string>): Json {
  const { frequencyPenalty, presencePenalty } = request
  if (takesPenalties(model)) return { frequencyPenalty, presencePenalty }
  if (frequencyPenalty) losses.add('frequency_penalty')
  if (presencePenalty) losses.add('presence_penalty')
  return {}
}

function generationConfig(
  request: ChatRequest,
  call: ProviderCall,
  { named, losses, instructed }: { named: NamedThinking; losses: Set<string>; instructed: boolean },
): Json {
  const voice = request.audio?.voice
  if (request.stop.length > mostStops) losses.add('stop')
  return withoutAbsent({
    ...(request.extra.dialect === 'gemini' ? recordOf(request.extra.fields['generationConfig']) : {}),
    ...withoutAbsent({
      temperature: request.temperature,
      topP: request.topP,
      topK: request.topK !== undefined && request.topK > 0 ? request.topK : undefined,
      maxOutputTokens: request.maxTokens,
      stopSequences: request.stop.length > 0 ? request.stop.slice(0, mostStops) : undefined,
      candidateCount: candidateCount(request, call),
      seed: request.seed,
      ...penalties(request, named.model, losses),
      responseLogprobs: request.logprobs,
      logprobs: request.topLogprobs,
      ...formatFields(request, named.model, instructed),
      responseModalities: modalitiesOf(request, call, named.model),
      speechConfig: voice === undefined ? undefined : { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
      thinkingConfig: thinkingConfig(request, named, losses),
    }),
  })
}

const instructionsOf = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) =>
    message.role === 'system' ? message.content.flatMap((part) => (part.text === '' ? [] : [part.text])) : [],
  )

/** Models without instructions are sent them at the head of the first question. */
function withInstructions(messages: readonly Message[], instructions: readonly string[]): readonly Message[] {
  if (instructions.length === 0) return messages
  const instruction = { type: 'text' as const, text: instructions.join('\n\n') }
  return [{ role: 'user', content: [instruction] }, ...messages]
}

const isGemini = (request: ChatRequest): boolean => request.extra.dialect === 'gemini'

/** Models speak in bare samples, of which a complete answer is made a WAV file. */
const givesFormat = ({ audio, stream }: ChatRequest): boolean =>
  audio?.format === 'pcm16' || (audio?.format === 'wav' && !stream)

function unsupported(request: ChatRequest): string[] {
  const given: Readonly<Record<string, boolean>> = {
    parallel_tool_calls: request.parallelToolCalls === false,
    service_tier: request.serviceTier !== undefined,
    user: request.user !== undefined,
    // Audio comes without its words.
    modalities: request.audio !== undefined && request.modalities?.some((modality) => modality !== 'audio') === true,
    reasoning_content: request.messages.some((message) =>
      message.content.some((part) => part.type === 'reasoning' && part.signature?.dialect !== 'gemini'),
    ),
  }
  const lost = Object.keys(given).filter((name) => given[name])
  return [
    ...lost,
    ...detailsIn(request, ['cache_control', 'name', 'detail', 'filename', 'tool_result', 'tools.strict']),
    ...(givesFormat(request) ? [] : detailsIn(request, ['audio.format'])),
  ]
}

function cachedContent(request: ChatRequest): string | undefined {
  const { fields, dialect } = request.extra
  if (dialect === 'gemini') return wordOf(fields['cachedContent'])
  if (dialect !== 'openai-chat') return undefined
  return wordOf(fields['cached_content']) ?? wordOf(googleFields(fields)['cached_content'])
}

export type GeminiBody = { model: string; body: Json; losses: string[] }

/** What one host takes and another does not: sites that a search keeps from. */
type Host = { excludesDomains: boolean }

/** The body of a generate call, the same at every host but for that. */
export function toGeminiBody(request: ChatRequest, call: ProviderCall, host: Host): GeminiBody {
  const losses = new Set(lossesTowards(request, 'gemini').filter((name) => name !== 'cached_content'))
  for (const name of unsupported(request)) losses.add(name)
  const named = thinkingByName(call, request.maxTokens ?? 0)
  const { tools, toolConfig } = toolFields(request, {
    model: named.model,
    excludesDomains: host.excludesDomains,
    losses,
  })
  // The tools stay, for the form of the answer can be asked for in words.
  const instruction = formatInstruction(request.responseFormat, false)
  const instructed = instruction !== undefined && tools !== undefined && !mixesTools(named.model)
  if (instructed && request.responseFormat?.type === 'json-schema') losses.add('response_format.strict')
  const instructions = [...instructionsOf(request.messages), ...(instructed ? [instruction] : [])]
  const plain = refusesInstructions(named.model)
  const cached = cachedContent(request)
  const messages = plain ? withInstructions(request.messages, instructions) : request.messages
  const { safetySettings: ownSafety, generationConfig: _, cachedContent: __, ...own } = request.extra.fields
  const fixed = plain || instructions.length === 0 ? undefined : { parts: instructions.map((text) => ({ text })) }
  const body = withoutAbsent({
    ...(isGemini(request) ? own : {}),
    contents: toContents(messages, named.model),
    // What is cached holds instructions and tools of its own.
    systemInstruction: cached === undefined ? fixed : undefined,
    tools: cached === undefined ? tools : undefined,
    toolConfig: cached === undefined ? toolConfig : undefined,
    cachedContent: cached,
    safetySettings: (isGemini(request) ? ownSafety : undefined) ?? safetySettings(call),
    generationConfig: generationConfig(request, call, { named, losses, instructed }),
  })
  return { model: named.model, body, losses: [...losses] }
}

export const generateOperation = (stream: boolean): string =>
  stream ? ':streamGenerateContent?alt=sse' : ':generateContent'

/** A name goes into the path, so nothing in it may lead elsewhere. */
export const modelPath = (model: string): string => encodeURIComponent(model.replace(/^models\//, ''))

export const generateUrl = (call: ProviderCall, model: string): string =>
  operationUrl(call, model, generateOperation(call.stream))

/** `operation` begins with the colon that separates it from the model. */
export function operationUrl(call: ProviderCall, model: string, operation: string): string {
  const versions = call.options['gemini.version_settings']
  const own = (name: string): string | undefined => (Object.hasOwn(versions, name) ? versions[name] : undefined)
  const version = call.channel.other || own(call.originalModel) || own('default') || 'v1beta'
  return joinPath(call.channel.baseUrl, `/${version}`, `/models/${modelPath(model)}${operation}`)
}

export const geminiHeaders = (call: ProviderCall): Record<string, string> => ({
  'content-type': 'application/json',
  accept: call.stream ? 'text/event-stream' : 'application/json',
  'x-goog-api-key': call.channel.key,
})

export function toGeminiRequest(request: ChatRequest, call: ProviderCall): UpstreamRequest {
  const { model, body, losses } = toGeminiBody(request, call, { excludesDomains: false })
  return { method: 'POST', url: generateUrl(call, model), headers: geminiHeaders(call), body, losses }
}
