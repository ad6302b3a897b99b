import { mapStatus } from '#core/routing/status-mapping.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { Forwarding } from './forward.ts'

/** Steps 6 and 7 of relay.md 3.3: hidden texts, then the channel's own status mapping. */
export function shapeFailure({ services, attempt }: Forwarding, failure: UpstreamFailure): UpstreamFailure {
  const hidden =
    services.options.get('global.hide_upstream_error_enabled') && failure.status !== 429
      ? {
          status: failure.status,
          type: 'upstream_error',
          code: 'bad_response_status_code',
          param: String(failure.status),
          message: `upstream returned status ${failure.status}`,
        }
      : failure
  const status = mapStatus(attempt.channel.statusCodeMapping, hidden.status)
  return status === hidden.status ? hidden : { ...hidden, status }
}
