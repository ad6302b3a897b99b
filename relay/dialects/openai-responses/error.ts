import { openAiError, toOpenAiError } from '../openai-chat/error.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { CallerError } from '../types.ts'

export const responsesError = openAiError

/** Fields of an `error` event; they stand flat. */
export function toErrorFields(error: CallerError) {
  const { code, message, param } = toOpenAiError(error)
  return { code, message, param }
}

/** What the gateway calls failures that their upstream has no code for. */
const ownCodes: ReadonlySet<string> = new Set(['', 'bad_response_status_code', 'stream_response_error'])

/** What agents act on: they wait, give up, or make their conversation shorter. */
function failureCode({ status, type, code, overflow }: UpstreamFailure): string {
  if (overflow) return 'context_length_exceeded'
  if (status === 429 && code !== 'insufficient_quota') return 'rate_limit_exceeded'
  return typeof code === 'string' && type !== 'gateway_error' && !ownCodes.has(code) ? code : 'server_error'
}

/** What a response that failed says of its end; clients that act on failures read `response.failed`, and no `error` event. */
export const failedOutcome = (error: CallerError) => ({
  status: 'failed',
  completed_at: null,
  error: { code: failureCode(error), message: toErrorFields(error).message },
  incomplete_details: null,
})
