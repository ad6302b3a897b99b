import type { ContextOverflow } from '#relay/chat/context-overflow.ts'
import { inOverflowWords } from '../overflow-text.ts'
import { callerMessage, errorStatus } from '../error-text.ts'
import type { CallerError } from '../types.ts'

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  524: 'timeout_error',
  529: 'overloaded_error',
}

const typeOf = (status: number): string => types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')

const overflowWords = {
  own: /prompt is too long/i,
  text: ({ tokens, limit }: ContextOverflow) =>
    tokens === undefined || limit === undefined
      ? 'prompt is too long'
      : `prompt is too long: ${tokens} tokens > ${limit} maximum`,
}

const toClaudeError = (error: CallerError, status: number) => ({
  type: 'error',
  error: {
    type: typeOf(status),
    message: callerMessage(inOverflowWords(error, overflowWords)),
    ...(error.details === undefined ? {} : { details: error.details }),
  },
  ...(error.requestId === '' ? {} : { request_id: error.requestId }),
})

export function claudeError(error: CallerError): { status: number; body: unknown } {
  const status = errorStatus(error.status)
  return { status, body: toClaudeError(error, status) }
}

export const claudeStreamError = (error: CallerError): string =>
  `event: error\ndata: ${JSON.stringify(toClaudeError(error, errorStatus(error.status)))}\n\n`
