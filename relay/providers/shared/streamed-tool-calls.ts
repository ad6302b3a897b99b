import type { ChatEvent, ResponsePart } from '#relay/chat/events.ts'
import type { ProviderCall } from '../types.ts'
import { unwrapInput } from './custom-tools.ts'

type Reading = Pick<ProviderCall, 'customTools'>
type OpenCall = { index: number; custom: boolean; written: string }

const isCustom = ({ customTools }: Reading, name: string): boolean => customTools?.includes(name) === true

/** A tool call of a complete answer; `written` are its arguments as text. */
export function toolCallPart(
  reading: Reading,
  { id, name, written }: { id: string; name: string; written: string },
): ResponsePart {
  const custom = isCustom(reading, name)
  const call = { type: 'tool-call' as const, id, name, arguments: custom ? unwrapInput(written) : written }
  return custom ? { ...call, kind: 'custom' } : call
}

/**
 * The tool calls of a stream, each by the position that its upstream gives it; undefined is the next one. Custom tools' input
 * leaves in one piece, for it is wrapped in an object.
 */
export function createStreamedToolCalls(reading: Reading) {
  const open = new Map<number, OpenCall>()
  let calls = 0

  const end = (position: number): ChatEvent[] => {
    const call = open.get(position)
    open.delete(position)
    if (!call) return []
    const rest = call.custom ? unwrapInput(call.written) : call.written === '' ? '{}' : ''
    const closing: ChatEvent = { type: 'tool-call-end', index: call.index }
    return rest === '' ? [closing] : [{ type: 'tool-call-delta', index: call.index, arguments: rest }, closing]
  }

  return {
    start(position: number | undefined, { id, name, written = '' }: { id: string; name: string; written?: string }) {
      const custom = isCustom(reading, name)
      const index = calls
      calls += 1
      open.set(position ?? index, { index, custom, written })
      const opening: ChatEvent[] = [
        { type: 'tool-call-start', index, id, name, ...(custom ? { kind: 'custom' as const } : {}) },
      ]
      if (written !== '' && !custom) opening.push({ type: 'tool-call-delta', index, arguments: written })
      return opening
    },
    append(position: number, text: string): ChatEvent[] {
      const call = open.get(position)
      if (!call || text === '') return []
      call.written += text
      return call.custom ? [] : [{ type: 'tool-call-delta', index: call.index, arguments: text }]
    },
    end,
    endAll: (): ChatEvent[] => [...open.keys()].flatMap(end),
  }
}

/**
 * A decoder's ends: nothing follows an error, and the `start` event comes first, whatever the upstream sends first.
 * `begin` gives it for an event that lacks one.
 */
export function createStartedStream(begin: () => ChatEvent) {
  let started = false
  let failed = false
  return {
    failed: () => failed,
    start(event: ChatEvent): ChatEvent[] {
      if (started) return []
      started = true
      return [event]
    },
    pass(events: ChatEvent[]): ChatEvent[] {
      failed = events.some((event) => event.type === 'error')
      if (events.length === 0 || started || failed) return events
      started = true
      return [begin(), ...events]
    },
  }
}
