import type { WireEvent } from '#relay/transport/framing.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import type { ListenVerdict, StreamListener } from '../types.ts'
import { keepDelivered, nameless } from '../shared/answer-record.ts'
import { recordOf, tryRecord, wordOf } from '../shared/json.ts'
import { failureIn } from './answer-parts.ts'
import { createClaudeDecoder } from './stream.ts'
import { createUsageCounter } from './usage.ts'

const ordinary = /^(content_block_(start|delta|stop)|ping)$/

/** Whether an event may matter, by its name or, where hosts send none, by what stands in it. */
function mayMatter({ event, data }: WireEvent): boolean {
  if (event !== undefined && ordinary.test(event)) return false
  return (
    data.includes('message_start') ||
    data.includes('message_delta') ||
    data.includes('message_stop') ||
    data.includes('"error"')
  )
}

export function listenToClaude(): StreamListener {
  const delivered = keepDelivered(() => createClaudeDecoder(nameless))
  const usage = createUsageCounter()
  let complete = false
  let id: string | undefined
  let failure: UpstreamFailure | undefined

  function watch(wire: WireEvent): ListenVerdict {
    const event = mayMatter(wire) ? tryRecord(wire.data) : undefined
    switch (event?.['type']) {
      case undefined:
        break
      case 'message_start':
        usage.add(recordOf(event['message'])?.['usage'], false)
        id = wordOf(recordOf(event['message'])?.['id'])
        break
      case 'message_delta':
        usage.add(event['usage'], true)
        complete ||= typeof recordOf(event['delta'])?.['stop_reason'] === 'string'
        break
      case 'message_stop':
        complete = true
        break
      case 'error':
        failure = failureIn(event)
        return 'failed'
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
      return usage.usage
    },
    get failure() {
      return failure
    },
    get keeps() {
      return complete && id !== undefined ? [id] : undefined
    },
    delivered: delivered.delivered,
    written: delivered.written,
  }
}
