import type { Ambient } from '#core/ambient.ts'
import type { ChatEvent, Citation } from '#relay/chat/events.ts'
import {
  type CalledTool,
  type ItemStatus,
  argumentsOf,
  callItem,
  imageItem,
  messageItem,
  outputText,
  reasoningItem,
} from './output-items.ts'
import { toFlatAnnotation } from './response-object.ts'

/** Writes one event with the next sequence number. `head` is everything of its JSON up to a value of its own. */
export type EventWriter = {
  event: (type: string, fields: object) => string
  delta: (head: string, text: string, tail?: string) => string
}

/** Numbers the events of a stream from 0. */
export function createEventWriter(): EventWriter {
  let sequence = 0
  const next = (): number => sequence++
  return {
    event: (type, fields) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)},"sequence_number":${next()}}\n\n`,
    delta: (head, text, tail = '') => `${head}${JSON.stringify(text)}${tail},"sequence_number":${next()}}\n\n`,
  }
}

/** Constant text of a delta event up to the delta itself. */
const deltaHead = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)},"delta":`

type Place = { item_id: string; output_index: number }
type Content =
  | { type: 'output_text'; text: string; annotations: object[]; head: string }
  | { type: 'refusal'; text: string; head: string }
type OpenMessage = { kind: 'message'; place: Place; done: object[]; part: Content | undefined }
type OpenThought = { kind: 'reasoning'; place: Place; text: string; head: string; encrypted: string | undefined }
type OpenCall = {
  place: Place
  call: CalledTool
  head: string
  kind: 'function_call_arguments' | 'custom_tool_call_input'
}

type CallEvent = Extract<ChatEvent, { type: `tool-call-${'start' | 'delta' | 'end'}` }>

const textTail = ',"logprobs":[]'

