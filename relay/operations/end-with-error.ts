import { DomainError } from '#core/errors.ts'
import { callerError, failureOf } from '#relay/attempt/failure.ts'
import { attemptFailureAt } from '#relay/attempt/shape-failure.ts'
import type { Try } from './send.ts'
import type { TrailingBuffer } from './trailing-buffer.ts'

/** The caller must not take a cut event stream for a whole one, and learns why it is none. */
export function endWithError(current: Try, trailing: TrailingBuffer, cause: unknown): void {
  const { services, call, attempt, providerCall } = current
  const shown = call.upstreamAbort.signal.aborted
    ? new DomainError('relay.stopping')
    : attemptFailureAt(services, { place: attempt, token: providerCall.token }, cause)
  call.res.write(trailing.completeRest())
  call.res.end(call.dialect.streamError(callerError(failureOf(shown), call), { ambient: services.ambient }))
}
