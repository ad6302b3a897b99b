import { DomainError, type Language } from '#core/errors.ts'
import { renderMessage } from '#core/render-message.ts'
import { isDatabaseUnavailable, isUnstorableText } from '#core/database-errors.ts'
import { maskSecrets } from '#core/masking/mask-secrets.ts'
import type { ChannelSecrets } from '#core/masking/secret-parts.ts'
import { maskFailure } from '#relay/providers/shared/mask-failure.ts'
import { isMemoryShort } from '#features/request-bodies/read-body.ts'
import { MalformedUpstream, type UpstreamFailure } from '#relay/chat/events.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import type { ReportedUsage } from '#core/usage.ts'
import type { CallerError } from '#relay/dialects/types.ts'
import { UpstreamRefusal } from '#relay/providers/types.ts'
import { RateLimited } from '#relay/request/rate-limited.ts'
import { describeTransportError, TransportError } from '#relay/transport/transport-error.ts'

/** Type of every error that the gateway itself makes. */
const gatewayErrorType = 'gateway_error'

const statusOfKind = {
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  invalid: 400,
  conflict: 409,
  rate_limited: 429,
  quota_exhausted: 403,
  upstream: 502,
  unavailable: 503,
  internal: 500,
} as const

type AttemptFailure = {
  local: boolean
  elsewhere?: boolean
  connection?: boolean
  mayBeTaken?: boolean
  retryAfterMs?: number | null
  usage?: ReportedUsage | undefined
  deliver?: (() => Promise<void>) | undefined
  closing?: string | undefined
  address?: string
  cause?: unknown
}

/** An attempt that did not produce an answer: what the upstream said, or what stood between us and it. */
export class AttemptFailed extends Error {
  override name = 'AttemptFailed'
  readonly failure: UpstreamFailure
  /** Ours to blame or the caller's: another channel would say the same. */
  readonly local: boolean
  /** This channel cannot take the call, and was not asked; another one may. */
  readonly elsewhere: boolean
  /** No reply came at all: refused, timed out, cut before its head. */
  readonly connection: boolean
  /** Sent, and no refusal: the upstream may work it off all the same, and a second place would do so a second time. */
  readonly mayBeTaken: boolean
  /** Milliseconds the upstream asked to wait. */
  readonly retryAfterMs: number | null
  /** What the upstream reported before it failed; the operator pays for that. */
  readonly usage: ReportedUsage | undefined
  /** The answer came and has nothing in it: settles it and sends it as it is, where no other place is tried. */
  readonly deliver: (() => Promise<void>) | undefined
  /** Ends, with this failure, a stream whose opening the caller has been sent: no other place can answer in it. */
  readonly closing: string | undefined
  /** The address that refused, for operators. */
  readonly address: string
  constructor(failure: UpstreamFailure, details: AttemptFailure) {
    super(failure.message, { cause: details.cause })
    this.failure = failure
    this.local = details.local
    this.elsewhere = details.elsewhere ?? false
    this.connection = details.connection ?? false
    this.mayBeTaken = details.mayBeTaken ?? false
    this.retryAfterMs = details.retryAfterMs ?? null
    this.usage = details.usage
    this.deliver = details.deliver
    this.closing = details.closing
    this.address = details.address ?? ''
  }
}

/** The same failed attempt, without the secrets of its channel in any of its words. */
export const maskedFailure = (failed: AttemptFailed, secrets: ChannelSecrets): AttemptFailed =>
  new AttemptFailed(maskFailure(failed.failure, secrets), { ...failed, cause: failed.cause })

/** Why an attempt failed, in words for operators: where it went, and what the network said. */
export function operatorReason({ failure, address, cause }: AttemptFailed, secrets: ChannelSecrets): string {
  // What is hidden from callers is what operators look for.
  const message = failure.original?.message ?? failure.message
  const words =
    cause instanceof TransportError
      ? describeTransportError(cause, message)
      : `${message}${address === '' ? '' : ` (${address})`}`
  return maskSecrets(words, secrets)
}

