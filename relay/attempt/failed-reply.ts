import type { Attempt, RelayServices } from '#relay/request/call.ts'
import type { ProviderCall } from '#relay/providers/types.ts'
import { retryAfterMs } from '#relay/transport/retry-after.ts'
import { type FailingReply, upstreamFailure } from '#relay/upstream-call/send.ts'
import { AttemptFailed } from './failure.ts'
import { shapeFailure } from './shape-failure.ts'
import { attemptSecrets } from './upstream-channel.ts'

/** A reply that is no answer, as a failed attempt, with how long the upstream asks to wait. */
export async function failedReply(
  services: RelayServices,
  { attempt, providerCall }: { attempt: Attempt; providerCall: ProviderCall },
  reply: FailingReply,
): Promise<AttemptFailed> {
  const failure = await upstreamFailure(reply, attemptSecrets(attempt, providerCall))
  const asked = retryAfterMs(reply.headers, services.ambient.now().getTime())
  const vendorDelayMs = failure.retryAfterSeconds === undefined ? null : failure.retryAfterSeconds * 1000
  return new AttemptFailed(shapeFailure(services, attempt.channel, failure), {
    local: false,
    retryAfterMs: asked ?? vendorDelayMs,
  })
}
