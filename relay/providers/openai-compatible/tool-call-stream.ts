import type { ChatEvent } from '#relay/chat/events.ts'
import type { ProviderCall } from '../types.ts'
import { unwrapInput } from '../shared/custom-tools.ts'
import { type Json, numberOf, recordOf, textOf, wordOf } from '../shared/json.ts'
import { argumentsText } from '../shared/tool-arguments.ts'
import { createObjectEnd } from './object-end.ts'

type Slot = {
  index: number
  /** The number the upstream gives the call, where it gives one. */
  upstream: number | undefined
  id: string
  name: string
  custom: boolean
  wrapped: boolean
  signature: string | undefined
  started: boolean
  ended: boolean
  /** What was written so far; before the name is known it waits here. */
  written: string
  end: ReturnType<typeof createObjectEnd>
}

/** What one fragment brings along. */
type Written = { name: string; text: string }

/**
 * The tool calls of one choice, put together from fragments. Vendors number calls, or name them by id, or do neither; some
 * number all of them 0. Calls are counted here, from 0, in the order they begin.
 */
export function createToolCallStream(choice: number | undefined, call: Pick<ProviderCall, 'ambient' | 'customTools'>) {
  const slots: Slot[] = []
  /** Written to since it was last asked whether they are whole: no other can have become it. */
  let touched = new Set<Slot>()
  const at = choice ? { choice } : {}

  /** A name after whole arguments begins another call, also where the vendor says neither its number nor its id. */
  const isNext = (known: Slot, { name, text }: Written): boolean =>
    known.name !== '' && name !== '' && (known.name !== name || text !== '') && known.end.isComplete()

  function slotFor(fragment: Json, written: Written): Slot {
    const { name } = written
    const upstream = numberOf(fragment['index'])
    const id = wordOf(fragment['id'])
    const known =
      upstream !== undefined
        ? slots.findLast((slot) => slot.upstream === upstream)
        : id !== undefined
          ? slots.findLast((slot) => slot.id === id)
          : slots.at(-1)
    const another =
      known !== undefined &&
      (id === undefined ? isNext(known, written) : known.id !== '' && known.id !== id && name !== '')
    if (known && !another) return known
    const slot: Slot = {
      index: slots.length,
      upstream,
      id: id ?? '',
      name: '',
      custom: false,
      wrapped: false,
      signature: undefined,
      started: false,
      ended: false,
      written: '',
      end: createObjectEnd(),
    }
    slots.push(slot)
    return slot
  }

  function start(slot: Slot): ChatEvent[] {
    slot.started = true
    if (slot.id === '') slot.id = `call_${call.ambient.newId(24)}`
    slot.wrapped = !slot.custom && call.customTools?.includes(slot.name) === true
    const event: ChatEvent = { type: 'tool-call-start', index: slot.index, id: slot.id, name: slot.name, ...at }
    if (slot.custom || slot.wrapped) event.kind = 'custom'
    if (slot.signature !== undefined) event.signature = { dialect: 'gemini', value: slot.signature }
    const waiting = slot.wrapped ? '' : slot.written
    return waiting === '' ? [event] : [event, { type: 'tool-call-delta', index: slot.index, arguments: waiting, ...at }]
  }

  function finish(slot: Slot): ChatEvent[] {
    if (slot.ended) return []
    const events = slot.started ? [] : start(slot)
    slot.ended = true
    if (slot.wrapped) {
      events.push({ type: 'tool-call-delta', index: slot.index, arguments: unwrapInput(slot.written), ...at })
    }
    return [...events, { type: 'tool-call-end', index: slot.index, ...at }]
  }

  const finishComplete = (): ChatEvent[] => {
    const asked = [...touched].toSorted((one, other) => one.index - other.index)
    touched = new Set()
    return asked.filter(({ end }) => end.isComplete()).flatMap(finish)
  }

  return {
    isUsed: (): boolean => slots.length > 0,
    push(fragment: Json): ChatEvent[] {
      const custom = recordOf(fragment['custom'])
      const fn = custom ?? recordOf(fragment['function']) ?? {}
      const name = textOf(fn['name']) ?? ''
      const text = custom ? (textOf(custom['input']) ?? '') : argumentsText(fn['arguments'])
      const count = slots.length
      const slot = slotFor(fragment, { name, text })
      if (slot.ended) return []
      // A call whose arguments are whole ends when the next begins, so that it can be handed on at once.
      const events = slots.length > count ? finishComplete() : []
      if (slot.id === '') slot.id = wordOf(fragment['id']) ?? ''
      if (slot.name === '') slot.name = name
      slot.custom ||= custom !== undefined
      slot.signature ??= wordOf(recordOf(recordOf(fragment['extra_content'])?.['google'])?.['thought_signature'])
      slot.written += text
      slot.end.add(text)
      touched.add(slot)
      if (!slot.started) return slot.name === '' ? events : [...events, ...start(slot)]
      if (text !== '' && !slot.wrapped)
        events.push({ type: 'tool-call-delta', index: slot.index, arguments: text, ...at })
      return events
    },
    /** Ends those whose arguments are there. */
    closeComplete: finishComplete,
    close: (): ChatEvent[] => slots.flatMap(finish),
  }
}
