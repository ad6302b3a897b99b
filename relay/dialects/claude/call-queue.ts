import type { ChatEvent } from '#relay/chat/events.ts'
import { parseObject } from '#relay/chat/json.ts'
import type { OpenBlock } from './open-block.ts'

type CallEvent = Extract<ChatEvent, { type: `tool-call-${'start' | 'delta' | 'end'}` }>

type Call = {
  id: string
  name: string
  custom: boolean
  /** All arguments so far. */
  text: string
  ended: boolean
}

/** Arguments that form a whole object take no more. */
const isComplete = (call: Call): boolean => !call.custom && parseObject(call.text) !== undefined

/** Tool calls as blocks: of calls that an upstream interleaves, the later ones wait until the first is complete. */
export function createCallQueue(block: OpenBlock) {
  const calls = new Map<number, Call>()
  let waiting: Call[] = []
  let active: Call | undefined

  const write = ({ custom }: Call, text: string): string => {
    if (text === '') return ''
    return block.write(JSON.stringify(custom ? JSON.stringify(text).slice(1, -1) : text))
  }
  const stop = (): string => {
    const ending = active?.custom === true ? block.write(JSON.stringify('"}')) : ''
    active = undefined
    return ending + block.stop()
  }
  const start = (call: Call): string => {
    const content = { type: 'tool_use', id: call.id, name: call.name, input: {} }
    const opening = stop() + block.start('tool', content, ['input_json_delta', 'partial_json'])
    active = call
    // Free text travels as the one field of an object, as its tool was declared.
    const wrapping = call.custom ? block.write(JSON.stringify('{"input":"')) : ''
    return opening + wrapping + write(call, call.text)
  }
  /** Starts waiting calls in order, up to the first that is still being written; one that others wait for may be done. */
  const startWaiting = (all: boolean): string => {
    let text = ''
    while (active === undefined) {
      const [call, ...rest] = waiting
      if (call === undefined) break
      waiting = rest
      const done = call.ended || all || (waiting.length > 0 && isComplete(call))
      text += start(call) + (done ? stop() : '')
    }
    return text
  }
  const begin = (event: Extract<CallEvent, { type: 'tool-call-start' }>): string => {
    const call: Call = { id: event.id, name: event.name, custom: event.kind === 'custom', text: '', ended: false }
    calls.set(event.index, call)
    waiting.push(call)
    if (active !== undefined && !isComplete(active)) return ''
    return stop() + startWaiting(false)
  }

  return {
    called: (): boolean => calls.size > 0,
    take(event: CallEvent): string {
      if (event.type === 'tool-call-start') return begin(event)
      const call = calls.get(event.index)
      if (call === undefined || call.ended) return ''
      if (event.type === 'tool-call-delta') {
        call.text += event.arguments
        return call === active ? write(call, event.arguments) : ''
      }
      call.ended = true
      return call === active ? stop() + startWaiting(false) : ''
    },
    /** Something else follows, so all calls are complete. */
    finish: (): string => (active === undefined ? '' : stop()) + startWaiting(true),
  }
}
