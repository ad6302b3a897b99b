import type { ReportedUsage } from '#core/usage.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { ListenVerdict, StreamListener } from '../types.ts'
import { nameless } from '../shared/answer-record.ts'
import { type Json, recordOf, tryRecord, wordOf } from '../shared/json.ts'
import { createListener, type ListenState } from '../shared/stream-listener.ts'
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

/** Calls of tools that the vendor runs and charges for. */
const hostedCall = /"type": ?"(image_generation|web_search|file_search|code_interpreter)_call"/

const endsHostedCall = ({ event, data }: WireEvent): boolean =>
  (event === 'response.output_item.done' || (event === undefined && data.includes('"response.output_item.done"'))) &&
  hostedCall.test(data)

export function listenToResponses(): StreamListener {
  let usage: ReportedUsage | undefined
  /** What such tools have done so far: a caller who leaves before the end has it. */
  const ran: Json[] = []
  let tools: unknown

  function watch(wire: WireEvent, state: ListenState): ListenVerdict {
    if (endsHostedCall(wire)) {
      const item = recordOf(tryRecord(wire.data)?.['item'])
      // Only that there is an image matters, which is large.
      if (item) ran.push(wordOf(item['result']) === undefined ? item : { ...item, result: 'drawn' })
    } else if (wire.event === 'response.created') {
      tools = recordOf(tryRecord(wire.data)?.['response'])?.['tools']
    }
    const event = mayClose(wire) ? tryRecord(wire.data) : undefined
    const type = event?.['type']
    // Hosts that copy this dialect fail with the bare error object of their other one.
    if (event && type === undefined && recordOf(event['error'])) {
      state.failure = failureIn(event)
      return 'failed'
    }
    if (event && typeof type === 'string' && closing.test(type)) {
      const response = recordOf(event['response']) ?? {}
      usage = usageOf(response) ?? usage
      state.failure =
        type === 'error'
          ? failureIn(event)
          : failureIn({ ...response, status: type === 'response.failed' ? 'failed' : '' })
      if (state.failure) return 'failed'
      state.complete = true
      state.keeps = storedIds(response)
    }
    return state.complete ? 'hold' : 'forward'
  }

  return createListener({
    decoder: () => createResponsesDecoder(nameless),
    watch,
    usage: () => usage ?? (ran.length > 0 ? usageOf({ usage: {}, output: ran, tools }) : undefined),
  })
}
