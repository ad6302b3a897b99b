import type { ContextOverflow } from '#relay/chat/context-overflow.ts'
import { inOverflowWords } from '../overflow-text.ts'
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

/** LiteLLM, by which agents fall back to a larger model, knows none but the first words, others none but "context window". */
const overflowWords = {
  own: /this model's maximum context length is/i,
  text: ({ tokens, limit }: ContextOverflow) =>
    limit === undefined
      ? "This model's maximum context length is exceeded: your input exceeds the context window of this model. Please reduce the length of the messages."
      : `This model's maximum context length is ${limit} tokens.${tokens === undefined ? '' : ` However, your messages resulted in ${tokens} tokens.`} Please reduce the length of the messages.`,
}

/** The error object of both OpenAI dialects. Type and code of whoever made the error are kept. */
export function toOpenAiError(given: CallerError) {
  const error = inOverflowWords(given, overflowWords)
  if (error.overflow) {
    const message = callerMessage(error)
    return { message, type: 'invalid_request_error', param: error.param ?? null, code: 'context_length_exceeded' }
  }
  const [type, code] = kindOf(errorStatus(error.status))
  return {
    message: callerMessage(error),
    type: error.type === '' ? type : error.type,
    param: error.param ?? null,
    // Google's are numbers, which clients with types of their own (`code: string | null`) cannot read.
    code: error.code === null ? (error.type === '' ? code : null) : String(error.code),
  }
}

export function openAiError(error: CallerError): { status: number; body: unknown } {
  const status = errorStatus(error.status)
  return { status: status === 529 ? 503 : status, body: { error: toOpenAiError(error) } }
}

export const openAiStreamError = (error: CallerError): string =>
  `data: ${JSON.stringify({ error: toOpenAiError(error) })}\n\n`
