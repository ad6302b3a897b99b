import { parseExactly } from '#core/exact-json.ts'
import { withOverride } from '#core/param-override.ts'
import { uncountedSearches } from '#relay/chat/hosted/uncounted-search.ts'
import type { Provider, ProviderCall, UpstreamRequest } from '#relay/providers/types.ts'

type Json = Record<string, unknown>

/**
 * The channel's own say in the body, after everything else: a value of null removes the key. What the upstream refuses
 * whoever asks for it is taken out again. Bytes that need no change stay the bytes that came.
 */
export function withParamOverride(
  request: UpstreamRequest,
  { provider, call, override }: { provider: Provider; call: ProviderCall; override: Json | null },
): UpstreamRequest {
  if (override === null) return request
  if (Object.keys(withOverride({}, override)).length === 0 && !Object.values(override).includes(null)) return request
  const given = bodyObject(request.body)
  if (!given) return request
  const body = withOverride(given, override)
  const headers = provider.afterOverride?.(body, call)
  // A search that the channel takes out of the call is not charged.
  const searches = Math.min(request.searches ?? 0, uncountedSearches(body))
  return { ...request, body, searches, ...(headers ? { headers: { ...request.headers, ...headers } } : {}) }
}

/** A body as the object it is; null for one that is none. */
export function bodyObject(body: unknown): Json | null {
  const value: unknown =
    typeof body === 'string' || body instanceof Uint8Array ? parseExactly(Buffer.from(body).toString('utf8')) : body
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
}
