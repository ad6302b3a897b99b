import type { ChatEvent } from '#relay/chat/events.ts'
import type { CalledAs } from './agent-tools.ts'
import { type EventWriter, deltaHead } from './event-writer.ts'
import { type CalledTool, argumentsOf, callItem } from './output-items.ts'
import type { Place, OutputItems } from './item-list.ts'

type CallEvent = Extract<ChatEvent, { type: `tool-call-${'start' | 'delta' | 'end'}` }>
type OpenCall = { place: Place; call: CalledTool; head: string; name: string }

const isOwn = ({ as }: CalledTool): boolean => as !== undefined && 'kind' in as

/** Calls being written; several may be open side by side, for every delta names its item. */
export function createCalls(outputItems: OutputItems, writer: EventWriter, names: ReadonlyMap<string, CalledAs>) {
  const open = new Map<number, OpenCall>()

  const start = (event: Extract<CallEvent, { type: 'tool-call-start' }>): string => {
    const custom = event.kind === 'custom'
    const call: CalledTool = { callId: event.id, name: event.name, custom, text: '', as: names.get(event.name) }
    const { place, text } = outputItems.begin(custom ? 'ctc' : 'fc', (id) => callItem(id, call, 'in_progress'))
    const name = custom ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
    open.set(event.index, { place, call, name, head: deltaHead(`${name}.delta`, place) })
    return text
  }
  const close = (index: number): string => {
    const closing = open.get(index)
    if (closing === undefined) return ''
    open.delete(index)
    const { place, call, name } = closing
    const finished = outputItems.finish.bind(null, place)
    if (isOwn(call)) return finished(callItem(place.item_id, call, 'completed'))
    const value = call.custom ? { input: call.text } : { name: call.name, arguments: argumentsOf(call) }
    const written = writer.event(`${name}.done`, { ...place, ...value })
    return written + finished(callItem(place.item_id, call, 'completed'))
  }

  return {
    take(event: CallEvent): string {
      if (event.type === 'tool-call-start') return start(event)
      if (event.type === 'tool-call-end') return close(event.index)
      const target = open.get(event.index)
      if (target === undefined || event.arguments === '') return ''
      target.call.text += event.arguments
      // Its arguments are no text to its caller.
      if (isOwn(target.call)) return ''
      return writer.delta(target.head, event.arguments)
    },
    closeAll: (): string => [...open.keys()].map(close).join(''),
  }
}
