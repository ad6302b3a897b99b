import { type ReportedUsage, normaliseUsage, totalTokens } from '#core/usage.ts'
import type { Citation, FinishReason } from '#relay/chat/events.ts'
import { isObject } from '#relay/chat/json.ts'
import { answerId, unixSeconds } from '../answer-id.ts'
import type { EncodeContext } from '../types.ts'

/** What a response repeats of its request, with the value it has when the caller gave none. */
const repeated = {
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  user: null,
}

const webSearch = { search_context_size: 'medium', user_location: null }

const unknownPlace = { type: 'approximate', city: null, country: null, region: null, timezone: null }

/** What a tool has where the caller left it out: clients with strict types read these of every answer. */
const toolDefaults: Readonly<Record<string, object>> = {
  function: { description: null, parameters: {}, strict: false },
  web_search: webSearch,
  web_search_preview: webSearch,
}

/** What opens a remote server is not repeated: answers are stored, logged and passed on. */
function toRepeatedTool(tool: unknown): unknown {
  if (!isObject(tool)) return tool
  const { type } = tool
  if (type === 'mcp') {
    const { authorization: _, headers: __, ...rest } = tool
    return rest
  }
  const place = tool['user_location']
  return {
    ...(typeof type === 'string' && Object.hasOwn(toolDefaults, type) ? toolDefaults[type] : {}),
    ...tool,
    ...(isObject(place) ? { user_location: { ...unknownPlace, ...place } } : {}),
  }
}

function repeat(name: string, asked: unknown, usual: unknown): unknown {
  const value = asked ?? usual
  if (name === 'tools' && Array.isArray(value)) return value.map(toRepeatedTool)
  return isObject(value) && isObject(usual) ? { ...usual, ...value } : value
}

/** The part of a response that stays the same from its first event to its last. */
export function responseHead(id: string, context: EncodeContext) {
  const body = context.callerBody ?? {}
  const echo = Object.entries(repeated).map(([name, usual]) => [name, repeat(name, body[name], usual)] as const)
  return {
    // What is kept is found by its id, which upstreams may give twice.
    id: answerId(context.keeps === true ? '' : id, 'resp_', context.ambient),
    object: 'response',
    created_at: unixSeconds(context.ambient),
    model: context.model,
    ...Object.fromEntries(echo),
    store: context.keeps === true,
    ...conversationOf(body),
  }
}

/** The conversation that the call named, as answers name it. */
function conversationOf({ conversation }: Readonly<Record<string, unknown>>) {
  if (conversation === undefined || conversation === null) return {}
  return { conversation: typeof conversation === 'string' ? { id: conversation } : conversation }
}

export type ResponseHead = ReturnType<typeof responseHead>

type Outcome = { status: string; incomplete_details: { reason: string } | null }

const outcomes = {
  stop: { status: 'completed', incomplete_details: null },
  'tool-calls': { status: 'completed', incomplete_details: null },
  length: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  'content-filter': { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
} satisfies Record<FinishReason, Outcome>

export const outcomeOf = (reason: FinishReason): Outcome => outcomes[reason]

export function finishedResponse(
  head: ResponseHead,
  answer: { reason: FinishReason; output: object[]; usage: ReportedUsage | undefined },
  context: EncodeContext,
) {
  const { status, incomplete_details } = outcomeOf(answer.reason)
  return {
    ...head,
    status,
    completed_at: status === 'completed' ? unixSeconds(context.ambient) : null,
    error: null,
    incomplete_details,
    output: answer.output,
    usage: answer.usage === undefined ? null : toResponsesUsage(answer.usage),
  }
}

export function toResponsesUsage(reported: ReportedUsage) {
  const { usage } = normaliseUsage(reported)
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.cacheWriteTokens },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: totalTokens(usage),
  }
}

export const toFlatAnnotation = (citation: Citation) => ({
  type: 'url_citation',
  url: citation.url,
  title: citation.title ?? '',
  start_index: citation.startIndex ?? 0,
  end_index: citation.endIndex ?? 0,
})
