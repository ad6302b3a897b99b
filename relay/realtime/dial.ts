import type { WebSocket } from 'ws'
import { DomainError } from '#core/errors.ts'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import { asAttemptFailure } from '#relay/response/answer.ts'
import type { CallCore, RelayServices } from '#relay/request/call.ts'
import { AttemptFailed, failureOfDomainError } from '#relay/attempt/failure.ts'
import { withToken } from '#relay/attempt/key-exchange.ts'
import { toProviderCall } from '#relay/attempt/provider-call.ts'
import { shapeFailure } from '#relay/attempt/shape-failure.ts'
import { timeoutsOf } from '#relay/attempt/timeouts.ts'
import { providerFor } from '#relay/providers/registry.ts'
import type { Provider, RealtimeCaller, RealtimeTranslation } from '#relay/providers/types.ts'
import { SocketRefused } from '#relay/transport/open-socket.ts'
import { retryAfterMs } from '#relay/transport/retry-after.ts'
import { largestFrame } from './accept.ts'
import { attemptSecrets } from '#relay/attempt/attempt-secrets.ts'
import { maskFailure } from '#relay/providers/shared/mask-failure.ts'
import type { ChannelSecrets } from '#core/masking/secret-parts.ts'
import { proxyOf } from '#relay/attempt/channel-proxy.ts'

/** How the caller came: browsers cannot send headers, so they offer sub-protocols. */
function readCaller({ req }: CallCore): RealtimeCaller {
  const offered = (req.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())
  const beta = offered.includes('openai-beta.realtime-v1') || (req.get('openai-beta') ?? '').includes('realtime=v1')
  return { byProtocols: offered.some((name) => name !== ''), beta }
}

export type Dialled = { socket: WebSocket; translation: RealtimeTranslation }

/** Opens the upstream's end of a session, paused. @throws {AttemptFailed} when another channel may be tried. */
export async function dial(services: RelayServices, call: CallCore, { attempt }: AttemptPlan): Promise<Dialled> {
  const { channel } = attempt
  const provider = providerFor(channel.type)
  const translation = provider.realtime
  if (!translation) {
    const refusal = failureOfDomainError(new DomainError('relay.operation_unsupported'))
    throw new AttemptFailed(refusal, { local: true, elsewhere: true })
  }
  let providerCall = toProviderCall(services, call, { attempt, stream: true })
  try {
    providerCall = await withToken(services, channel, providerCall)
    const socket = await services.transport.openSocket({
      ...translation.request(providerCall, readCaller(call)),
      proxy: proxyOf(channel.setting),
      signal: call.upstreamAbort.signal,
      connectTimeoutMs: timeoutsOf(channel.setting, true).connectTimeoutMs,
      largestFrame,
    })
    return { socket, translation }
  } catch (error) {
    if (call.upstreamAbort.signal.aborted) throw new DomainError('relay.stopping', {}, { cause: error })
    const failed = error instanceof SocketRefused ? asRefused(services, error, { provider, call, attempt }) : error
    throw withoutSecrets(asAttemptFailure(failed), attemptSecrets(attempt, providerCall))
  }
}

type Asked = { provider: Provider; call: CallCore; attempt: AttemptPlan['attempt'] }

function asRefused(services: RelayServices, { status, headers, body }: SocketRefused, { provider, attempt }: Asked) {
  // A page or a redirect instead of a socket is no more a socket than an error.
  const failure = provider.error(status < 400 ? 502 : status, body)
  return new AttemptFailed(shapeFailure(services, attempt.channel, failure), {
    local: false,
    retryAfterMs: retryAfterMs(headers, services.ambient.now().getTime()) ?? null,
  })
}

const withoutSecrets = (failed: AttemptFailed, secrets: ChannelSecrets): AttemptFailed =>
  new AttemptFailed(maskFailure(failed.failure, secrets), {
    local: failed.local,
    elsewhere: failed.elsewhere,
    connection: failed.connection,
    retryAfterMs: failed.retryAfterMs,
    cause: failed.cause,
  })
