import { channelTypeOf } from '#core/channel-types/index.ts'
import { searchesHandedBack, uncountedSearches } from '#relay/chat/hosted/uncounted-search.ts'
import { lossesTowards } from '#relay/chat/losses.ts'
import type { Effort } from '#core/models/parameters.ts'
import type { ChatRequest, ResponseFormat } from '#relay/chat/request.ts'
import type { ProviderCall, UpstreamRequest } from '../types.ts'
import { type Json, recordOf, withoutAbsent } from '../shared/json.ts'
import { chatUrl, requestHeaders } from './address.ts'
import { withInstructionsFirst } from './instructions-first.ts'
import { toOpenAiMessages, type Writing } from './messages.ts'
import {
  applyFamilyRules,
  clampEffort,
  effortsOf,
  isReasoningModel,
  leastOutput,
  splitEffort,
  systemRoleOf,
} from './model-families.ts'
import type { OpenAiStyle } from './style.ts'
import { wantsThinking } from './thinking-switch.ts'
import { toolFields } from './tools.ts'

export const knownNames = (channelType: number): readonly string[] => channelTypeOf(channelType)?.currentModels ?? []

export const mayAskForUsage = (style: OpenAiStyle, call: ProviderCall): boolean =>
  style.streamUsage ?? channelTypeOf(call.channel.type)?.streamUsageOption ?? false

/** The effort that a call's setting amounts to, for upstreams that know words only; none where it says nothing of reasoning. */
export function effortOf({ reasoning: input, extra }: ChatRequest): Effort | undefined {
  if (input === undefined) return undefined
  if (input.effort !== undefined) return input.effort
  if (input.mode === 'disabled' || input.budgetTokens === 0) return 'none'
  if (input.budgetTokens === undefined) return input.mode === undefined ? undefined : 'medium'
  const low = extra.dialect === 'gemini' ? 1024 : 2048
  if (input.budgetTokens < 0) return 'high'
  if (input.budgetTokens <= low) return 'low'
  return input.budgetTokens <= 8192 ? 'medium' : 'high'
}

function reasoningEffort(request: ChatRequest, call: ProviderCall, losses: Set<string>): string | undefined {
  if (request.extra.dialect === 'openai-chat') return request.reasoning?.effort
  const wanted = effortOf(request)
  if (wanted === undefined) return undefined
  const { model } = splitEffort(call.model, knownNames(call.channel.type))
  if (isReasoningModel(model)) {
    const effort = clampEffort(wanted, effortsOf(model))
    if (effort !== wanted) losses.add('reasoning_effort')
    return effort
  }
  if (wanted !== 'none') losses.add('reasoning_effort')
  return undefined
}

function responseFormat(format: ResponseFormat | undefined): unknown {
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json') return { type: 'json_object' }
  const { name, schema, strict, description } = format
  return { type: 'json_schema', json_schema: withoutAbsent({ name, description, schema, strict }) }
}

function samplingFields(request: ChatRequest, { userField = 'user' }: OpenAiStyle): Json {
  return {
    max_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    stop: request.stop.length > 1 ? request.stop : request.stop[0],
    seed: request.seed,
    n: request.choiceCount,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    logprobs: request.logprobs,
    top_logprobs: request.topLogprobs,
    response_format: responseFormat(request.responseFormat),
    [userField]: request.user,
    service_tier: request.serviceTier === 'standard_only' ? 'default' : request.serviceTier,
    audio: request.audio && withoutAbsent(request.audio),
  }
}

/** Fields that both forms of the original's calls know by one name; other vendors know few of them. */
const sharedFields = [
  'metadata',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'store',
]

/** What callers of the responses form say that this form has a word for. Takes the names of what it carries from the losses. */
function fromResponsesForm({ fields }: ChatRequest['extra'], { extendedTools, losses }: Writing): Json {
  if (!extendedTools) return {}
  const carried = sharedFields.filter((name) => fields[name] !== undefined)
  for (const name of carried) losses.delete(name)
  const { verbosity, ...wording } = recordOf(fields['text']) ?? {}
  if (verbosity !== undefined && Object.keys(wording).length === 0) losses.delete('text')
  return { ...Object.fromEntries(carried.map((name) => [name, fields[name]])), verbosity }
}

/** Fields of the caller's own dialect that the hub does not know; `stream_options` belongs to the gateway. */
function carriedFields(request: ChatRequest, writing: Writing): Json {
  if (request.extra.dialect === 'openai-responses') return fromResponsesForm(request.extra, writing)
  if (request.extra.dialect !== 'openai-chat') return {}
  const { stream_options: _, ...fields } = request.extra.fields
  return fields
}

function streamFields(request: ChatRequest, style: OpenAiStyle, call: ProviderCall): Json {
  if (!call.stream) return { stream: request.stream ? false : undefined }
  const given = request.extra.dialect === 'openai-chat' ? recordOf(request.extra.fields['stream_options']) : undefined
  return {
    stream: true,
    stream_options: mayAskForUsage(style, call) ? { ...given, include_usage: true } : undefined,
  }
}

