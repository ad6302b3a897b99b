import { mapStatus } from '#core/routing/status-mapping.ts'
import { overflowIn } from '#relay/chat/context-overflow.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { ChannelRow } from '#relay/routing/channel-table.ts'
import type { RelayServices } from '#relay/request/call.ts'

/** The upstream's words hidden where an operator wants that, then the channel's own status mapping. */
export function shapeFailure(services: RelayServices, channel: ChannelRow, failure: UpstreamFailure): UpstreamFailure {
  const hidden =
    services.options.get('global.hide_upstream_error_enabled') && failure.status !== 429
      ? {
          status: failure.status,
          type: 'upstream_error',
          code: 'bad_response_status_code',
          param: String(failure.status),
          message: `upstream returned status ${failure.status}`,
          original: { type: failure.type, code: failure.code, message: failure.message },
        }
      : failure
  const overflow = overflowIn(failure)
  if (overflow) return { ...hidden, overflow, status: mapStatus(channel.statusCodeMapping, 400) }
  const status = mapStatus(channel.statusCodeMapping, hidden.status)
  return status === hidden.status ? hidden : { ...hidden, status }
}
