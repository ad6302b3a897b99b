import type { ChatEvent } from '#relay/chat/events.ts'
import { parseObject } from '#relay/chat/json.ts'
import { blockStart, blockStop, deltaHead, deltaTail } from './frames.ts'

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

type OpenBlock = { kind: 'text' | 'thinking' | 'tool'; index: number; head: string; signed: boolean }

type CallEvent = Extract<ChatEvent, { type: `tool-call-${'start' | 'delta' | 'end'}` }>

/**
 * The content blocks of a streamed message. Exactly one block is open at a time, because clients report every delta
 * against their last block: of tool calls that an upstream interleaves, the later ones wait until the first is complete.
 */
export function createBlocks() {
  const calls = new Map<number, Call>()
  let waiting: Call[] = []
  let active: Call | undefined
  let open: OpenBlock | undefined
  let nextIndex = 0

  const start = (kind: OpenBlock['kind'], block: object, delta: [type: string, field: string]): string => {
    const index = nextIndex
    nextIndex += 1
    open = { kind, index, head: deltaHead(index, ...delta), signed: false }
    return blockStart(index, block)
  }
  const delta = (json: string): string => (open === undefined ? '' : open.head + json + deltaTail)
  const stop = (): string => {
    if (open === undefined) return ''
    const ending = active?.custom ? delta(JSON.stringify('"}')) : ''
    const text = ending + blockStop(open.index)
    open = undefined
    active = undefined
    return text
  }
  const writeArguments = (call: Call, text: string): string => {
    if (text === '') return ''
    return delta(JSON.stringify(call.custom ? JSON.stringify(text).slice(1, -1) : text))
  }
  const startCall = (call: Call): string => {
    const closing = stop()
    const block = { type: 'tool_use', id: call.id, name: call.name, input: {} }
    const opening = start('tool', block, ['input_json_delta', 'partial_json'])
    active = call
    // Free text travels as the one field of an object, as its tool was declared.
    const wrapping = call.custom ? delta(JSON.stringify('{"input":"')) : ''
    return closing + opening + wrapping + writeArguments(call, call.text)
  }
  /** Starts waiting calls in order, up to the first that is still being written; one that others wait for may be done. */
  const startWaiting = (all: boolean): string => {
    let text = ''
    while (waiting.length > 0 && active === undefined) {
      const [call, ...rest] = waiting
      waiting = rest
      if (call === undefined) return text
      const done = call.ended || all || (waiting.length > 0 && isComplete(call))
      text += startCall(call) + (done ? stop() : '')
    }
    return text
  }
  const finishCalls = (): string => (active === undefined ? '' : stop()) + startWaiting(true)
  const ensure = (kind: 'text' | 'thinking'): string => {
    if (open?.kind === kind && !open.signed) return ''
    const closing = finishCalls() + stop()
    return kind === 'text'
      ? closing + start(kind, { type: 'text', text: '' }, ['text_delta', 'text'])
      : closing + start(kind, { type: 'thinking', thinking: '', signature: '' }, ['thinking_delta', 'thinking'])
  }

  return {
    /** Whether any tool was called. */
    called: () => calls.size > 0,
    text: (text: string): string => (text === '' ? '' : ensure('text') + delta(JSON.stringify(text))),
    thinking: (text: string): string => (text === '' ? '' : ensure('thinking') + delta(JSON.stringify(text))),
    signature(value: string): string {
      const opening = ensure('thinking')
      if (open === undefined) return opening
      open.signed = true
      return opening + deltaHead(open.index, 'signature_delta', 'signature') + JSON.stringify(value) + deltaTail
    },
    redacted(data: string): string {
      const closing = finishCalls() + stop()
      const index = nextIndex
      nextIndex += 1
      return closing + blockStart(index, { type: 'redacted_thinking', data }) + blockStop(index)
    },
    citation(citation: object): string {
      if (open?.kind !== 'text') return ''
      return deltaHead(open.index, 'citations_delta', 'citation') + JSON.stringify(citation) + deltaTail
    },
    call(event: CallEvent): string {
      if (event.type === 'tool-call-start') {
        const call: Call = { id: event.id, name: event.name, custom: event.kind === 'custom', text: '', ended: false }
        calls.set(event.index, call)
        const busy = active !== undefined && !isComplete(active)
        if (!busy && waiting.length === 0) return startCall(call)
        waiting.push(call)
        return busy ? '' : stop() + startWaiting(false)
      }
      const call = calls.get(event.index)
      if (call === undefined || call.ended) return ''
      if (event.type === 'tool-call-delta') {
        call.text += event.arguments
        return call === active ? writeArguments(call, event.arguments) : ''
      }
      call.ended = true
      return call === active ? stop() + startWaiting(false) : ''
    },
    /** Ends all blocks; a message without any gets an empty text. */
    end(): string {
      const closing = finishCalls() + stop()
      return nextIndex > 0 ? closing : closing + ensure('text') + stop()
    },
    /** What is complete once the model has finished. */
    settle: (): string => finishCalls() + stop(),
  }
}
