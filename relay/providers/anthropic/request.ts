import { type McpServer, mcpServersOf } from '#relay/chat/hosted/mcp-servers.ts'
import { detailsIn, lossesTowards } from '#relay/chat/losses.ts'
import { isMultiTurn } from '#relay/chat/multi-turn.ts'
import type { AssistantPart, ChatRequest, ReasoningPart } from '#relay/chat/request.ts'
import { unsupportedByClaude } from '../shared/unsupported-fields.ts'
import type { ProviderCall, UpstreamRequest } from '../types.ts'
import { type Json, listOf, recordOf, withoutAbsent } from '../shared/json.ts'
import { withAutomaticMarks } from './automatic-cache-marks.ts'
import { textBlock } from './blocks.ts'
import { limitCacheMarks } from './cache-marks.ts'
import { systemTexts, toClaudeMessages } from './conversation.ts'
import type { HeaderNeeds } from './headers.ts'
import { type ClaudeTraits, type NameSuffix, splitSuffix, traitsOf } from './models.ts'
import { formatInstruction, formatOf } from './output-format.ts'
import { answerLimit, suffixThinking, type Thinking, thinkingBase, requestedThinking } from './thinking.ts'
import { toolFields } from './tools.ts'
import { isUnprovenSearch } from './unproven-searches.ts'

/** Fields of this dialect that callers of others may send; they are copied as they are. */
const extensions = ['thinking', 'output_config', 'context_management', 'container', 'mcp_servers']

/** Those that a caller wrote. The responses form has a field of its own by one of the names. */
const extensionsOf = ({ extra: { dialect, fields } }: ChatRequest): string[] =>
  extensions.filter((name) => name in fields && !(name === 'context_management' && dialect === 'openai-responses'))

type Planned = { model: string; traits: ClaudeTraits; thinking: Thinking; suffix: NameSuffix }

/**
 * What is surely sent of an answer: text that says nothing, images and reasoning without this vendor's proof are not, and
 * calls of remote servers and searches not to every host.
 */
const isSent = (part: AssistantPart): boolean =>
  part.type === 'text' || part.type === 'refusal'
    ? part.text.trim() !== ''
    : !['image', 'audio', 'mcp-call', 'web-search'].includes(part.type) &&
      !(part.type === 'reasoning' && !isProven(part))

const isProven = ({ signature, encrypted }: ReasoningPart): boolean =>
  signature?.dialect === 'claude' || encrypted?.dialect === 'claude'

/** Older models refuse to think on in a round of tools whose own reasoning the caller no longer has. */
function lostItsReasoning({ messages }: ChatRequest): boolean {
  const last = messages.findLast((message) => message.role === 'assistant' && message.content.some(isSent))
  if (last?.role !== 'assistant' || !last.content.some((part) => part.type === 'tool-call')) return false
  return !last.content.some((part) => part.type === 'reasoning' && isProven(part))
}

export function planOf(model: string, call: ProviderCall): { suffix: NameSuffix; traits: ClaudeTraits; share: number } {
  const enabled = call.options['claude.thinking_adapter_enabled']
  const suffix = enabled ? splitSuffix(model) : { model, thinking: false }
  return {
    suffix,
    traits: traitsOf(suffix.model),
    share: call.options['claude.thinking_adapter_budget_tokens_percentage'],
  }
}

function plan(request: ChatRequest, call: ProviderCall, losses: Set<string>): Planned {
  const { suffix, traits, share } = planOf(call.model, call)
  const maxTokens = answerLimit(request.maxTokens, call, traits.maxOutput)
  if (request.maxTokens !== undefined && maxTokens < request.maxTokens) losses.add('max_tokens')
  const base = thinkingBase(request.maxTokens, maxTokens)
  const fromClaude = request.extra.dialect === 'claude'
  let thinking: Thinking = { maxTokens, on: false }
  const explicit = recordOf(request.extra.fields['thinking'])
  if (explicit) thinking = { thinking: explicit, maxTokens, on: explicit['type'] !== 'disabled' }
  else if (suffix.thinking) thinking = suffixThinking(suffix, maxTokens, { traits, share, base })
  else if (request.reasoning)
    thinking = requestedThinking(request.reasoning, maxTokens, { traits, fromClaude, share, base })
  if (traits.thinking === 'none' && request.reasoning && !explicit) losses.add('reasoning_effort')
  if (thinking.on && traits.thinking === 'budget' && lostItsReasoning(request)) {
    thinking = { thinking: { type: 'disabled' }, maxTokens, on: false }
    losses.add(explicit || suffix.thinking || fromClaude ? 'thinking' : 'reasoning_effort')
  }
  const unsupportedFields = request.reasoning?.effort !== undefined && thinking.effort === undefined && !thinking.on
  if (fromClaude && unsupportedFields && request.reasoning?.effort !== 'none') losses.add('reasoning_effort')
  return { model: suffix.model, traits, thinking, suffix }
}

