import { providerFor } from '#relay/providers/registry.ts'
import type { KeyExchange, ProviderCall } from '#relay/providers/types.ts'
import { TransportError } from '#relay/transport/transport-error.ts'
import type { ChannelRow } from '#relay/routing/channel-table.ts'
import type { Attempt, RelayServices } from '#relay/request/call.ts'
import { proxyOf } from './channel-proxy.ts'
import { AttemptFailed } from './failure.ts'

/** A token is renewed a little before its time. */
const earlyMs = 60_000
const mostTokens = 10_000
const largestAnswer = 1024 * 1024

type Kept = { until: number; token: Promise<string> }
const kept = new Map<string, Kept>()

/** The kept token that a try went out with; a token that the try itself asked for is not in here. */
const reused = new WeakMap<Attempt, Kept>()

/**
 * The call with the token that its channel's key stands for, where the provider wants one. Asked for once, also by calls
 * that come at the same time.
 * @throws {AttemptFailed} when the key is refused; {TransportError}.
 */
export async function withToken(
  services: RelayServices,
  channel: ChannelRow,
  call: ProviderCall,
): Promise<ProviderCall> {
  const found = tokenFor(services, channel, call)
  return found ? { ...call, token: await found.entry.token } : call
}

/** The same for a try, which may find that its token has been withdrawn before its time. */
export async function withTokenOf(
  services: RelayServices,
  attempt: Attempt,
  call: ProviderCall,
): Promise<ProviderCall> {
  const found = tokenFor(services, attempt.channel, call)
  reused.delete(attempt)
  if (!found) return call
  if (!found.isNew) reused.set(attempt, found.entry)
  return { ...call, token: await found.entry.token }
}

/** The upstream refused a token that was kept from earlier: it is asked for anew, and the try deserves to be made again. */
export function dropRefusedToken(attempt: Attempt, error: unknown): boolean {
  const entry = reused.get(attempt)
  if (!entry || !(error instanceof AttemptFailed) || error.failure.status !== 401) return false
  entry.until = 0
  return true
}

function tokenFor(
  services: RelayServices,
  channel: ChannelRow,
  call: ProviderCall,
): { entry: Kept; isNew: boolean } | undefined {
  const exchange = providerFor(channel.type).exchange?.(call.channel, call.ambient)
  if (!exchange) return undefined
  const now = services.ambient.now().getTime()
  const known = kept.get(exchange.cacheKey)
  if (known && known.until > now) return { entry: known, isNew: false }
  if (kept.size > mostTokens) kept.clear()
  const entry: Kept = { until: now + earlyMs, token: perform(services, channel, exchange).then(keepFor) }
  function keepFor({ token, ttlSeconds }: { token: string; ttlSeconds: number }): string {
    entry.until = now + Math.max(ttlSeconds * 1000 - earlyMs, 1000)
    return token
  }
  kept.set(exchange.cacheKey, entry)
  entry.token.catch(() => kept.get(exchange.cacheKey) === entry && kept.delete(exchange.cacheKey))
  return { entry, isNew: true }
}

async function perform(services: RelayServices, channel: ChannelRow, { request, read }: KeyExchange) {
  const { method, url, headers, body } = request
  const sent =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const proxy = proxyOf(channel.setting)
  const reply = await services.transport.send({ method, url, headers, body: sent, proxy, firstByteTimeoutMs: 30_000 })
  const text = await reply.text(largestAnswer)
  // A refused key is the credential's fault, whatever status the vendor's login server uses for it.
  if (reply.status >= 400) {
    const failure = providerFor(channel.type).error(reply.status, text)
    const status = reply.status < 500 ? 401 : reply.status
    throw new AttemptFailed({ ...failure, status }, { local: false })
  }
  try {
    return read(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) throw new TransportError('bad-response', { cause: error, sent: true })
    throw error
  }
}
