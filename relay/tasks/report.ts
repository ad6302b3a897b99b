import { isDatabaseUnavailable } from '#core/database-errors.ts'
import { DomainError } from '#core/errors.ts'
import { submitCode } from '#core/tasks/drawing.ts'
import { UnknownAction } from '#relay/dialects/drawing/actions.ts'
import { drawingError, type DrawingError } from '#relay/dialects/drawing/error.ts'
import { callerMessage } from '#relay/dialects/error-text.ts'
import { musicError } from '#relay/dialects/music/error.ts'
import type { Incoming, RelayServices } from '#relay/request/call.ts'
import { AttemptFailed, callerError, failureOf, finalFailure, isUnexpected } from '#relay/attempt/failure.ts'
import { retryAfterOf, setRetryAfter } from '#relay/request/rate-limited.ts'

/** What the ledger says of a caller who cannot pay, for which tasks have one error code of their own. */
const quotaRefusals = new Set([
  'relay.user_quota_empty',
  'relay.user_quota_insufficient',
  'relay.token_quota_insufficient',
])

const cannotPay = (error: unknown): boolean => error instanceof DomainError && quotaRefusals.has(error.code)

/** Refusals of a drawing service that are not the caller's mistake. */
const failedCodes = new Set([
  'drawing.request_failed',
  'drawing.reply_unreadable',
  'drawing.reply_empty',
  'drawing.reply_malformed',
])

export function reportDrawing(services: RelayServices, incoming: Incoming, error: unknown): void {
  const shownError = cannotPay(error) ? new DomainError('drawing.quota_not_enough') : error
  send(services, incoming, { error: shownError, ...drawingError(drawingErrorOf(shownError, incoming)) })
}

function drawingErrorOf(error: unknown, incoming: Incoming): DrawingError {
  const shownError = callerError(failureOf(error), incoming)
  const { status, code, message } = shownError
  if (error instanceof AttemptFailed) {
    return { status, description: message, code: typeof code === 'number' ? code : submitCode.failed }
  }
  if (error instanceof DomainError && error.code.startsWith('drawing.')) {
    const code = failedCodes.has(error.code) ? submitCode.failed : submitCode.badRequest
    return { status: error.status ?? 400, description: message, code }
  }
  const common = { message: callerMessage(shownError), code }
  if (error instanceof DomainError && error.code === 'relay.body_invalid') {
    const word = error.cause instanceof UnknownAction ? error.cause.word : 'bind_request_body_failed'
    return { status, description: word, common }
  }
  if (error instanceof DomainError && error.code === 'relay.sensitive_words') {
    return { status, description: String(code), result: message, code: submitCode.sensitive, common }
  }
  return { status, description: common.message, common }
}

export function reportMusic(services: RelayServices, incoming: Incoming, error: unknown): void {
  const shownError = cannotPay(error)
    ? new DomainError('music.quota_not_enough')
    : error instanceof DomainError && error.code === 'relay.unavailable' && isDatabaseUnavailable(error.cause)
      ? new DomainError('music.quota_unreadable', {}, { cause: error })
      : error
  const failure = callerError(finalFailure(shownError), incoming)
  const isOwn =
    shownError instanceof AttemptFailed || (shownError instanceof DomainError && shownError.code.startsWith('music.'))
  const message = isOwn ? failure.message : callerMessage(failure)
  const code = String(failure.code ?? (shownError instanceof DomainError ? shownError.kind : 'internal'))
  send(services, incoming, {
    error: shownError,
    ...musicError({ status: failure.status, code, message, isCommon: !isOwn }),
  })
}

function send(
  services: RelayServices,
  { res, id, callerAborted }: Incoming,
  { error, status, body }: { error: unknown; status: number; body: unknown },
): void {
  if (isUnexpected(error)) services.reportUnexpected(error, id)
  if (callerAborted.signal.aborted || res.writableEnded) return
  const retryAfter = retryAfterOf(error)
  if (retryAfter !== null) setRetryAfter(res, retryAfter)
  else if (isPassing(error)) res.setHeader('retry-after', '5')
  res.status(status).json(body)
}

const isPassing = (error: unknown): boolean =>
  isDatabaseUnavailable(error) ||
  (error instanceof DomainError && error.kind === 'unavailable' && error.code !== 'relay.no_channel')
