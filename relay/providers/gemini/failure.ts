import { parseJson } from '#core/exact-json.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { failureOf, readFailure } from '../shared/failures.ts'
import { type Json, numberOf, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'

/** The vendor's error object: its reason is the code, and a key it does not know is no bad request. */
function refine(failure: UpstreamFailure, body: unknown): UpstreamFailure {
  const error = recordOf(recordOf(Array.isArray(body) ? body[0] : body)?.['error'])
  const details = recordsOf(error?.['details'])
  const reason = details.map((detail) => wordOf(detail['reason'])).find((word) => word !== undefined)
  const delay = details.map((detail) => textOf(detail['retryDelay'])).find((text) => text !== undefined)
  const seconds = delay === undefined ? Number.NaN : Number.parseFloat(delay)
  return {
    ...failure,
    status: reason === 'API_KEY_INVALID' ? 401 : failure.status,
    code: reason ?? failure.code,
    ...(Number.isFinite(seconds) && seconds >= 0 ? { retryAfterSeconds: seconds } : {}),
  }
}

export function readGeminiFailure(status: number, body: string): UpstreamFailure {
  const failure = readFailure(status, body)
  try {
    return refine(failure, parseJson(body))
  } catch {
    return failure
  }
}

/** The failure inside a 2xx body or a stream, or the refusal of the whole prompt. */
export function failureIn(body: Json): UpstreamFailure | undefined {
  const error = recordOf(body['error'])
  if (error) {
    const code = numberOf(error['code']) ?? 0
    return refine(failureOf(code >= 400 && code <= 599 ? code : 500, body), body)
  }
  const reason = wordOf(recordOf(body['promptFeedback'])?.['blockReason'])
  if (reason === undefined || recordsOf(body['candidates']).length > 0) return undefined
  const message = `the prompt was blocked: ${reason}`
  return { status: 400, type: 'content_filter', code: 'content_filter', message, param: null }
}