/**
 * The original writes and speaks only: https://platform.openai.com/docs/api-reference/chat/create, field `modalities`. Servers
 * that draw in this form do so with models that are named for it.
 */
function modalitiesOf({ modalities, extra }: ChatRequest, { model }: ProviderCall, { style, losses }: Writing) {
  const isTaken = extra.dialect === 'openai-chat' || style.draws === true || /image|banana/.test(model)
  if (isTaken || !modalities?.includes('image')) return modalities
  losses.add('modalities')
  const others = modalities.filter((modality) => modality !== 'image')
  return others.length > 0 ? others : undefined
}

/** The most stop sequences that the original takes. */
const mostStops = 4

/** Where vendors take the reasoning effort. */
const thinkingFields = ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'prompt_mode']

/**
 * The chat form has the same least for models that think, in other words: "Could not finish the message because max_tokens or model
 * output limit was reached", https://github.com/ZenMux/zenmux-doc/issues/59. Claude Code tries out with one token whether a model answers.
 */
function outputLimit({ maxTokens, extra }: ChatRequest, call: ProviderCall): number | undefined {
  if (maxTokens === undefined) return undefined
  const { model } = splitEffort(call.model, knownNames(call.channel.type))
  return Math.max(maxTokens, extra.dialect !== 'openai-chat' && isReasoningModel(model) ? leastOutput : 1)
}

function bodyOf(request: ChatRequest, call: ProviderCall, writing: Writing): Json {
  const { style, losses } = writing
  const sameDialect = request.extra.dialect === 'openai-chat'
  // A caller of the same dialect is taken at their word.
  const keepsOrder = sameDialect || writing.extendedTools
  const maxTokens = outputLimit(request, call)
  if ((maxTokens ?? 0) > Math.max(request.maxTokens ?? 0, 1)) losses.add('max_tokens')
  const stop = sameDialect ? request.stop : request.stop.slice(0, mostStops)
  if (stop.length < request.stop.length) losses.add('stop')
  const keepsTopK = style.takesTopK === true || sameDialect
  if (request.topK !== undefined && !keepsTopK) losses.add('top_k')
  const body = withoutAbsent({
    model: call.model,
    messages: toOpenAiMessages(keepsOrder ? request.messages : withInstructionsFirst(request.messages), writing),
    ...carriedFields(request, writing),
    ...withoutAbsent({
      ...toolFields(request, call.model, writing),
      ...samplingFields({ ...request, stop, maxTokens }, style),
      top_k: keepsTopK ? request.topK : undefined,
      modalities: modalitiesOf(request, call, writing),
      reasoning_effort: style.reasoning ? undefined : reasoningEffort(request, call, losses),
      ...streamFields(request, style, call),
    }),
  })
  for (const name of style.reasoning?.(body, request) ?? []) losses.add(name)
  const hasThinkingField = thinkingFields.some((name) => body[name] !== undefined)
  if (style.reasoning && !hasThinkingField && wantsThinking(request.reasoning) === true) losses.add('reasoning_effort')
  return body
}

/** "messages[0].role: unknown variant `developer`": https://github.com/eclipse-theia/theia/issues/15144. Who knows the role knows the other too. */
function renameDevelopers(body: Json): void {
  const messages: unknown = body['messages']
  const isDeveloper = (message: unknown): boolean => recordOf(message)?.['role'] === 'developer'
  if (!Array.isArray(messages) || !messages.some(isDeveloper)) return
  body['messages'] = messages.map((message: unknown) =>
    isDeveloper(message) ? { ...recordOf(message), role: 'system' } : message,
  )
}

/** Rules every body goes through last, translated or native: the model's family, then the vendor's own. */
export function finishBody(body: Json, style: OpenAiStyle, call: ProviderCall): string[] {
  const dropped = applyFamilyRules(body, knownNames(call.channel.type))
  const isOriginal = style.extendedTools?.(call.channel) === true
  if (!isOriginal && systemRoleOf(String(body['model'])) === 'system') renameDevelopers(body)
  return [...dropped, ...(style.adjust?.(body, call) ?? [])]
}

/** How often the vendor searches for words in the body that its answers may say nothing of. */
export const searchesBy = (style: OpenAiStyle, body: Json): number =>
  style.ignoresSearches ? searchesHandedBack(body) : uncountedSearches(body)

export function toOpenAiRequest(style: OpenAiStyle) {
  return (request: ChatRequest, call: ProviderCall): UpstreamRequest => {
    const losses = new Set(lossesTowards(request, 'openai-chat'))
    const { model } = splitEffort(call.model, knownNames(call.channel.type))
    const body = bodyOf(request, call, {
      style,
      extendedTools: style.extendedTools?.(call.channel) === true,
      systemRole: systemRoleOf(model),
      model,
      losses,
    })
    for (const name of finishBody(body, style, call)) losses.add(name)
    const searches = searchesBy(style, body)
    return {
      method: 'POST',
      url: chatUrl(style, { ...call, model: String(body['model']) }),
      headers: requestHeaders(style, call),
      body,
      losses: [...losses],
      ...(searches > 0 ? { searches } : {}),
    }
  }
}
