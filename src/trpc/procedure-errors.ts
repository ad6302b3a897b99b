import { TRPCError } from '@trpc/server'
import { ZodError } from 'zod'
import { isDatabaseUnavailable, isUnstorableText, whyReadOnly } from '#core/database-errors.ts'
import { DomainError, type ErrorCode, isDomainError, type Kind, toDomainError as describedError } from '#core/errors.ts'
import { refusalOf } from '#core/refusal-of.ts'

/** What each kind of refusal is called in tRPC, which gives it its HTTP status. */
export const codeOfKind = {
  unauthenticated: 'UNAUTHORIZED',
  forbidden: 'FORBIDDEN',
  not_found: 'NOT_FOUND',
  invalid: 'BAD_REQUEST',
  conflict: 'CONFLICT',
  rate_limited: 'TOO_MANY_REQUESTS',
  quota_exhausted: 'PAYMENT_REQUIRED',
  upstream: 'BAD_GATEWAY',
  unavailable: 'SERVICE_UNAVAILABLE',
  internal: 'INTERNAL_SERVER_ERROR',
} as const satisfies Record<Kind, TRPCError['code']>

/** Statuses that a code fixes and tRPC has a word for. */
const codeOfStatus: Partial<Record<number, TRPCError['code']>> = {
  405: 'METHOD_NOT_SUPPORTED',
  408: 'TIMEOUT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
}

export const trpcErrorOf = (cause: DomainError): TRPCError =>
  new TRPCError({ code: codeOfStatus[cause.status ?? 0] ?? codeOfKind[cause.kind], message: cause.message, cause })

/** What the console learns of a refusal: enough to say it in either language and to mark the fields. */
export type ErrorData = {
  domainCode: ErrorCode
  params: Record<string, string | number>
  /** Path of the input field → what is wrong with it. */
  fields: Record<string, string>
  requestId: string
}

/** Refusals of the interface itself: how it was asked was wrong, not what. */
const wrongForm = new Set<TRPCError['code']>(['METHOD_NOT_SUPPORTED', 'UNSUPPORTED_MEDIA_TYPE', 'PARSE_ERROR'])

/** Whatever went wrong in a procedure, as a row of the catalogue. */
export function toDomainError(error: TRPCError): DomainError {
  if (isDomainError(error.cause)) return error.cause
  if (error.code === 'BAD_REQUEST') {
    const named = error.cause instanceof ZodError ? refusalOf(error.cause.issues) : undefined
    if (named) return describedError({ code: named })
    const detail = Object.entries(fieldsOf(error.cause))
      .map(([path, message]) => (path ? `${path}: ${message}` : message))
      .join('; ')
    return new DomainError('input.invalid', { detail: detail || 'unreadable' })
  }
  if (error.code === 'NOT_FOUND') return new DomainError('not_found')
  if (error.code === 'PAYLOAD_TOO_LARGE') return new DomainError('input.too_large')
  if (wrongForm.has(error.code)) return new DomainError('input.invalid', { detail: error.message })
  return crashOf(error.cause ?? error)
}

/** What nobody foresaw: the caller's fault where it cannot be stored, temporary where only the database is unreachable, else ours. */
export function crashOf(cause: unknown): DomainError {
  if (isUnstorableText(cause)) return new DomainError('input.invalid', { detail: 'U+0000' }, { cause })
  if (!isDatabaseUnavailable(cause)) return new DomainError('internal', {}, { cause })
  return new DomainError(`database.${whyReadOnly(cause) ?? 'unavailable'}`, {}, { cause })
}

/** The same may well succeed a moment later. */
export const isPassing = (error: TRPCError): boolean => toDomainError(error).status === 503

function fieldsOf(cause: unknown): Record<string, string> {
  if (!(cause instanceof ZodError)) return {}
  return Object.fromEntries(cause.issues.map((issue) => [issue.path.join('.'), issue.message]))
}

/** What the console reads beside the message of a refusal. */
export const errorDataOf = (error: TRPCError, requestId: string): ErrorData => {
  const { code: domainCode, params } = toDomainError(error)
  return { domainCode, params, fields: fieldsOf(error.cause), requestId }
}

type Failing = {
  log: { error: (fields: object, message: string) => void }
  requestId: string
}

/** A procedure's failure under the code of its kind; what nobody foresaw is logged. @returns undefined where it may go on as it is. */
export function failureForCaller(error: TRPCError, { log, requestId }: Failing, path: string): TRPCError | undefined {
  const { cause } = error
  if (isDomainError(cause)) return trpcErrorOf(cause)
  if (isUnstorableText(cause)) return new TRPCError({ code: 'BAD_REQUEST', cause: crashOf(cause) })
  if (error.code !== 'INTERNAL_SERVER_ERROR') return undefined
  log.error({ err: cause ?? error, path, requestId }, 'a procedure failed')
  return isDatabaseUnavailable(cause)
    ? new TRPCError({ code: 'SERVICE_UNAVAILABLE', cause: crashOf(cause) })
    : undefined
}

/** Refusals of an input that say themselves what is wrong. */
const saysItself = new Set<TRPCError['code']>(['UNSUPPORTED_MEDIA_TYPE', 'PAYLOAD_TOO_LARGE', 'METHOD_NOT_SUPPORTED'])

/** Whatever goes wrong while an input is read is the sender's mistake. */
export const unreadableInput = (cause: unknown): Error =>
  cause instanceof TRPCError && saysItself.has(cause.code) ? cause : new DomainError('input.unreadable', {}, { cause })
