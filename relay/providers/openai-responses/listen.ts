import type { ReportedUsage } from '#core/usage.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { ListenVerdict, StreamListener } from '../types.ts'
import { keepDelivered, nameless } from '../shared/answer-record.ts'
import { recordOf, tryRecord } from '../shared/json.ts'
import { failureIn } from './failure.ts'
import { storedIds } from './stored-ids.ts'
import { createResponsesDecoder } from './stream.ts'
import { usageOf } from './usage.ts'

const closing = /^(response\.(completed|incomplete|failed)|error)$/

const mayClose = ({ event, data }: WireEvent): boolean =>
  event === undefined
    ? data.includes('"response.completed"') ||
      data.includes('"response.incomplete"') ||
      data.includes('"response.failed"') ||
      data.includes('"error"')
    : closing.test(event)

export function listenToResponses(): StreamListener {
  const delivered = keepDelivered(() => createResponsesDecoder(nameless))
  let complete = false
  let usage: ReportedUsage | undefined
  let failure: UpstreamFailure | undefined
  let keeps: readonly string[] = []

  function watch(wire: WireEvent): ListenVerdict {
    const event = mayClose(wire) ? tryRecord(wire.data) : undefined
    const type = event?.['type']
    // Hosts that copy this dialect fail with the bare error object of their other one.
    if (event && type === undefined && recordOf(event['error'])) {
      failure = failureIn(event)
      return 'failed'
    }
    if (event && typeof type === 'string' && closing.test(type)) {
      const response = recordOf(event['response']) ?? {}
      usage = usageOf(response) ?? usage
      failure =
        type === 'error'
          ? failureIn(event)
          : failureIn({ ...response, status: type === 'response.failed' ? 'failed' : '' })
      if (failure) return 'failed'
      complete = true
      keeps = storedIds(response)
    }
    return complete ? 'hold' : 'forward'
  }

  return {
    push(event) {
      delivered.push(event)
      return watch(event)
    },
    get complete() {
      return complete
    },
    get usage() {
      return usage
    },
    get failure() {
      return failure
    },
    delivered: delivered.delivered,
    written: delivered.written,
    get keeps() {
      return keeps
    },
  }
}