function samplingFields(request: ChatRequest, { traits, thinking, suffix }: Planned, losses: Set<string>): Json {
  // Servers of the other form take none, or fewer, for no limit of the choice.
  const topK = (request.topK ?? 0) > 0 ? request.topK : undefined
  const temperature = request.temperature === undefined ? undefined : Math.min(request.temperature, 1)
  if (temperature !== request.temperature) losses.add('temperature')
  const given = { temperature, top_p: request.topP, top_k: topK }
  const body: Json = { ...given }
  if (traits.sampling === 'refused') Object.assign(body, { temperature: undefined, top_p: undefined, top_k: undefined })
  if (thinking.on) {
    Object.assign(body, { temperature: undefined, top_k: undefined })
    if ((request.topP ?? 0) < 0.95 || suffix.thinking) body['top_p'] = undefined
  }
  if (traits.sampling === 'one' && body['temperature'] !== undefined) body['top_p'] = undefined
  const usual = (name: string, value: unknown): boolean => (name === 'temperature' || name === 'top_p') && value === 1
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && body[name] === undefined && !usual(name, value)) losses.add(name)
  }
  if (suffix.thinking && thinking.on && traits.sampling !== 'refused') body['temperature'] = 1
  return body
}

/** What the translation asks for, under what the caller wrote in this dialect's own words. */
function outputConfig(request: ChatRequest, { traits, thinking }: Planned, own: unknown): Json | undefined {
  const format = request.responseFormat
  const schema = format?.type === 'json-schema' && format.instructed !== true ? format.schema : undefined
  const config = withoutAbsent({
    effort: traits.effort ? thinking.effort : undefined,
    format: schema && traits.structuredOutput ? formatOf(schema) : undefined,
    ...recordOf(own),
  })
  return Object.keys(config).length > 0 ? config : undefined
}

function systemField(request: ChatRequest, traits: ClaudeTraits, laterInstructions: boolean): unknown {
  const instruction = formatInstruction(request.responseFormat, traits.structuredOutput)
  const texts = systemTexts(request.messages, laterInstructions)
  if (instruction !== undefined) texts.push({ type: 'text', text: instruction })
  const [first] = texts
  if (!first) return undefined
  return texts.length === 1 && !first.cacheControl
    ? first.text
    : texts.map((part) => textBlock(part.text, part.cacheControl))
}

const tiers: Readonly<Record<string, string>> = { auto: 'auto', default: 'standard_only' }

function unsupported(request: ChatRequest): string[] {
  const { serviceTier } = request
  const given: Readonly<Record<string, boolean>> = {
    ...unsupportedByClaude(request),
    service_tier: serviceTier !== undefined && tiers[serviceTier] === undefined,
    image: request.messages.some(
      (message) => message.role === 'assistant' && message.content.some((part) => part.type === 'image'),
    ),
  }
  return [...Object.keys(given).filter((name) => given[name]), ...detailsIn(request, ['detail', 'name', 'tool_result'])]
}

/** Reasoning without this vendor's own proof are not shown to it. */
const unprovenReasoning = (request: ChatRequest): boolean =>
  request.messages.some((message) => message.content.some((part) => part.type === 'reasoning' && !isProven(part)))

/** Whether the prompt gets marks that its caller did not set: those who could have are left to do as they do. */
const marksItself = (request: ChatRequest, call: ProviderCall): boolean =>
  call.marksPrompts === true &&
  request.extra.dialect !== 'claude' &&
  isMultiTurn(request) &&
  detailsIn(request, ['cache_control']).length === 0

const noServers: ReturnType<typeof mcpServersOf> = { servers: [], losses: [] }

const serverField = ({ name, url, token }: McpServer): Json =>
  withoutAbsent({ type: 'url', name, url, authorization_token: token })

const toolset = ({ name, allowed }: McpServer): Json => ({
  type: 'mcp_toolset',
  mcp_server_name: name,
  ...(allowed === undefined
    ? {}
    : {
        default_config: { enabled: false },
        configs: Object.fromEntries(allowed.map((each) => [each, { enabled: true }])),
      }),
})

const callsRemotely = ({ messages }: ChatRequest): boolean =>
  messages.some(({ content }) =>
    content.some((part) => part.type === 'mcp-call' && part.own.dialect === 'openai-responses'),
  )

