import { maskError } from '#core/masking/mask-error.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import { mapStatus } from '#core/routing/status-mapping.ts'
import { overflowIn } from '#relay/chat/context-overflow.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { CallerError } from '#relay/dialects/types.ts'
import { maskFailure } from '#relay/providers/shared/mask-failure.ts'
import type { ChannelRow } from '#relay/routing/channel-table.ts'
import { UpstreamRefusal } from '#relay/providers/types.ts'
import type { Attempt, RelayServices } from '#relay/request/call.ts'
import { asAttemptFailure, AttemptFailed, busyWords, callerError, isUnexpected, maskedFailure } from './failure.ts'
import { attemptSecrets } from './upstream-channel.ts'

/** What an upstream said, where callers may not read it: its status, and of a busy one that it is. */
function hiddenFailure({ status, type, code, message }: UpstreamFailure): UpstreamFailure {
  const original = { type, code, message }
  // By this code clients know in the middle of a stream, where no status says so, that they may come back.
  if (status === 429) return { status, type: 'upstream_error', code: 'rate_limit_exceeded', ...busyWords(), original }
  return {
    status,
    type: 'upstream_error',
    code: 'bad_response_status_code',
    param: String(status),
    message: `upstream returned status ${status}`,
    original,
  }
}

/** The upstream's words hidden where an operator wants that. */
export const shownFailure = (services: RelayServices, failure: UpstreamFailure): UpstreamFailure =>
  hidesFailures(services) ? hiddenFailure(failure) : failure

/** The same, then the channel's own status mapping. */
export function shapeFailure(services: RelayServices, channel: ChannelRow, failure: UpstreamFailure): UpstreamFailure {
  const hidden = shownFailure(services, failure)
  const overflow = overflowIn(failure)
  if (overflow) return { ...hidden, overflow, status: mapStatus(channel.statusCodeMapping, 400) }
  const status = mapStatus(channel.statusCodeMapping, hidden.status)
  if (hidden === failure && status === failure.status) return failure
  return { ...hidden, status, received: { status: failure.status, param: failure.param } }
}

/** Whether a name of an event or a state may stay where an upstream's words are hidden: nothing but a name looks so. */
export const isPlainName = (name: string): boolean => /^[a-z]+([._][a-z]+){0,5}$/.test(name)

/** Of whom it was asked, and who reads it. */
type Shown = {
  place: Pick<Attempt, 'channel' | 'key'>
  token?: string | undefined
  reader: Parameters<typeof callerError>[1]
}

/** An upstream's failure as its caller reads it: shaped, and without the secrets of its channel. */
export const shownError = (
  services: RelayServices,
  { place, token, reader }: Shown,
  failure: UpstreamFailure,
): CallerError =>
  callerError(maskFailure(shapeFailure(services, place.channel, failure), attemptSecrets(place, { token })), reader)

/** Where it was asked, and with which token in place of the key. */
type AskedAt = { place: Pick<Attempt, 'channel' | 'key'>; token?: string | undefined }

/**
 * Whatever went wrong between us and an answer, as a failed attempt without the secrets of its channel. What an upstream refuses
 * in a 2xx answer, or at a login, is shaped as what it refuses by a status.
 * @throws what nobody foresaw, which is a line in the server log: without them too.
 */
export function attemptFailureAt(services: RelayServices, { place, token }: AskedAt, error: unknown): AttemptFailed {
  const secrets = attemptSecrets(place, { token })
  try {
    const failed = asAttemptFailure(error)
    if (!(error instanceof UpstreamRefusal)) return maskedFailure(failed, secrets)
    const shaped = shapeFailure(services, place.channel, failed.failure)
    return maskedFailure(new AttemptFailed(shaped, { ...failed, cause: error }), secrets)
  } catch (thrown) {
    if (isUnexpected(thrown)) maskError(thrown, secrets)
    throw thrown
  }
}