/** The output items of a streamed response: at most one message or thought is open, calls may be open side by side. */
export function createItems(writer: EventWriter, ambient: Ambient) {
  /** Finished items at their places; a place is taken when its item begins. */
  const output: object[] = []
  const calls = new Map<number, OpenCall>()
  let open: OpenMessage | OpenThought | undefined

  const begin = (prefix: string, item: (id: string) => object): { place: Place; text: string } => {
    const place = { item_id: `${prefix}_${ambient.newId(24)}`, output_index: output.length }
    const begun = item(place.item_id)
    output.push(begun)
    const fields = { output_index: place.output_index, item: begun }
    return { place, text: writer.event('response.output_item.added', fields) }
  }
  const finish = ({ output_index }: Place, item: object): string => {
    output[output_index] = item
    return writer.event('response.output_item.done', { output_index, item })
  }

  const closePart = (message: OpenMessage): string => {
    const { part, place, done } = message
    if (part === undefined) return ''
    const at = { ...place, content_index: done.length }
    const isText = part.type === 'output_text'
    const content = isText ? outputText(part.text, part.annotations) : { type: 'refusal', refusal: part.text }
    const written = isText
      ? writer.event('response.output_text.done', { ...at, text: part.text, logprobs: [] })
      : writer.event('response.refusal.done', { ...at, refusal: part.text })
    done.push(content)
    message.part = undefined
    return written + writer.event('response.content_part.done', { ...at, part: content })
  }
  const closeOpen = (status: ItemStatus = 'completed'): string => {
    const closing = open
    open = undefined
    if (closing === undefined) return ''
    const { place } = closing
    if (closing.kind === 'message') {
      return closePart(closing) + finish(place, messageItem(place.item_id, closing.done, status))
    }
    const item = reasoningItem(place.item_id, closing, 'completed')
    if (closing.text === '') return finish(place, item)
    const at = { ...place, summary_index: 0 }
    const part = { type: 'summary_text', text: closing.text }
    return (
      writer.event('response.reasoning_summary_text.done', { ...at, text: closing.text }) +
      writer.event('response.reasoning_summary_part.done', { ...at, part }) +
      finish(place, item)
    )
  }
  const closeCall = (index: number): string => {
    const closing = calls.get(index)
    if (closing === undefined) return ''
    calls.delete(index)
    const { place, call, kind } = closing
    const value = call.custom ? { input: call.text } : { name: call.name, arguments: argumentsOf(call) }
    const written = writer.event(`response.${kind}.done`, { ...place, ...value })
    return written + finish(place, callItem(place.item_id, call, 'completed'))
  }
  const closeCalls = (): string => [...calls.keys()].map(closeCall).join('')

  const ensureMessage = (): { message: OpenMessage; text: string } => {
    if (open?.kind === 'message') return { message: open, text: '' }
    const before = closeOpen()
    const { place, text } = begin('msg', (id) => messageItem(id, [], 'in_progress'))
    const message: OpenMessage = { kind: 'message', place, done: [], part: undefined }
    open = message
    return { message, text: before + text }
  }
  const say = (type: Content['type'], said: string): string => {
    const { message, text } = ensureMessage()
    let opening = text
    if (message.part?.type !== type) {
      opening += closePart(message)
      const at = { ...message.place, content_index: message.done.length }
      const isText = type === 'output_text'
      const part = isText ? outputText('') : { type, refusal: '' }
      opening += writer.event('response.content_part.added', { ...at, part })
      message.part = isText
        ? { type, text: '', annotations: [], head: deltaHead('response.output_text.delta', at) }
        : { type, text: '', head: deltaHead('response.refusal.delta', at) }
    }
    const { part } = message
    if (part === undefined) return opening
    part.text += said
    return opening + writer.delta(part.head, said, type === 'output_text' ? textTail : '')
  }
  const ensureThought = (): { thought: OpenThought; text: string } => {
    if (open?.kind === 'reasoning') return { thought: open, text: '' }
    const before = closeOpen()
    const empty = { text: '', encrypted: undefined }
    const { place, text } = begin('rs', (id) => reasoningItem(id, empty, 'in_progress'))
    const head = deltaHead('response.reasoning_summary_text.delta', { ...place, summary_index: 0 })
    const thought: OpenThought = { kind: 'reasoning', place, head, ...empty }
    open = thought
    return { thought, text: before + text }
  }
  const startCall = (event: Extract<CallEvent, { type: 'tool-call-start' }>): string => {
    const before = closeOpen()
    const custom = event.kind === 'custom'
    const call: CalledTool = { callId: event.id, name: event.name, custom, text: '' }
    const { place, text } = begin(custom ? 'ctc' : 'fc', (id) => callItem(id, call, 'in_progress'))
    const kind = custom ? 'custom_tool_call_input' : 'function_call_arguments'
    calls.set(event.index, { place, call, kind, head: deltaHead(`response.${kind}.delta`, place) })
    return before + text
  }

  return {
    output,
    say: (type: Content['type'], text: string): string => (text === '' ? '' : say(type, text)),
    think(text: string): string {
      if (text === '') return ''
      const { thought, text: opening } = ensureThought()
      const at = { ...thought.place, summary_index: 0, part: { type: 'summary_text', text: '' } }
      const added = thought.text === '' ? writer.event('response.reasoning_summary_part.added', at) : ''
      thought.text += text
      return opening + added + writer.delta(thought.head, text)
    },
    /** A thought ends with its proof or with its hidden form; only this vendor's own is handed on. */
    endThought(encrypted?: string): string {
      if (encrypted === undefined) return open?.kind === 'reasoning' ? closeOpen() : ''
      const { thought, text } = ensureThought()
      thought.encrypted = encrypted
      return text + closeOpen()
    },
    cite(citation: Citation): string {
      if (open?.kind !== 'message' || open.part?.type !== 'output_text') return ''
      const annotation = toFlatAnnotation(citation)
      const { annotations } = open.part
      const at = { ...open.place, content_index: open.done.length, annotation_index: annotations.length }
      annotations.push(annotation)
      return writer.event('response.output_text.annotation.added', { ...at, annotation })
    },
    show(data: string): string {
      const before = closeOpen()
      const { place, text } = begin('ig', (id) => imageItem(id, null, 'in_progress'))
      return before + text + finish(place, imageItem(place.item_id, data, 'completed'))
    },
    call(event: CallEvent): string {
      if (event.type === 'tool-call-start') return startCall(event)
      if (event.type === 'tool-call-end') return closeCall(event.index)
      const target = calls.get(event.index)
      if (target === undefined || event.arguments === '') return ''
      target.call.text += event.arguments
      return writer.delta(target.head, event.arguments)
    },
    /** Ends whatever is open; a message that was cut off says so. */
    settle: (status: ItemStatus): string => closeCalls() + closeOpen(status),
  }
}
