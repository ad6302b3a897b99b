import { withOverride } from '#core/param-override.ts'
import type { Provider, ProviderCall, UpstreamRequest } from '#relay/providers/types.ts'
import { rewriteBody } from '#relay/providers/shared/rewrite-body.ts'
import type { ChannelRow } from '#relay/routing/channel-table.ts'
import type { CallBody, RelayServices } from '#relay/request/call.ts'

type Target = { channel: ChannelRow; provider: Provider; call: ProviderCall }

/**
 * The channel's own say in the body: its system prompt was set before, its `param_override` is set last. A value of null
 * removes the key. What the upstream refuses whoever asks for it is taken out again. Bytes that need no change stay the
 * bytes that came.
 */
export function overridden(
  services: RelayServices,
  { channel, provider, call }: Target,
  request: UpstreamRequest,
): UpstreamRequest {
  const override = channel.paramOverride
  if (override === null || passesThrough(channel.setting, services)) return request
  if (Object.keys(withOverride({}, override)).length === 0 && !Object.values(override).includes(null)) return request
  const given = bodyObject(request.body)
  if (!given) return request
  const body = withOverride(given, override)
  const headers = provider.afterOverride?.(body, call)
  return { ...request, body, ...(headers ? { headers: { ...request.headers, ...headers } } : {}) }
}

/** The caller's body as it came, but for the name of the model where the upstream knows another. */
export const bodyAsCame = (body: CallBody, model: string): unknown =>
  typeof body.json['model'] === 'string' ? rewriteBody(body, { ...body.json, model }) : body.bytes

export const passesThrough = (setting: Record<string, unknown>, services: RelayServices): boolean =>
  setting['pass_through_body_enabled'] === true || services.options.get('global.pass_through_request_enabled')

/** A body as the object it is; null for one that is none. */
export function bodyObject(body: unknown): Record<string, unknown> | null {
  const value: unknown =
    typeof body === 'string' || body instanceof Uint8Array ? JSON.parse(Buffer.from(body).toString('utf8')) : body
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
}
