import type { Ambient } from '#core/ambient.ts'
import type { Citation } from '#relay/chat/events.ts'
import type { McpCall, WebSearch } from '#relay/chat/hosted/types.ts'
import type { CallEvent } from '../call-queue.ts'
import type { CalledAs } from './agent-tools.ts'
import type { EventWriter } from './event-writer.ts'
import { compactionItem } from './compaction.ts'
import { remoteCallEvents, searchEvents } from './hosted-calls.ts'
import { type ItemStatus, imageItem } from './output-items.ts'
import { createOutputItems } from './item-list.ts'
import { createCalls } from './stream-calls.ts'
import { openMessage } from './stream-message.ts'
import { openReasoning } from './stream-reasoning.ts'

type Message = ReturnType<typeof openMessage>
type Reasoning = ReturnType<typeof openReasoning>

/** The output items of a streamed response: at most one message or reasoning part is open, beside one call. What follows may overtake calls that wait for it to end. */
export function createItems(writer: EventWriter, ambient: Ambient, names: ReadonlyMap<string, CalledAs>) {
  const outputItems = createOutputItems(writer, ambient)
  const calls = createCalls(outputItems, writer, names)
  let open: Message | Reasoning | undefined
  /** Length of the answer's text. */
  let written = 0

  const closePart = (status: ItemStatus = 'completed'): string => {
    const closing = open
    open = undefined
    if (closing === undefined) return ''
    return closing.kind === 'message' ? closing.close(status) : closing.close()
  }
  const closeOpen = (): string => calls.closeEnded() + closePart()
  const message = (): { item: Message; text: string } => {
    if (open?.kind === 'message') return { item: open, text: '' }
    const before = closeOpen()
    const item = openMessage(outputItems, writer)
    open = item
    return { item, text: before + item.opening }
  }
  const reasoning = (): { item: Reasoning; text: string } => {
    if (open?.kind === 'reasoning') return { item: open, text: '' }
    const before = closeOpen()
    const item = openReasoning(outputItems, writer)
    open = item
    return { item, text: before + item.opening }
  }

  return {
    output: outputItems.output,
    say(kind: 'text' | 'transcript' | 'refusal', delta: string): string {
      if (delta === '') return ''
      const { item, text } = message()
      const output = text + item.say(kind !== 'refusal', delta, written)
      if (kind === 'text') written += delta.length
      return output
    },
    think(text: string): string {
      if (text === '') return ''
      const { item, text: opening } = reasoning()
      return opening + item.think(text)
    },
    /** A reasoning part ends with its proof or with its hidden form; only this vendor's own is handed on. */
    endReasoning(encrypted?: string): string {
      if (encrypted === undefined) return open?.kind === 'reasoning' ? closeOpen() : ''
      const { item, text } = reasoning()
      open = undefined
      return text + item.close(encrypted)
    },
    cite: (citation: Citation): string => (open?.kind === 'message' ? open.cite(citation) : ''),
    search: (search: WebSearch): string => closeOpen() + searchEvents(writer, search, outputItems.output),
    callRemote: (call: McpCall): string => closeOpen() + remoteCallEvents(writer, call, outputItems.output),
    show(data: string): string {
      const before = closeOpen()
      const { place, text } = outputItems.begin('ig', (id) => imageItem(id, null, 'in_progress'))
      return before + text + outputItems.finish(place, imageItem(place.item_id, data, 'completed'))
    },
    /** The conversation up to here, in one item that takes its place. */
    compact(summary: string): string {
      const item = compactionItem(summary, ambient)
      const { place, text } = outputItems.begin('cmp', () => item)
      return text + outputItems.finish(place, item)
    },
    call: (event: CallEvent): string => (event.type === 'tool-call-start' ? closePart() : '') + calls.take(event),
    /** Ends whatever is open; what was cut off says so. */
    settle: (status: ItemStatus): string => calls.closeAll(status === 'incomplete') + closePart(status),
  }
}
