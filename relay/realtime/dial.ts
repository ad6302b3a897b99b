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

const offeredBy = ({ req }: Pick<CallCore, 'req'>): string[] =>
  (req.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())

/** Whether the caller speaks the beta form of the events. */
export const isBetaCaller = (call: Pick<CallCore, 'req'>): boolean =>
  offeredBy(call).includes('openai-beta.realtime-v1') || (call.req.get('openai-beta') ?? '').includes('realtime=v1')

/** How the caller came: browsers cannot send headers, so they offer sub-protocols. */
const readCaller = (call: CallCore): Pick<RealtimeCaller, 'byProtocols' | 'beta'> => ({
  byProtocols: offeredBy(call).some((name) => name !== ''),
  beta: isBetaCaller(call),
})

export type Dialled = OpenedSocket & { translation: RealtimeTranslation }

/** Opens the upstream's end of a session, paused. @throws {AttemptFailed} when another channel may be tried. */
export async function dial(
  services: RelayServices,
  call: CallCore,
  { plan: { attempt }, transcribes }: { plan: AttemptPlan; transcribes: boolean },
): Promise<Dialled> {
  const translation = providerFor(attempt.channel.type).realtime
  if (!translation || (transcribes && translation.transcribes !== true)) {
    const refusal = failureOfDomainError(new DomainError('relay.operation_unsupported'))
    throw new AttemptFailed(refusal, { local: true, elsewhere: true })
  }
  let providerCall = providerCallOf(services, call, { attempt, stream: true })
  try {
    providerCall = await withToken(services, attempt, providerCall)
    const opened = await openUpstreamSocket(services, upstreamChannelOf(attempt), {
      request: withTraceParent(services, call, translation.request(providerCall, { ...readCaller(call), transcribes })),
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