/** What another vendor found, sent back by a caller of this dialect. */
const holdsUnprovenSearch = ({ messages }: ChatRequest): boolean =>
  messages.some(({ content }) =>
    content.some(
      (part) => part.type === 'web-search' && part.own.dialect === 'claude' && isUnprovenSearch(part.own.value[1]),
    ),
  )

export type ClaudeBody = { model: string; body: Json; losses: string[]; needs: HeaderNeeds }

/** The body of a messages call without what differs between its hosts: the model's name and whether it streams. */
export function toClaudeBody(
  request: ChatRequest,
  call: ProviderCall,
  { isOwnHost = false }: { isOwnHost?: boolean } = {},
): ClaudeBody {
  const carriedNames = extensionsOf(request)
  const losses = new Set(lossesTowards(request, 'claude').filter((name) => !carriedNames.includes(name)))
  for (const name of unsupported(request)) losses.add(name)
  if (unprovenReasoning(request)) losses.add('reasoning_content')
  const planned = plan(request, call, losses)
  const { traits, thinking } = planned
  const mayForce = traits.forcedToolChoice && !thinking.on
  const { tools, tool_choice } = toolFields(request, { traits, mayForce, losses })
  const laterInstructions = isOwnHost && traits.laterInstructions
  const remote = isOwnHost && request.extra.dialect === 'openai-responses' ? mcpServersOf(request) : noServers
  if (remote !== noServers) for (const name of ['tools.mcp', 'mcp_call']) losses.delete(name)
  for (const name of remote.losses) losses.add(name)
  // Earlier calls of remote tools stand only beside the servers that made them.
  const remoteCalls = remote.servers.length > 0
  if (!remoteCalls && callsRemotely(request)) losses.add('mcp_call')
  if (holdsUnprovenSearch(request)) losses.add('web_search_tool_result')
  const prefill = traits.prefill && !thinking.on
  const messages = toClaudeMessages(request.messages, { prefill, laterInstructions, remoteCalls })
  const offered = [...listOf(tools), ...remote.servers.map(toolset)]
  const prompt = {
    tools: offered.length > 0 ? offered : undefined,
    system: systemField(request, traits, laterInstructions),
    messages,
  }
  const { parts, cut } = limitCacheMarks(
    marksItself(request, call) ? withAutomaticMarks(prompt, traits.leastCached) : prompt,
  )
  if (cut) losses.add('cache_control')
  const sampling = withoutAbsent(samplingFields(request, planned, losses))
  const carried = Object.fromEntries(carriedNames.map((name) => [name, request.extra.fields[name]]))
  const own = request.extra.dialect === 'claude' ? request.extra.fields : carried
  const stop = request.stop.filter((text) => text.trim() !== '')
  const body = withoutAbsent({
    max_tokens: thinking.maxTokens,
    system: parts['system'],
    messages: parts['messages'],
    tools: parts['tools'],
    tool_choice,
    ...sampling,
    stop_sequences: stop.length > 0 ? stop : undefined,
    metadata: request.user === undefined ? undefined : { user_id: request.user },
    service_tier: request.serviceTier === undefined ? undefined : tiers[request.serviceTier],
    mcp_servers: remoteCalls ? remote.servers.map(serverField) : undefined,
    ...own,
    // Settled with what the model takes beside them, so what the caller wrote must not replace them.
    thinking: thinking.thinking,
    output_config: outputConfig(request, planned, own['output_config']),
  })
  const files = request.messages.some((message) =>
    message.content.some((part) => 'source' in part && part.source.kind === 'file-id'),
  )
  return {
    model: planned.model,
    body,
    losses: [...losses],
    needs: { sampling: Object.keys(sampling).length > 0, files, remoteTools: remoteCalls },
  }
}

export type ClaudeHost = {
  /** It keeps conversations, so that a call may go on from an earlier one without repeating it. */
  keepsThreads?: boolean | undefined
  url: (call: ProviderCall) => string
  headers: (call: ProviderCall, needs: HeaderNeeds) => Record<string, string>
  /**
   * Where a host puts the model's name and the like elsewhere than into the body, and takes less than the vendor itself.
   * Returns names of what it had to leave out.
   */
  shape?: ((body: Json, call: ProviderCall) => string[]) | undefined
}

export function toClaudeRequest(host: ClaudeHost) {
  return (request: ChatRequest, call: ProviderCall): UpstreamRequest => {
    const { model, body, losses, needs } = toClaudeBody(request, call, { isOwnHost: host.keepsThreads === true })
    return {
      method: 'POST',
      url: host.url(call),
      headers: host.headers(call, needs),
      body: { model, ...body, ...(call.stream ? { stream: true } : {}) },
      losses,
    }
  }
}
