import type { UpstreamRequest } from '#relay/providers/types.ts'
import type { ChannelRow } from './cache/channel-table.ts'
import type { RelayServices } from './call.ts'

/** What an override may not touch: it was priced, or the answer is read by it. */
const protectedKeys = new Set(['model', 'stream', 'stream_options'])

/**
 * The channel's own say in the body: its system prompt was set before, its `param_override` is set last. A value of null
 * removes the key. Bytes that need no change stay the bytes that came.
 */
export function overridden(services: RelayServices, channel: ChannelRow, request: UpstreamRequest): UpstreamRequest {
  const override = channel.paramOverride
  if (override === null || passesThrough(channel.setting, services)) return request
  const keys = Object.keys(override).filter((key) => !protectedKeys.has(key) && key !== '__proto__')
  if (keys.length === 0) return request
  const body = asObject(request.body)
  if (!body) return request
  for (const key of keys) {
    if (override[key] === null) delete body[key]
    else body[key] = override[key]
  }
  return { ...request, body }
}

export const passesThrough = (setting: Record<string, unknown>, services: RelayServices): boolean =>
  setting['pass_through_body_enabled'] === true || services.options.get('global.pass_through_request_enabled')

function asObject(body: unknown): Record<string, unknown> | null {
  const value: unknown =
    typeof body === 'string' || body instanceof Uint8Array ? JSON.parse(Buffer.from(body).toString('utf8')) : body
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
}
