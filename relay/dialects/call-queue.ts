import type { ChatEvent } from '#relay/chat/events.ts'
import { parseObject } from '#relay/chat/json.ts'

export type CallEvent = Extract<ChatEvent, { type: `tool-call-${'start' | 'delta' | 'end'}` }>

export type QueuedCall = {
  id: string
  name: string
  custom: boolean
  /** All arguments so far. */
  text: string
  ended: boolean
  /** How far it is written. */
  state: 'waiting' | 'open' | 'closed'
}

/** How a dialect writes a call. */
export type CallWriter = {
  open: (call: QueuedCall) => string
  write: (call: QueuedCall, text: string) => string
  close: (call: QueuedCall) => string
}

/** Arguments that form a whole object take no more. */
const isComplete = (call: QueuedCall): boolean => !call.custom && parseObject(call.text) !== undefined

/** Tool calls one after another: of calls that an upstream interleaves, the later ones wait until the first is complete. */
export function createCallQueue(writer: CallWriter) {
  const calls = new Map<number, QueuedCall>()
  /** Those that are not closed, in order. */
  const left: QueuedCall[] = []

  /** Writes calls in order, up to the first that is still being written; one that others wait for may be done. */
  const advance = (all: boolean): string => {
    let text = ''
    for (let call = left[0]; call !== undefined; call = left[0]) {
      if (call.state === 'waiting') text += writer.open(call) + writer.write(call, call.text)
      call.state = 'open'
      if (!call.ended && !all && !(left.length > 1 && isComplete(call))) break
      call.state = 'closed'
      text += writer.close(call)
      left.shift()
    }
    return text
  }

  return {
    called: (): boolean => calls.size > 0,
    take(event: CallEvent): string {
      if (event.type === 'tool-call-start') {
        const custom = event.kind === 'custom'
        const call: QueuedCall = { id: event.id, name: event.name, custom, text: '', ended: false, state: 'waiting' }
        calls.set(event.index, call)
        left.push(call)
        return advance(false)
      }
      const call = calls.get(event.index)
      if (call === undefined || call.ended || call.state === 'closed') return ''
      if (event.type === 'tool-call-delta') {
        call.text += event.arguments
        return call.state === 'open' ? writer.write(call, event.arguments) : ''
      }
      call.ended = true
      return call === left[0] ? advance(false) : ''
    },
    /** All calls are complete. */
    finish: (): string => advance(true),
  }
}
