import type { UpstreamFailure } from '#relay/chat/events.ts'
import { failureOfError } from '../shared/failures.ts'
import { type Json, recordOf } from '../shared/json.ts'

/** The failure of a response object, or of an `error` event, whose fields stand at its top. */
export function failureIn(body: Json): UpstreamFailure | undefined {
  if (body['type'] === 'error') {
    const error = recordOf(body['error']) ?? body
    return failureOfError({ ...error, type: recordOf(body['error']) ? error['type'] : undefined })
  }
  const error = recordOf(body['error'])
  if (error) return failureOfError(error)
  if (body['status'] !== 'failed') return undefined
  return { status: 500, type: 'server_error', code: null, message: 'the upstream failed without saying why' }
}
