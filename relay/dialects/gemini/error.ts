import type { ContextOverflow } from '#relay/chat/context-overflow.ts'
import { inOverflowWords } from '../overflow-text.ts'
import { callerMessage, errorStatus } from '../error-text.ts'
import type { CallerError } from '../types.ts'

const names: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  524: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
}

const nameOf = (status: number): string => names[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')

const overflowWords = {
  own: /input token count/i,
  text: ({ tokens, limit }: ContextOverflow) =>
    `The input token count${tokens === undefined ? '' : ` (${tokens})`} exceeds the maximum number of tokens allowed${limit === undefined ? '' : ` (${limit})`}.`,
}

export function geminiError(error: CallerError): { status: number; body: unknown } {
  const given = errorStatus(error.status)
  const status = given === 529 ? 503 : given
  return {
    status,
    body: {
      error: {
        code: status,
        message: callerMessage(inOverflowWords(error, overflowWords)),
        status: nameOf(given),
        details: [],
      },
    },
  }
}

export const geminiStreamError = (error: CallerError): string => `data: ${JSON.stringify(geminiError(error).body)}\n\n`
