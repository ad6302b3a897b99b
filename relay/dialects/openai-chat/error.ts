import { callerMessage, errorStatus } from '../error-text.ts'
import type { CallerError } from '../types.ts'

type Kind = readonly [type: string, code: string | null]

const byStatus: Readonly<Record<number, Kind>> = {
  401: ['invalid_request_error', 'invalid_api_key'],
  402: ['insufficient_quota', 'insufficient_quota'],
  403: ['invalid_request_error', 'permission_denied'],
  404: ['invalid_request_error', 'model_not_found'],
  408: ['timeout', null],
  429: ['rate_limit_exceeded', 'rate_limit_exceeded'],
  504: ['timeout', null],
  524: ['timeout', null],
  529: ['server_error', 'overloaded'],
}

const kindOf = (status: number): Kind =>
  byStatus[status] ?? (status >= 500 ? ['server_error', null] : ['invalid_request_error', null])

/** The error object of both OpenAI dialects. Type and code of whoever made the error are kept. */
export function toOpenAiError(error: CallerError) {
  const [type, code] = kindOf(errorStatus(error.status))
  return {
    message: callerMessage(error),
    type: error.type === '' ? type : error.type,
    param: error.param ?? null,
    code: error.code ?? (error.type === '' ? code : null),
  }
}

export function openAiError(error: CallerError): { status: number; body: unknown } {
  const status = errorStatus(error.status)
  return { status: status === 529 ? 503 : status, body: { error: toOpenAiError(error) } }
}

export const openAiStreamError = (error: CallerError): string =>
  `data: ${JSON.stringify({ error: toOpenAiError(error) })}\n\n`
