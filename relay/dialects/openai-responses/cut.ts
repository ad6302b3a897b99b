import { type Fields, isObject, parseObject } from '#relay/chat/json.ts'
import type { WireEvent } from '#relay/transport/framing.ts'
import type { CutContext, Cutter } from '../types.ts'
import { failedOutcome, toErrorFields } from './error.ts'
import { outcomeOf, toResponsesUsage } from './response-object.ts'

/** The event's name, which hosts that send none repeat at the beginning of its data. */
const nameOf = ({ event, data }: WireEvent): string =>
  event ?? /"type"\s*:\s*"([^"]*)"/.exec(data.slice(0, 200))?.[1] ?? ''

const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : [])
const wordOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** How many characters of the delivered text an item that is done accounts for. */
function lengthOf(item: Fields): number {
  const parts = [...listOf(item['content']), ...listOf(item['summary'])]
  const texts = parts.map((part) => wordOf(part['text']) + wordOf(part['refusal']))
  return [...texts, wordOf(item['name']), wordOf(item['arguments']), wordOf(item['input'])].join('').length
}

function unfinished(item: Fields, text: string): Fields {
  const status = 'incomplete'
  if (item['type'] === 'function_call') {
    return { ...item, status, arguments: text.slice(wordOf(item['name']).length) }
  }
  if (item['type'] !== 'message') return { ...item, status }
  return { ...item, status, content: [{ type: 'output_text', text, annotations: [], logprobs: [] }] }
}

/** Ends a response: the item being written is closed, and the response is incomplete for `max_output_tokens`, or has failed. */
export function cutOpenAiResponses({ model, ambient }: CutContext): Cutter {
  let created: WireEvent | undefined
  let added: WireEvent | undefined
  let last: WireEvent | undefined
  const done: WireEvent[] = []

  const outputOf = (): Fields[] => done.flatMap((event) => listOf([parseObject(event.data)?.['item']]))
  const headOf = (): Fields => {
    const begun = parseObject(created?.data ?? '')?.['response']
    if (isObject(begun)) return begun
    return { id: '', object: 'response', created_at: Math.floor(ambient.now().getTime() / 1000), model }
  }
  /** Events behind the last one, which go on in its numbering. */
  const behind = (final: Fields) => {
    const events: WireEvent[] = []
    let sequence = typeof final['sequence_number'] === 'number' ? final['sequence_number'] : 0
    const add = (type: string, rest: Fields): void => {
      sequence += 1
      events.push({ event: type, data: JSON.stringify({ type, ...rest, sequence_number: sequence }) })
    }
    return { events, add }
  }

  return {
    watch: (event) => {
      last = event
      const name = nameOf(event)
      if (name === 'response.created') created = event
      else if (name === 'response.output_item.added') added = event
      else if (name === 'response.output_item.done') {
        done.push(event)
        added = undefined
      }
    },
    end: ({ usage, text }) => {
      const final = parseObject(last?.data ?? '') ?? {}
      const { events, add } = behind(final)
      const output = outputOf()
      const opened = parseObject(added?.data ?? '')
      const item = opened && isObject(opened['item']) ? opened['item'] : undefined
      if (opened && item) {
        const trailing = text.slice(output.reduce((sum, finished) => sum + lengthOf(finished), 0))
        const cut = unfinished(item, trailing)
        const at = { item_id: item['id'], output_index: opened['output_index'] }
        if (wordOf(final['type']) === 'response.output_text.delta') {
          const place = { ...at, content_index: final['content_index'] ?? 0 }
          add('response.output_text.done', { ...place, text: trailing, logprobs: [] })
          add('response.content_part.done', { ...place, part: listOf(cut['content'])[0] })
        }
        add('response.output_item.done', { output_index: opened['output_index'], item: cut })
        output.push(cut)
      }
      const response = { ...headOf(), ...outcomeOf('length'), error: null, output, usage: toResponsesUsage(usage) }
      add('response.incomplete', { response })
      return events
    },
    fail: (error) => {
      const { events, add } = behind(parseObject(last?.data ?? '') ?? {})
      add('error', toErrorFields(error))
      add('response.failed', { response: { ...headOf(), ...failedOutcome(error), output: outputOf(), usage: null } })
      return events
    },
  }
}