export const failureOfDomainError = (error: DomainError): UpstreamFailure => ({
  status: error.status ?? statusOfKind[error.kind],
  type: gatewayErrorType,
  code: error.wire ?? null,
  message: error.message,
  refusal: { code: error.code, params: error.params },
  ...(error.code === 'relay.prompt_too_long'
    ? { overflow: { tokens: Number(error.params['tokens']), limit: Number(error.params['limit']) } }
    : {}),
  // By these as OpenAI has them.
  ...(error.code === 'relay.previous_response_unknown'
    ? { type: 'invalid_request_error', param: 'previous_response_id' }
    : {}),
  // By this word clients know that they have to send the conversation again.
  ...(error.wire?.startsWith('thread_') ? { details: { error_code: error.wire } } : {}),
})

/** Whatever was thrown, as the caller will see it. Unknown errors become `internal` without any of their text. */
export function failureOf(error: unknown): UpstreamFailure {
  if (error instanceof AttemptFailed) return error.failure
  if (error instanceof RateLimited) return failureOfDomainError(error.refusal)
  if (error instanceof DomainError) return failureOfDomainError(error)
  if (error instanceof InvalidRequest) {
    const { code, message } = error
    const details = code.startsWith('thread_') ? { details: { error_code: code } } : {}
    return { status: 400, type: gatewayErrorType, code, message, ...details }
  }
  if (isUnstorableText(error)) return failureOfDomainError(new DomainError('input.invalid', { detail: 'U+0000' }))
  return failureOfDomainError(new DomainError(isDatabaseUnavailable(error) ? 'relay.unavailable' : 'internal'))
}

type Reader = { id: string; language: Language }

/** A failure as its caller reads it: the gateway's own refusals in the caller's language, an upstream's words as they came. */
export function callerError(failure: UpstreamFailure, { id, language }: Reader): CallerError {
  const message = failure.refusal ? renderMessage(failure.refusal, language) : failure.message
  return { ...failure, message, requestId: id }
}

/** The same for one whose every channel is busy: what the last of them said is of no use to anybody. */
export const finalFailure = (error: unknown): UpstreamFailure => {
  const failure = failureOf(error)
  if (!(error instanceof AttemptFailed) || failure.status !== 429) return failure
  return { ...failure, ...busyWords() }
}

/** That the upstream is busy, in words of ours. */
export function busyWords(): Pick<UpstreamFailure, 'message' | 'refusal'> {
  const busy = new DomainError('relay.upstream_busy')
  return { message: busy.message, refusal: { code: busy.code } }
}

/** Is it the product's fault, and so worth a line in the server log? */
export const isUnexpected = (error: unknown): boolean =>
  !(
    error instanceof AttemptFailed ||
    error instanceof RateLimited ||
    error instanceof DomainError ||
    error instanceof InvalidRequest ||
    isUnstorableText(error)
  )

/** Whatever went wrong between us and an answer, as a failed attempt. */
export function asAttemptFailure(error: unknown): AttemptFailed {
  if (error instanceof AttemptFailed) return error
  if (error instanceof UpstreamRefusal) return new AttemptFailed(error.failure, { local: false, cause: error })
  if (error instanceof MalformedUpstream) {
    const refusal = failureOfDomainError(new DomainError('relay.reply_malformed'))
    return new AttemptFailed(refusal, { local: false, cause: error })
  }
  if (error instanceof TransportError) {
    const refusal = failureOfDomainError(transportRefusal(error))
    return new AttemptFailed(refusal, { local: false, connection: true, cause: error })
  }
  throw error
}

/**
 * What this upstream cannot take, another one may: the next channel is tried. Any other error stays what it is, want of memory
 * among them, for that is the same wherever the call would go.
 */
export const unsupportedHere = (error: unknown): unknown =>
  error instanceof InvalidRequest || (error instanceof DomainError && !isMemoryShort(error))
    ? new AttemptFailed(failureOf(error), { local: true, elsewhere: true, cause: error })
    : error

/** The request never reached a connection, so the upstream cannot have seen it. */
export const isUnsent = (error: unknown): boolean => error instanceof TransportError && !error.sent

function transportRefusal(error: TransportError): DomainError {
  switch (error.kind) {
    case 'timeout-connect':
    case 'timeout-first-byte':
    case 'timeout-idle':
      return new DomainError('relay.timeout', {}, { cause: error })
    case 'too-large':
    case 'bad-response':
      return new DomainError('relay.reply_unreadable', {}, { cause: error })
    default:
      return new DomainError('relay.connection_failed', {}, { cause: error })
  }
}
