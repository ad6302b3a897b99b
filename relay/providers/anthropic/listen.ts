import type { WireEvent } from '#relay/transport/framing.ts'
import type { ListenVerdict, StreamListener } from '../types.ts'
import { nameless } from '../shared/answer-record.ts'
import { containerMade, filesMade, messageIds } from '../shared/held-objects.ts'
import { recordOf, tryRecord, wordOf } from '../shared/json.ts'
import { createListener, type ListenState } from '../shared/stream-listener.ts'
import { failureIn, goesOn } from './answer-parts.ts'
import { createClaudeDecoder } from './stream.ts'
import { createUsageCounter } from './usage.ts'

const ordinary = /^(content_block_(start|delta|stop)|ping)$/

const blockStart = 'content_block_start'

/** Whether an event may matter, by its name or, where hosts send none, by what stands in it. */
function mayMatter({ event, data }: WireEvent): boolean {
  // What a call of code has made is its maker's alone.
  if (event !== undefined && ordinary.test(event)) return event === blockStart && data.includes('"file_id"')
  return (
    event === 'error' ||
    data.includes('"file_id"') ||
    data.includes('message_start') ||
    data.includes('message_delta') ||
    data.includes('message_stop') ||
    data.includes('"error"')
  )
}

export function listenToClaude(): StreamListener {
  const counter = createUsageCounter()
  const made: string[] = []

  function watch(wire: WireEvent, state: ListenState): ListenVerdict {
    // Behind its end, which is little of it, all of an answer is read.
    const event = state.complete || mayMatter(wire) ? tryRecord(wire.data) : undefined
    if (state.complete && event && goesOn(event)) {
      state.complete = false
      state.continued = true
      return 'resume'
    }
    switch (event?.['type']) {
      // Hosts that copy this dialect fail with the bare error object of others.
      case undefined:
        state.failure = event && failureIn(wire.event === 'error' ? { ...event, type: 'error' } : event)
        if (state.failure) return 'failed'
        break
      case 'message_start':
        counter.begin(recordOf(event['message']), () => state.written().tokens)
        made.push(...messageIds(event['message']))
        break
      case blockStart:
        made.push(...filesMade(event['content_block']))
        break
      case 'message_delta':
        counter.close(event)
        made.push(...containerMade(event['delta']))
        state.complete ||= wordOf(recordOf(event['delta'])?.['stop_reason']) !== undefined
        break
      case 'message_stop':
        state.complete = true
        state.closed = true
        break
      case 'error':
        state.failure = failureIn(event)
        return 'failed'
    }
    if (state.complete) state.keeps = made
    return state.complete ? 'hold' : 'forward'
  }

  return createListener({ decoder: () => createClaudeDecoder(nameless), watch, usage: counter.usage })
}
