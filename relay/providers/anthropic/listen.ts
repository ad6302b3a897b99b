import type { WireEvent } from '#relay/transport/framing.ts'
import type { ListenVerdict, StreamListener } from '../types.ts'
import { nameless } from '../shared/answer-record.ts'
import { recordOf, tryRecord, wordOf } from '../shared/json.ts'
import { createListener, type ListenState } from '../shared/stream-listener.ts'
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
  const counter = createUsageCounter()
  let id: string | undefined

  function watch(wire: WireEvent, state: ListenState): ListenVerdict {
    const event = mayMatter(wire) ? tryRecord(wire.data) : undefined
    switch (event?.['type']) {
      case undefined:
        break
      case 'message_start':
        counter.add(recordOf(event['message'])?.['usage'], false)
        id = wordOf(recordOf(event['message'])?.['id'])
        break
      case 'message_delta':
        counter.add(event['usage'], true)
        state.complete ||= typeof recordOf(event['delta'])?.['stop_reason'] === 'string'
        break
      case 'message_stop':
        state.complete = true
        break
      case 'error':
        state.failure = failureIn(event)
        return 'failed'
    }
    if (state.complete && id !== undefined) state.keeps = [id]
    return state.complete ? 'hold' : 'forward'
  }

  return createListener({ decoder: () => createClaudeDecoder(nameless), watch, usage: () => counter.usage })
}
