import { detailsIn, lossesTowards } from '#relay/chat/losses.ts'
import type { Effort } from '#core/models/parameters.ts'
import type { CacheControl, ChatRequest, Message } from '#relay/chat/request.ts'
import { unsupportedByClaude } from '../../shared/unsupported-fields.ts'
import { systemTexts, toClaudeMessages } from '../../anthropic/conversation.ts'
import { formatInstruction } from '../../anthropic/output-format.ts'
import { effortOf } from '../../openai-compatible/request.ts'
import type { ProviderCall } from '../../types.ts'
import { asFunctionTool } from '../../shared/custom-tools.ts'
import { type Json, recordOf, recordsOf, textOf, withoutAbsent } from '../../shared/json.ts'
import { cachePoint, toConverseMessages } from './blocks.ts'

/** Models that keep what a cache point closes, though none so closes its tools. */
const caches = (model: string): boolean => model.includes('nova')

/** A mark that is not written, or not as it was asked for: none here keeps anything for an hour. */
const isLost = (mark: CacheControl, model: string): boolean => !caches(model) || mark.ttl === '1h'

/** Fields of this very call that a caller may send; they are copied as they are. */
const extensions = ['additionalModelRequestFields', 'guardrailConfig', 'performanceConfig', 'requestMetadata']

function toolSpec(name: unknown, rest: Json = {}): Json {
  return { toolSpec: withoutAbsent({ name, inputSchema: { json: { type: 'object', properties: {} } }, ...rest }) }
}

function toolsOf(request: ChatRequest, losses: Set<string>): Json[] {
  const { toolChoice } = request
  return request.tools.flatMap((tool) => {
    if (tool.type === 'vendor' || tool.type === 'web-search') {
      losses.add(tool.type === 'web-search' ? 'web_search_options' : 'tools')
      return []
    }
    if (toolChoice?.type === 'allowed' && !toolChoice.names.includes(tool.name)) return []
    const { name, description, parameters, strict } = tool.type === 'custom' ? asFunctionTool(tool) : tool
    const schema = parameters ? { inputSchema: { json: { ...parameters, type: 'object' } } } : {}
    const spec = toolSpec(name, { description, ...schema, strict: strict === true ? true : undefined })
    if (tool.type === 'function' && tool.cacheControl) losses.add('cache_control')
    return [spec]
  })
}

/** Every tool a conversation has used must be declared, also when the caller offers none any more. */
function usedTools(messages: readonly Json[]): Json[] {
  const names = messages.flatMap((message) =>
    recordsOf(message['content']).flatMap((block) => textOf(recordOf(block['toolUse'])?.['name']) ?? []),
  )
  return [...new Set(names)].map((name) => toolSpec(name))
}

/** "This model doesn't support the toolConfig.toolChoice.any field. Remove toolConfig.toolChoice.any and try again." */
const choosesItself = /llama/
/** The same of `toolChoice.tool`. */
const takesNoNamedChoice = /llama|mistral-large-24/

function choiceOf(request: ChatRequest, model: string, losses: Set<string>): Json | undefined {
  const choice = request.toolChoice
  if (!choice) return undefined
  const isNamed = choice.type === 'tool'
  if (isNamed && !takesNoNamedChoice.test(model)) return { tool: { name: choice.name } }
  const mode = choice.type === 'allowed' ? choice.mode : isNamed ? 'required' : choice.type
  const isForced = mode === 'required' && !choosesItself.test(model)
  if (isNamed || mode === 'none' || (mode === 'required' && !isForced)) losses.add('tool_choice')
  return isForced ? { any: {} } : { auto: {} }
}

/** Nothing here forbids tools, so a choice of none takes them away, as far as the conversation allows. */
function toolConfig(
  request: ChatRequest,
  { model, messages }: { model: string; messages: readonly Json[] },
  losses: Set<string>,
): Json | undefined {
  const used = usedTools(messages)
  if (request.toolChoice?.type === 'none' && used.length === 0) return undefined
  const offered = toolsOf(request, losses)
  if (offered.length === 0) return used.length > 0 ? { tools: used } : undefined
  if (request.parallelToolCalls === false) losses.add('parallel_tool_calls')
  return withoutAbsent({ tools: offered, toolChoice: choiceOf(request, model, losses) })
}

function systemField(request: ChatRequest, model: string, losses: Set<string>): Json[] | undefined {
  const instruction = formatInstruction(request.responseFormat, false)
  const blocks = systemTexts(request.messages).flatMap((part): Json[] => {
    if (part.cacheControl && isLost(part.cacheControl, model)) losses.add('cache_control')
    return part.cacheControl && caches(model) ? [{ text: part.text }, cachePoint] : [{ text: part.text }]
  })
  if (instruction !== undefined) blocks.push({ text: instruction })
  return blocks.length > 0 ? blocks : undefined
}

const threeSteps = (effort: Effort): string =>
  effort === 'minimal' || effort === 'low' ? 'low' : effort === 'medium' ? 'medium' : 'high'

