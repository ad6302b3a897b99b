import { maskFailure } from '#relay/providers/shared/mask-failure.ts'
import { providerFor } from '#relay/providers/registry.ts'
import { type KeyExchange, UpstreamRefusal, type UpstreamRequest } from '#relay/providers/types.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import { TransportError } from '#relay/transport/transport-error.ts'
import { secretsOf, type UpstreamChannel, type UpstreamDeps } from './channel.ts'
import { isGood, type Sending, sendToUpstream, upstreamFailure } from './send.ts'
import { endsWithin, timeoutsOf } from './timeouts.ts'

/** A token is renewed a little before its time. */
const earlyMs = 60_000
const mostTokens = 10_000
const largestAnswer = 1024 * 1024
const loginTimeoutMs = 30_000

type CachedToken = { until: number; token: Promise<string> }
const cache = new Map<string, CachedToken>()

type Deps = Pick<UpstreamDeps, 'transport' | 'ambient'>

export type ExchangedToken = {
  value: string
  /** The upstream refused it. True when it was cached earlier: it is asked for anew, and the call deserves to be made again. */
  refused: () => boolean
}

/**
 * The token that a channel's key stands for, where its provider wants one. Asked for once, also by calls that come at the
 * same time, and kept for its time.
 * @throws {UpstreamRefusal} when the key is refused, without its secrets; {TransportError}.
 */
export async function tokenFor(
  deps: Deps,
  channel: UpstreamChannel,
  signal?: AbortSignal,
): Promise<ExchangedToken | undefined> {
  const exchange = providerFor(channel.type).exchange?.(channel, deps.ambient)
  if (!exchange) return undefined
  const now = deps.ambient.now().getTime()
  const known = cache.get(exchange.cacheKey)
  const reused = known && known.until > now ? known : undefined
  const entry = reused ?? ask(deps, channel, { exchange, now })
  const value = await (signal ? unlessAborted(entry.token, signal) : entry.token)
  const refused = (): boolean => {
    if (!reused) return false
    reused.until = 0
    return true
  }
  return { value, refused }
}

function ask(
  deps: Deps,
  channel: UpstreamChannel,
  { exchange, now }: { exchange: KeyExchange; now: number },
): CachedToken {
  if (cache.size > mostTokens) cache.clear()
  const entry: CachedToken = { until: now + earlyMs, token: logIn(deps, channel, exchange).then(keepFor) }
  function keepFor({ token, ttlSeconds }: { token: string; ttlSeconds: number }): string {
    entry.until = now + Math.max(ttlSeconds * 1000 - earlyMs, 1000)
    return token
  }
  cache.set(exchange.cacheKey, entry)
  entry.token.catch(() => cache.get(exchange.cacheKey) === entry && cache.delete(exchange.cacheKey))
  return entry
}

/** A login serves others too, so who leaves does not stop it. */
function unlessAborted<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(new TransportError('aborted', { cause: signal.reason }))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  return Promise.race([result, promise]).finally(() => signal.removeEventListener('abort', onAbort))
}

/** A refused key is the credential's fault, whatever status the vendor's login server uses for it; one that is busy refuses no key. */
const saysNothingOfKey = (status: number): boolean => status >= 500 || status === 408 || status === 429

async function logIn(deps: Deps, channel: UpstreamChannel, { request, read }: KeyExchange) {
  const { connectTimeoutMs } = timeoutsOf(channel.setting, 'probe')
  const limits = { ...endsWithin(loginTimeoutMs), connectTimeoutMs }
  const reply = await sendToUpstream(deps, channel, { request: request(), limits })
  if (!isGood(reply)) {
    const failure = await upstreamFailure(reply, secretsOf(channel))
    throw new UpstreamRefusal({ ...failure, status: saysNothingOfKey(reply.status) ? reply.status : 401 })
  }
  try {
    return read(await reply.json(largestAnswer))
  } catch (error) {
    if (error instanceof UpstreamRefusal) throw new UpstreamRefusal(maskFailure(error.failure, secretsOf(channel)))
    throw error
  }
}

/**
 * Sends what `build` makes of the token that the channel's key stands for; once more where a kept one has been withdrawn
 * before its time.
 * @throws {UpstreamRefusal} when the key is refused, without its secrets; {TransportError}.
 */
export async function sendWithToken(
  deps: Deps,
  channel: UpstreamChannel,
  { build, ...sending }: Sending & { build: (token: string | undefined) => UpstreamRequest },
): Promise<{ reply: UpstreamReply; token: string | undefined }> {
  const once = async () => {
    const token = await tokenFor(deps, channel, sending.signal)
    return { token, reply: await sendToUpstream(deps, channel, { ...sending, request: build(token?.value) }) }
  }
  let { token, reply } = await once()
  if (reply.status === 401 && token?.refused()) {
    reply.cancel()
    ;({ token, reply } = await once())
  }
  return { reply, token: token?.value }
}
