import { DomainError, type ErrorCode } from '#core/errors.ts'
import { isDatabaseUnavailable } from '#core/database-errors.ts'
import type { Call, Incoming, RelayServices } from '#relay/request/call.ts'
import { AttemptFailed, callerError, failureOf, finalFailure, isUnexpected } from '#relay/attempt/failure.ts'
import { hidesFailures } from '#core/options/hides-failures.ts'
import { retryAfterOf, setRetryAfter } from '#relay/request/rate-limited.ts'
import { openCallerStream } from './caller-stream.ts'
import type { FailedCall } from '#relay/dialects/types.ts'
import { SettleFailed } from '#features/ledger/service.ts'

/** Reports to the caller what went wrong, in its own dialect; as an event where the stream has begun. */
export function reportError(services: RelayServices, incoming: Incoming | Call, error: unknown): void {
  const { res, dialect, id, callerAborted } = incoming
  if (isUnexpected(error)) services.reportUnexpected(error, id)
  if (callerAborted.signal.aborted || res.writableEnded) return
  const mayShow = dialect.refusals.upstreamBusy === null && !hidesFailures(services)
  const failure = mayShow ? failureOf(error) : finalFailure(error)
  const shownError = callerError(failure, incoming)
  if (res.headersSent) {
    if (error instanceof AttemptFailed && error.closing !== undefined) {
      res.end(error.closing)
      return
    }
    // Audio has no room for an error: whoever was sent a part of it must not take it for the whole.
    if (String(res.getHeader('content-type')).startsWith('text/event-stream'))
      res.end(dialect.streamError(shownError, failedCall(services, incoming)))
    else res.destroy()
    return
  }
  if (
    failure.overflow &&
    'request' in incoming &&
    incoming.stream &&
    dialect.readsOverflowInStream?.(incoming.req.headers)
  ) {
    const contentType = dialect.streamContentType({ asJsonArray: incoming.asJsonArray })
    const text = dialect.streamError(shownError, failedCall(services, incoming))
    void openCallerStream(incoming, { contentType, losses: [] }).end(text)
    return
  }
  const { status, body } = dialect.error(shownError)
  const retryAfter = retryAfterOf(error)
  if (retryAfter !== null) setRetryAfter(res, retryAfter)
  else if (isPassing(error)) res.setHeader('retry-after', '5')
  else if (error instanceof AttemptFailed && error.retryAfterMs !== null)
    setRetryAfter(res, Math.ceil(error.retryAfterMs / 1000))
  // Official clients retry by themselves, in vain what was refused for good.
  if (retryAfter === null && !isPassing(error) && !mayPassUpstream(error)) res.setHeader('x-should-retry', 'false')
  res.status(status).json(body)
}

/** What is known of a call: before it was admitted, nothing. */
const failedCall = ({ ambient }: RelayServices, incoming: Incoming | Call): FailedCall =>
  'request' in incoming
    ? { ambient, model: incoming.request.model, callerBody: incoming.earlier?.asked ?? incoming.body.json }
    : { ambient }

/** An upstream that is busy or unavailable now may answer in a moment. */
function mayPassUpstream(error: unknown): boolean {
  if (!(error instanceof AttemptFailed) || error.local) return false
  const { status } = error.failure
  return status === 408 || status === 409 || status === 429 || status >= 500
}

/** Nobody was there any more to answer. */
const isCallerAborted = 499

/** The status that a call ends with: of its answer, or of the error that takes its place, also where that goes out as an event of a stream. */
export function statusSent({ res }: Incoming, error?: unknown): number {
  if (res.headersSent) return res.statusCode
  return error === undefined ? isCallerAborted : failureOf(error).status
}

const passing = new Set<ErrorCode>(['relay.unavailable', 'relay.stopping', 'input.no_room', 'input.address_full'])

/** What is soon over: no database, going down, no memory, an answer that could not be booked. A model without a channel is not. */
function isPassing(error: unknown): boolean {
  if (error instanceof AttemptFailed) return error.cause instanceof SettleFailed
  if (isDatabaseUnavailable(error)) return true
  return error instanceof DomainError && passing.has(error.code)
}
