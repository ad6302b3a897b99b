import { lowerLimits, setsLimits } from '#core/param-override.ts'
import type { UpstreamRequest } from '#relay/providers/types.ts'
import { rewriteBody } from '#relay/providers/shared/rewrite-body.ts'
import type { ChannelRow } from '#relay/routing/channel-table.ts'
import type { Call, CallBody } from '#relay/request/call.ts'
import type { ChannelRequest } from '#relay/attempt/channel-body.ts'
import { bodyObject } from '#relay/upstream-call/param-override.ts'

/** Reports to a caller which output limit its answer was given instead of its own. */
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
    body: rewritten(sent.body, call.dialect.withOutputLimit(sent.body.json, limit)),
  }
}

function rewritten(body: CallBody, json: Json): CallBody {
  const made = rewriteBody(body, json)
  return { json, bytes: made instanceof Uint8Array ? Buffer.from(made) : Buffer.from(JSON.stringify(made)) }
}

/** A channel's own limit is set after the caller's, and may not be above what is paid for either. */
export function withinLimit(request: UpstreamRequest, channel: ChannelRow, limit: number | undefined): UpstreamRequest {
  if (limit === undefined || channel.paramOverride === null || !setsLimits(channel.paramOverride)) return request
  const body = bodyObject(request.body)
  return body ? { ...request, body: lowerLimits(body, limit) } : request
}
