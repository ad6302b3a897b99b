import { DomainError } from '#core/errors.ts'
import { withoutTrailingSlashes } from '#core/trailing.ts'
import { isServerLoss, type McpServer, mcpServersOf } from '#relay/chat/hosted/mcp-servers.ts'
import { detailsIn, lossesTowards } from '#relay/chat/losses.ts'
import type { ChatRequest, Tool, ToolChoice } from '#relay/chat/request.ts'
import {
  clampEffort,
  effortsOf,
  isReasoningModel,
  leastOutput,
  splitEffort,
  systemRoleOf,
} from '../openai-compatible/model-families.ts'
import { effortOf, knownNames } from '../openai-compatible/request.ts'
import type { ProviderCall } from '../types.ts'
import { type Json, withoutAbsent } from '../shared/json.ts'
import { toInput } from './input.ts'

/** "Allow-list of up to 100 domains": https://developers.openai.com/api/docs/guides/tools-web-search#domain-filtering. */
const mostDomains = 100

/** Whole hosts only, so that what names a part of one lets in the rest of it, and only so many. */
function siteFilter(given: readonly string[]): { domains: string[]; exact: boolean } {
  const hosts = given.map((domain) => withoutTrailingSlashes(domain.replace(/^https?:\/\//, '')))
  const domains = [...new Set(hosts.map((host) => host.split('/', 1)[0] ?? ''))]
  const exact = domains.length <= mostDomains && !hosts.some((host) => host.includes('/'))
  return { domains: domains.slice(0, mostDomains), exact }
}

function toTool(tool: Tool, isOwn: boolean): Json[] {
  switch (tool.type) {
    case 'function': {
      const { name, description, parameters, strict } = tool
      // Absent means strict here, which callers of the other form did not ask for.
      const schema = parameters ?? { type: 'object', properties: {} }
      const strictness = strict ?? (isOwn ? undefined : false)
      return [withoutAbsent({ type: 'function', name, description, parameters: schema, strict: strictness })]
    }
    case 'custom': {
      const { name, description, format } = tool
      return [withoutAbsent({ type: 'custom', name, description, format })]
    }
    case 'web-search': {
      const location = tool.userLocation && { type: 'approximate', ...withoutAbsent(tool.userLocation) }
      const allowed = tool.allowedDomains && siteFilter(tool.allowedDomains).domains
      return [
        withoutAbsent({
          type: 'web_search',
          search_context_size: tool.contextSize,
          user_location: location,
          filters: allowed && { allowed_domains: allowed },
        }),
      ]
    }
    case 'vendor':
      return tool.dialect === 'openai-responses' ? [tool.value as Json] : []
  }
}

const remoteTool = ({ name, url, token, allowed }: McpServer): Json =>
  withoutAbsent({
    type: 'mcp',
    server_label: name,
    server_url: url,
    authorization: token,
    allowed_tools: allowed,
    // The other form knows of no approval: what it names may run.
    require_approval: 'never',
  })

function toChoice(choice: ToolChoice, tools: readonly Tool[]): unknown {
  const kindOf = (name: string): string =>
    tools.some((tool) => tool.type === 'custom' && tool.name === name) ? 'custom' : 'function'
  if (choice.type === 'tool') return { type: kindOf(choice.name), name: choice.name }
  if (choice.type !== 'allowed') return choice.type
  return { type: 'allowed_tools', mode: choice.mode, tools: choice.names.map((name) => ({ type: kindOf(name), name })) }
}

function textField(request: ChatRequest): Json | undefined {
  const { responseFormat: format, extra } = request
  const verbosity = extra.dialect === 'openai-chat' ? extra.fields['verbosity'] : undefined
  const own = extra.dialect === 'openai-responses' ? extra.fields['text'] : undefined
  const shape =
    format?.type === 'json-schema'
      ? withoutAbsent({
          type: 'json_schema',
          name: format.name,
          schema: format.schema,
          strict: format.strict,
          description: format.description,
        })
      : format?.type === 'json'
        ? { type: 'json_object' }
        : undefined
  const text = withoutAbsent({ ...(own as Json | undefined), format: shape, verbosity })
  return Object.keys(text).length > 0 ? text : undefined
}

function reasoningField(
  request: ChatRequest,
  { model, effort: named }: { model: string; effort?: string | undefined },
  { withoutSummary, losses }: { withoutSummary: boolean; losses: Set<string> },
): Json | undefined {
  if (!isReasoningModel(model)) return undefined
  const requested = effortOf(request)
  const effort = named ?? (requested === undefined ? undefined : clampEffort(requested, effortsOf(model, 'responses')))
  if (named === undefined && effort !== requested) losses.add('reasoning_effort')
  const shows =
    request.reasoning?.includeThoughts ?? (request.extra.dialect !== 'openai-responses' && requested !== undefined)
  const field = withoutAbsent({ effort, summary: shows && !withoutSummary ? 'auto' : undefined })
  return Object.keys(field).length > 0 ? field : undefined
}

/** Fields that both forms of the vendor's calls know by one name. */
const shared = [
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'store',
]

function carried(request: ChatRequest): Json {
  const { dialect, fields } = request.extra
  if (dialect === 'openai-responses') return fields
  if (dialect !== 'openai-chat') return {}
  return Object.fromEntries(shared.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])))
}

