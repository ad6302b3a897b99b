import type { Answer } from '../answer.ts'
import type { Json } from '../prompt.ts'
import { nameIn, tenthOfASecond } from './wire.ts'

export type RealtimeEvent = { type: string; fields: Json }

type Form = { id: string; beta: boolean; spoken: boolean; nextId: (prefix: string) => string }

/** The events of one answer between `response.created` and `response.done`. */
export function responseEvents(answer: Answer, form: Form): RealtimeEvent[] {
  return answer.toolCalls.length > 0 ? callEvents(answer, form) : messageEvents(answer, form)
}

function messageEvents({ text }: Answer, { beta, spoken, nextId }: Form): RealtimeEvent[] {
  const item = { id: nextId('item_'), object: 'realtime.item', type: 'message', role: 'assistant' }
  const place = { item_id: item.id, output_index: 0, content_index: 0 }
  const words = nameIn(beta, spoken ? 'transcript' : 'text')
  const audio = nameIn(beta, 'audio')
  const unstreamed = text.join('')
  const part = spoken ? { type: 'audio', transcript: unstreamed } : { type: 'text', text: unstreamed }
  const done = { ...item, status: 'completed', content: [part] }
  return [
    {
      type: 'response.output_item.added',
      fields: { output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    },
    {
      type: 'response.content_part.added',
      fields: { ...place, part: { ...part, ...(spoken ? { transcript: '' } : { text: '' }) } },
    },
    // A tenth of a second of audio for every word.
    ...text.flatMap((delta) => [
      { type: `${words}.delta`, fields: { ...place, delta } },
      ...(spoken ? [{ type: `${audio}.delta`, fields: { ...place, delta: tenthOfASecond } }] : []),
    ]),
    ...(spoken ? [{ type: `${audio}.done`, fields: place }] : []),
    { type: `${words}.done`, fields: { ...place, ...(spoken ? { transcript: unstreamed } : { text: unstreamed }) } },
    { type: 'response.content_part.done', fields: { ...place, part } },
    { type: 'response.output_item.done', fields: { output_index: 0, item: done } },
  ]
}

function callEvents({ toolCalls }: Answer, { nextId }: Form): RealtimeEvent[] {
  return toolCalls.flatMap(({ name, arguments: words }, index) => {
    const item = { id: nextId('item_'), object: 'realtime.item', type: 'function_call', name, call_id: nextId('call_') }
    const place = { item_id: item.id, output_index: index, call_id: item.call_id }
    const half = Math.ceil(words.length / 2)
    const deltas = [words.slice(0, half), words.slice(half)].filter(Boolean)
    return [
      { type: 'response.output_item.added', fields: { output_index: index, item: { ...item, arguments: '' } } },
      ...deltas.map((delta) => ({ type: 'response.function_call_arguments.delta', fields: { ...place, delta } })),
      { type: 'response.function_call_arguments.done', fields: { ...place, name, arguments: words } },
      { type: 'response.output_item.done', fields: { output_index: index, item: { ...item, arguments: words } } },
    ]
  })
}
