import type { ChatEvent } from '#relay/chat/events.ts'
import type { CalledAs } from './agent-tools.ts'
import { type EventWriter, deltaHead } from './event-writer.ts'
import { type CalledTool, argumentsOf, callItem, callStatus } from './output-items.ts'
import type { Place, OutputItems } from './item-list.ts'

type CallEvent = Extract<ChatEvent, { type: `tool-call-${'start' | 'delta' | 'end'}` }>
type OpenCall = { place: Place; call: CalledTool; head: string; name: string }

const isOwn = ({ as }: CalledTool): boolean => as !== undefined && 'kind' in as

/** Calls being written; several may be open side by side, for every delta names its item. */
export function createCalls(outputItems: OutputItems, writer: EventWriter, names: ReadonlyMap<string, CalledAs>) {
  const open = new Map<number, OpenCall>()
  /** A call with free text waits for what follows it: where that is the end of a cut answer, it was cut itself. */
  let ended: number | undefined

  const start = (event: Extract<CallEvent, { type: 'tool-call-start' }>): string => {
    const custom = event.kind === 'custom'
    const call: CalledTool = { callId: event.id, name: event.name, custom, text: '', as: names.get(event.name) }
    const { place, text } = outputItems.begin(custom ? 'ctc' : 'fc', (id) => callItem(id, call, 'in_progress'))
    const name = custom ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
    open.set(event.index, { place, call, name, head: deltaHead(`${name}.delta`, place) })
    return text
  }
  const close = (index: number, cut = false): string => {
    if (index === ended) ended = undefined
    const closing = open.get(index)
    if (closing === undefined) return ''
    open.delete(index)
    const { place, call, name } = closing
    const item = callItem(place.item_id, call, callStatus(call, cut))
    if (isOwn(call)) return outputItems.finish(place, item)
    const value = call.custom ? { input: call.text } : { name: call.name, arguments: argumentsOf(call) }
    const written = writer.event(`${name}.done`, { ...place, ...value })
    return written + outputItems.finish(place, item)
  }
  const closeEnded = (): string => (ended === undefined ? '' : close(ended))
  const end = (index: number): string => {
    if (open.get(index)?.call.custom !== true) return close(index)
    const before = closeEnded()
    ended = index
    return before
  }

  return {
    take(event: CallEvent): string {
      if (event.type === 'tool-call-start') return start(event)
      if (event.type === 'tool-call-end') return end(event.index)
      const target = open.get(event.index)
      if (target === undefined || event.arguments === '') return ''
      target.call.text += event.arguments
      // Its arguments are no text to its caller.
      if (isOwn(target.call)) return ''
      return writer.delta(target.head, event.arguments)
    },
    closeEnded,
    closeAll: (cut: boolean): string => [...open.keys()].map((index) => close(index, cut)).join(''),
  }
}
