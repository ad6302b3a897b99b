import type { Attempt, CallCore, RelayServices } from '#relay/request/call.ts'
import type { ProviderCall, UpstreamRequest } from '#relay/providers/types.ts'
import { retryAfterMs } from '#relay/transport/retry-after.ts'
import type { UpstreamReply } from '#relay/transport/send.ts'
import { plainAddress } from '#relay/transport/transport-error.ts'
import { type FailingReply, isGood, sendToUpstream, upstreamFailure } from '#relay/upstream-call/send.ts'
import { timeoutsOf } from '#relay/upstream-call/timeouts.ts'
import { AttemptFailed, isUnsent } from './failure.ts'
import { shapeFailure } from './shape-failure.ts'
import { attemptSecrets, upstreamChannelOf } from './upstream-channel.ts'

type Sender = {
  services: RelayServices
  call: CallCore
  attempt: Attempt
  providerCall: ProviderCall
  /** Set here: the request went upstream, so that something may have to be paid. */
  asked: boolean
  /** Set here: something came back. */
  answered: boolean
}

/** Sends a request of an attempt and gives the reply that is an answer. @throws {AttemptFailed} for any other. */
export async function sendRequest(
  sender: Sender,
  request: UpstreamRequest,
  kind: 'stream' | 'unstreamed',
): Promise<UpstreamReply> {
  const { services, call, attempt } = sender
  const limits = timeoutsOf(attempt.channel.setting, kind)
  const { asked } = sender
  sender.asked = true
  const sending = { request: withTraceParent(services, call, request), limits, signal: call.upstreamAbort.signal }
  const reply = await sendToUpstream(services, upstreamChannelOf(attempt), sending).catch((error: unknown) => {
    // What was asked before this stays asked: a task is being worked on while one looks at it.
    if (isUnsent(error)) sender.asked = asked
    throw error
  })
  sender.answered = true
  if (isGood(reply)) return reply
  throw await failedReply(services, { ...sender, address: plainAddress(request.url) }, reply)
}

/** Where it is configured, the upstream's own spans hang on that of the attempt. */
export const withTraceParent = <Sent extends { headers: Record<string, string> }>(
  { tracing }: RelayServices,
  { id }: CallCore,
  request: Sent,
): Sent => (tracing ? { ...request, headers: { ...request.headers, ...tracing.upstreamHeaders(id) } } : request)

type Refusing = {
  attempt: Pick<Attempt, 'channel' | 'key'>
  providerCall: Pick<ProviderCall, 'token'>
  address?: string
}

/** A reply that is no answer, as a failed attempt, with how long the upstream asks to wait. */
export async function failedReply(
  services: RelayServices,
  { attempt, providerCall, address = '' }: Refusing,
  reply: FailingReply,
): Promise<AttemptFailed> {
  const failure = await upstreamFailure(reply, attemptSecrets(attempt, providerCall))
  const asked = retryAfterMs(reply.headers, services.ambient.now().getTime())
  const vendorDelayMs = failure.retryAfterSeconds === undefined ? null : failure.retryAfterSeconds * 1000
  return new AttemptFailed(shapeFailure(services, attempt.channel, failure), {
    local: false,
    retryAfterMs: asked ?? vendorDelayMs,
    address,
  })
}
