import { lowerLimits, setsLimits } from '#core/param-override.ts'
import type { UpstreamRequest } from '#relay/providers/types.ts'
import { rewriteBody } from '#relay/providers/shared/rewrite-body.ts'
import { isObject } from '#relay/chat/json.ts'
import type { ChannelRow } from '#relay/routing/channel-table.ts'
import type { Call, CallBody } from '#relay/request/call.ts'
import type { ChannelRequest } from '#relay/attempt/channel-body.ts'
import { bodyObject } from '#relay/attempt/sent-body.ts'

/** Tells a caller which output limit its answer was given instead of its own. */
export const loweredHeader = 'x-max-tokens-lowered'

type Json = Record<string, unknown>

/** The request with another output limit, in the caller's own words; nothing else of the body changes. */
export function withLoweredLimit(call: Call, sent: ChannelRequest, limit: number): ChannelRequest {
  const { reasoning } = sent.request
  const budget = reasoning?.budgetTokens
  const thinks = budget !== undefined && budget > limit / 2
  return {
    ...sent,
    request: {
      ...sent.request,
      maxTokens: limit,
      ...(thinks ? { reasoning: { ...reasoning, budgetTokens: Math.floor(limit / 2) } } : {}),
    },
    body: rewritten(sent.body, withLimit(call, sent.body.json, limit)),
  }
}

function rewritten(body: CallBody, json: Json): CallBody {
  const made = rewriteBody(body, json)
  return { json, bytes: made instanceof Uint8Array ? Buffer.from(made) : Buffer.from(JSON.stringify(made)) }
}

function withLimit({ dialect }: Call, json: Json, limit: number): Json {
  switch (dialect.id) {
    case 'openai-responses':
      return { ...json, max_output_tokens: limit }
    case 'gemini': {
      const name = isObject(json['generation_config']) ? 'generation_config' : 'generationConfig'
      const { max_output_tokens: _, ...config } = isObject(json[name]) ? json[name] : {}
      return { ...json, [name]: { ...config, maxOutputTokens: limit } }
    }
    case 'claude': {
      const { thinking } = json
      const budget = isObject(thinking) ? thinking['budget_tokens'] : undefined
      const isBeyond = isObject(thinking) && typeof budget === 'number' && budget > limit / 2
      return {
        ...json,
        max_tokens: limit,
        ...(isBeyond ? { thinking: { ...thinking, budget_tokens: Math.floor(limit / 2) } } : {}),
      }
    }
    case 'openai-chat': {
      if (typeof json['max_completion_tokens'] !== 'number') return { ...json, max_tokens: limit }
      const both = typeof json['max_tokens'] === 'number' ? { max_tokens: limit } : {}
      return { ...json, max_completion_tokens: limit, ...both }
    }
    default:
      return { ...json, max_tokens: limit }
  }
}

/** A channel's own limit is set after the caller's, and may not be above what is paid for either. */
export function withinLimit(request: UpstreamRequest, channel: ChannelRow, limit: number | undefined): UpstreamRequest {
  if (limit === undefined || channel.paramOverride === null || !setsLimits(channel.paramOverride)) return request
  const body = bodyObject(request.body)
  return body ? { ...request, body: lowerLimits(body, limit) } : request
}
