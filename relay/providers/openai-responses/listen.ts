import type { ReportedUsage } from '#core/usage.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { ListenVerdict, StreamListener } from '../types.ts'
import { nameless } from '../shared/answer-record.ts'
import { recordOf, tryRecord } from '../shared/json.ts'
import { createListener, type ListenState } from '../shared/stream-listener.ts'
import { createEarlyUsage } from './early-usage.ts'
import { failureIn } from './failure.ts'
import { storedIds } from './stored-ids.ts'
import { createResponsesDecoder } from './stream.ts'
import { usageOf } from './usage.ts'

const closing = /^(response\.(completed|incomplete|failed|cancelled)|error)$/

const mayClose = ({ event, data }: WireEvent): boolean =>
  event === undefined
    ? data.includes('"response.completed"') ||
      data.includes('"response.incomplete"') ||
      data.includes('"response.failed"') ||
      data.includes('"response.cancelled"') ||
      data.includes('"error"')
    : closing.test(event)

/** Spares the others, which are most, from being read. */
const maySayEarly = ({ event, data }: WireEvent): boolean =>
  event === undefined
    ? data.includes('"response.output_item.done"') || data.includes('"response.created"')
    : event === 'response.output_item.done' || event === 'response.created'

export function listenToResponses(): StreamListener {
  let usage: ReportedUsage | undefined
  const early = createEarlyUsage()

  function watch(wire: WireEvent, state: ListenState): ListenVerdict {
    if (maySayEarly(wire)) early.note(tryRecord(wire.data) ?? {})
    const event = mayClose(wire) ? tryRecord(wire.data) : undefined
    const type = event?.['type']
    // Hosts that copy this dialect fail with the bare error object of their other one.
    if (event && type === undefined && recordOf(event['error'])) {
      state.failure = failureIn(event)
      return 'failed'
    }
    if (event && typeof type === 'string' && closing.test(type)) {
      const response = early.ended(recordOf(event['response']) ?? {})
      usage = usageOf(response) ?? usage
      state.failure =
        type === 'error'
          ? failureIn(event)
          : failureIn({ ...response, status: type === 'response.failed' ? 'failed' : '' })
      if (state.failure) return 'failed'
      state.complete = true
      state.closed = true
      state.keeps = storedIds(response)
    }
    return state.complete ? 'hold' : 'forward'
  }

  return createListener({
    decoder: () => createResponsesDecoder(nameless),
    watch,
    usage: () => usage ?? early.usage(),
  })
}