function unsupported(request: ChatRequest): string[] {
  if ((request.choiceCount ?? 1) > 1) {
    throw new DomainError('unsupported.answers')
  }
  const given: Readonly<Record<string, boolean>> = {
    stop: request.stop.length > 0,
    seed: request.seed !== undefined,
    frequency_penalty: (request.frequencyPenalty ?? 0) !== 0,
    presence_penalty: (request.presencePenalty ?? 0) !== 0,
    top_k: request.topK !== undefined,
    modalities: request.modalities?.some((modality) => modality !== 'text') === true,
    audio: request.audio !== undefined,
    reasoning_content: request.messages.some(({ content }) =>
      content.some((part) => part.type === 'reasoning' && part.encrypted?.dialect !== 'openai-responses'),
    ),
  }
  const lost = Object.keys(given).filter((name) => given[name])
  const filtered = request.tools.flatMap((tool) => (tool.type === 'web-search' && tool.allowedDomains) || [])
  if (!siteFilter(filtered).exact) lost.push('allowed_domains')
  return [...lost, ...detailsIn(request, ['cache_control', 'name', 'image'])]
}

/** The body of a responses call; nothing is stored upstream unless the caller asks, and reasoning comes along sealed. */
export function toResponsesBody(request: ChatRequest, call: ProviderCall): { body: Json; losses: string[] } {
  const { model, effort } = splitEffort(call.model, knownNames(call.channel.type))
  const thinks = isReasoningModel(model)
  const remote = request.extra.dialect === 'claude' ? mcpServersOf(request) : { servers: [], losses: [] }
  const isOwn = request.extra.dialect === 'openai-responses'
  const tools = [...request.tools.flatMap((tool) => toTool(tool, isOwn)), ...remote.servers.map(remoteTool)]
  const carriedNames = new Set([...shared, 'verbosity'])
  const isCarried = (name: string): boolean =>
    carriedNames.has(name) || (request.extra.dialect === 'claude' && isServerLoss(name))
  const losses = new Set(lossesTowards(request, 'openai-responses').filter((name) => !isCarried(name)))
  for (const name of remote.losses) losses.add(name)
  for (const name of unsupported(request)) losses.add(name)
  if (call.withoutSummary === true && request.reasoning?.includeThoughts === true) losses.add('reasoning.summary')
  if (thinks) {
    if (request.temperature !== undefined) losses.add('temperature')
    if (request.topP !== undefined) losses.add('top_p')
    if (request.logprobs === true) losses.add('logprobs')
  }
  const logprobs = request.logprobs === true && !thinks
  const maxTokens = request.maxTokens === undefined ? undefined : Math.max(request.maxTokens, leastOutput)
  if (maxTokens !== request.maxTokens) losses.add('max_tokens')
  const body = withoutAbsent({
    model,
    input: toInput(request.messages, systemRoleOf(model)),
    store: false,
    ...carried(request),
    ...withoutAbsent({
      max_output_tokens: maxTokens,
      temperature: thinks ? undefined : request.temperature,
      top_p: thinks ? undefined : request.topP,
      top_logprobs: logprobs ? request.topLogprobs : undefined,
      tools: tools.length > 0 ? tools : undefined,
      tool_choice: tools.length > 0 && request.toolChoice ? toChoice(request.toolChoice, request.tools) : undefined,
      parallel_tool_calls: tools.length > 0 ? request.parallelToolCalls : undefined,
      text: textField(request),
      reasoning: reasoningField(request, { model, effort }, { withoutSummary: call.withoutSummary === true, losses }),
      user: request.user,
      service_tier: request.serviceTier,
      stream: call.stream ? true : undefined,
    }),
  })
  const searches =
    request.extra.dialect !== 'openai-responses' && request.tools.some((tool) => tool.type === 'web-search')
  const include = [
    ...(thinks ? ['reasoning.encrypted_content'] : []),
    ...(logprobs ? ['message.output_text.logprobs'] : []),
    // Callers of other forms are sent what a search found.
    ...(searches ? ['web_search_call.action.sources'] : []),
  ]
  if (body['include'] === undefined && include.length > 0) body['include'] = include
  return { body, losses: [...losses] }
}
