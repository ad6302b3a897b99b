import { openAiError, toOpenAiError } from '../openai-chat/error.ts'
import type { CallerError } from '../types.ts'

export const responsesError = openAiError

/** Fields of an `error` event; they stand flat. */
export function toErrorFields(error: CallerError) {
  const { code, message, param } = toOpenAiError(error)
  return { code, message, param }
}

/** An error of a stream whose events nobody counted. */
export const responsesStreamError = (error: CallerError): string =>
  `event: error\ndata: ${JSON.stringify({ type: 'error', ...toErrorFields(error), sequence_number: 0 })}\n\n`