/** What only one vendor's models know goes beside the common fields, in that vendor's words. */
function modelFields(request: ChatRequest, model: string, losses: Set<string>): Json {
  const effort = effortOf(request)
  const fields: Json = {}
  if (effort !== undefined && /gpt-oss/.test(model) && effort !== 'none')
    fields['reasoning_effort'] = threeSteps(effort)
  else if (effort !== undefined && /nova-2/.test(model)) {
    fields['reasoningConfig'] =
      effort === 'none' ? { type: 'disabled' } : { type: 'enabled', maxReasoningEffort: threeSteps(effort) }
  } else if (effort !== undefined && effort !== 'none') losses.add('reasoning_effort')
  // Servers of the other form take none, or fewer, for no limit of the choice.
  if (request.topK !== undefined && request.topK > 0) {
    if (/nova/.test(model)) fields['inferenceConfig'] = { topK: request.topK }
    // Its own form has a temperature, a `top_p` and a limit, and refuses anything else.
    else if (/llama/.test(model)) losses.add('top_k')
    else fields['top_k'] = request.topK
  }
  return fields
}

function unsupported(request: ChatRequest): string[] {
  const given: Readonly<Record<string, boolean>> = {
    ...unsupportedByClaude(request),
    service_tier: request.serviceTier !== undefined && request.serviceTier !== 'auto',
    user: request.user !== undefined,
    reasoning_content: request.messages.some((message) =>
      message.content.some(
        (part) =>
          part.type === 'reasoning' && part.signature?.dialect !== 'claude' && part.encrypted?.dialect !== 'claude',
      ),
    ),
  }
  return [
    ...Object.keys(given).filter((name) => given[name]),
    ...detailsIn(request, ['name', 'detail', 'image', 'tool_result']),
  ]
}

const isVendorPart = ({ type }: Message['content'][number]): boolean =>
  type === 'vendor' || type === 'web-search' || type === 'mcp-call'

/** What a vendor's own platform did has no form here; a turn of nothing else is none. */
function withoutVendorParts(message: Message): Message {
  if (message.role !== 'assistant' || !message.content.some(isVendorPart)) return message
  return { ...message, content: message.content.filter((part) => !isVendorPart(part)) }
}

function conversation(request: ChatRequest, model: string, losses: Set<string>): Json[] {
  const marked = request.messages.some(
    (message) =>
      message.role !== 'system' &&
      message.content.some((part) => 'cacheControl' in part && part.cacheControl && isLost(part.cacheControl, model)),
  )
  if (marked) losses.add('cache_control')
  const messages = toClaudeMessages(request.messages.map(withoutVendorParts), { prefill: false })
  return toConverseMessages(messages, caches(model))
}

/**
 * Nova refuses a limit and sampling beside its highest effort: https://github.com/UKGovernmentBEIS/inspect_ai/issues/3767. What goes
 * beyond the limit is metered; where it cannot be, the limit goes before the effort.
 */
const refusesBounds = (fields: Json): boolean => recordOf(fields['reasoningConfig'])?.['maxReasoningEffort'] === 'high'

function keepLimit(fields: Json, losses: Set<string>): void {
  fields['reasoningConfig'] = { ...recordOf(fields['reasoningConfig']), maxReasoningEffort: 'medium' }
  losses.add('reasoning_effort')
}

function boundsOf({ maxTokens, temperature, topP }: ChatRequest, fields: Json, losses: Set<string>): Json {
  if (!refusesBounds(fields)) {
    return {
      maxTokens: maxTokens === 0 ? 1 : maxTokens,
      temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
      topP,
    }
  }
  const given = Object.entries({ max_tokens: maxTokens, temperature, top_p: topP })
  for (const [name, value] of given) if (value !== undefined) losses.add(name)
  return {}
}

/** "This model doesn't support the stopSequences field. Remove stopSequences and try again." */
const refusesStops = /openai\.|gpt-oss|qwen|deepseek\.v3|glm|gemma/

function stopsOf({ stop }: ChatRequest, model: string, losses: Set<string>): string[] | undefined {
  if (stop.length === 0) return undefined
  if (!refusesStops.test(model)) return stop
  losses.add('stop')
  return undefined
}

/** "This model doesn't support tool use in streaming mode." */
const answersToolsUnstreamed = /llama|mistral-(large|small)-24|palmyra/

/** Whether the model streams no answer to such a call. Tools that an earlier answer used are declared again, and count too. */
export const answersUnstreamed = ({ tools, messages }: ChatRequest, model: string): boolean =>
  answersToolsUnstreamed.test(model) &&
  (tools.length > 0 || messages.some(({ content }) => content.some(({ type }) => type === 'tool-call')))

/** The body of a converse call, one form for the models of every vendor of the host. */
export function toConverseBody(request: ChatRequest, call: ProviderCall): { body: Json; losses: string[] } {
  const own = request.extra.dialect === 'openai-chat' ? request.extra.fields : {}
  const carried = Object.fromEntries(extensions.flatMap((name) => (name in own ? [[name, own[name]]] : [])))
  const losses = new Set(lossesTowards(request, undefined).filter((name) => !(name in carried)))
  for (const name of unsupported(request)) losses.add(name)
  const messages = conversation(request, call.model, losses)
  const fields = {
    ...modelFields(request, call.model, losses),
    ...recordOf(carried['additionalModelRequestFields']),
  }
  if (call.needsLimit === true && request.maxTokens !== undefined && refusesBounds(fields)) keepLimit(fields, losses)
  const inference = withoutAbsent({
    ...boundsOf(request, fields, losses),
    stopSequences: stopsOf(request, call.model, losses),
  })
  const body = withoutAbsent({
    messages,
    system: systemField(request, call.model, losses),
    inferenceConfig: Object.keys(inference).length > 0 ? inference : undefined,
    toolConfig: toolConfig(request, { model: call.model, messages }, losses),
    ...carried,
    additionalModelRequestFields: Object.keys(fields).length > 0 ? fields : undefined,
  })
  return { body, losses: [...losses] }
}
