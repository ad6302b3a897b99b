import { type CallEvent, createCallQueue, type QueuedCall } from '../call-queue.ts'
import type { CalledAs } from './agent-tools.ts'
import { type EventWriter, deltaHead } from './event-writer.ts'
import { type CalledTool, argumentsOf, callItem, callStatus } from './output-items.ts'
import type { Place, OutputItems } from './item-list.ts'

type OpenCall = { place: Place; name: string; head: string; isOwn: boolean }

/**
 * Calls being written, one after another although every delta names its item: clients that look at the latest one alone would take
 * what belongs to an earlier one for its own.
 */
export function createCalls(outputItems: OutputItems, writer: EventWriter, names: ReadonlyMap<string, CalledAs>) {
  const opened = new Map<QueuedCall, OpenCall>()
  /** A call with free text waits for what follows it: where that is the end of a cut answer, it was cut itself. */
  let ended: QueuedCall | undefined
  let isCut = false

  const calledTool = ({ id, name, custom, text }: QueuedCall): CalledTool => ({
    callId: id,
    name,
    custom,
    text,
    as: names.get(name),
  })
  const open = (queued: QueuedCall): string => {
    const before = closeEnded()
    const call = { ...calledTool(queued), text: '' }
    const { place, text } = outputItems.begin(call.custom ? 'ctc' : 'fc', (id) => callItem(id, call, 'in_progress'))
    const name = call.custom ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
    const isOwn = call.as !== undefined && 'kind' in call.as
    opened.set(queued, { place, name, head: deltaHead(`${name}.delta`, place), isOwn })
    return before + text
  }
  const write = (queued: QueuedCall, text: string): string => {
    const target = opened.get(queued)
    // Arguments of the vendor's own tools are no text to their caller.
    return target === undefined || target.isOwn || text === '' ? '' : writer.delta(target.head, text)
  }
  const finish = (queued: QueuedCall, cut: boolean): string => {
    const closing = opened.get(queued)
    if (closing === undefined) return ''
    opened.delete(queued)
    const { place, name, head, isOwn } = closing
    const call = calledTool(queued)
    const item = callItem(place.item_id, call, callStatus(call, cut))
    if (isOwn) return outputItems.finish(place, item)
    // Clients know a call by its deltas, and the vendor sends some for a call without arguments too.
    const rest = !call.custom && call.text === '' ? writer.delta(head, argumentsOf(call)) : ''
    const value = call.custom ? { input: call.text } : { name: call.name, arguments: argumentsOf(call) }
    const written = rest + writer.event(`${name}.done`, { ...place, ...value })
    return written + outputItems.finish(place, item)
  }
  const closeEnded = (): string => {
    const closing = ended
    ended = undefined
    return closing === undefined ? '' : finish(closing, isCut)
  }
  const close = (queued: QueuedCall): string => {
    if (!queued.custom) return finish(queued, false)
    const before = closeEnded()
    ended = queued
    return before
  }
  const queue = createCallQueue({ open, write, close })

  return {
    take: (event: CallEvent): string => queue.take(event),
    closeEnded,
    closeAll: (cut: boolean): string => {
      isCut = cut
      return queue.finish() + closeEnded()
    },
  }
}
