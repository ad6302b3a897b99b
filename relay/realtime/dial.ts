import { DomainError } from '#core/errors.ts'
import type { AttemptPlan } from '#relay/attempt/attempts.ts'
import type { CallCore, RelayServices } from '#relay/request/call.ts'
import { AttemptFailed, failureOfDomainError } from '#relay/attempt/failure.ts'
import { attemptFailureAt } from '#relay/attempt/shape-failure.ts'
import { withToken } from '#relay/attempt/attempt-token.ts'
import { failedReply, withTraceParent } from '#relay/attempt/send-request.ts'
import { providerFor } from '#relay/providers/registry.ts'
import type { ProviderCall, RealtimeCaller, RealtimeTranslation } from '#relay/providers/types.ts'
import { type OpenedSocket, SocketRefused } from '#relay/transport/open-socket.ts'
import { largestFrame } from './accept.ts'
import { upstreamChannelOf, providerCallOf } from '#relay/attempt/upstream-channel.ts'
import { openUpstreamSocket } from '#relay/upstream-call/send.ts'

/** How the caller came: browsers cannot send headers, so they offer sub-protocols. */
function readCaller({ req }: CallCore): RealtimeCaller {
  const offered = (req.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())
  const beta = offered.includes('openai-beta.realtime-v1') || (req.get('openai-beta') ?? '').includes('realtime=v1')
  return { byProtocols: offered.some((name) => name !== ''), beta }
}

export type Dialled = OpenedSocket & { translation: RealtimeTranslation }

/** Opens the upstream's end of a session, paused. @throws {AttemptFailed} when another channel may be tried. */
export async function dial(services: RelayServices, call: CallCore, { attempt }: AttemptPlan): Promise<Dialled> {
  const translation = providerFor(attempt.channel.type).realtime
  if (!translation) {
    const refusal = failureOfDomainError(new DomainError('relay.operation_unsupported'))
    throw new AttemptFailed(refusal, { local: true, elsewhere: true })
  }
  let providerCall = providerCallOf(services, call, { attempt, stream: true })
  try {
    providerCall = await withToken(services, attempt, providerCall)
    const opened = await openUpstreamSocket(services, upstreamChannelOf(attempt), {
      request: withTraceParent(services, call, translation.request(providerCall, readCaller(call))),
      signal: call.upstreamAbort.signal,
      largestFrame,
    })
    return { ...opened, translation }
  } catch (error) {
    if (call.upstreamAbort.signal.aborted) throw new DomainError('relay.stopping', {}, { cause: error })
    const failed = error instanceof SocketRefused ? await asRefused(services, error, { attempt, providerCall }) : error
    throw attemptFailureAt(services, { place: attempt, token: providerCall.token }, failed)
  }
}

type Asked = { attempt: AttemptPlan['attempt']; providerCall: ProviderCall }

/** A page or a redirect instead of a socket is no more a socket than an error. */
const asRefused = (services: RelayServices, { status, headers, body }: SocketRefused, asked: Asked) =>
  failedReply(services, asked, { status: status < 400 ? 502 : status, headers, text: () => Promise.resolve(body) })
