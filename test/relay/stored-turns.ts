import { type cut, hang, json, type Step } from '#test/support/scripted-upstream.ts'

/** What an upstream counts for a turn. */
export const read = 100_000
export const written = 40

type Turn = {
  id: string
  usage?: { input_tokens: number; output_tokens: number } | null
  ends?: boolean | typeof cut
  store?: boolean
  length?: number
  /** Items in front of the message. */
  calls?: object[]
}

export const event = (type: string, fields: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
export const wordsOf = (length: number): string[] => Array.from({ length }, () => ' word')

/** A turn of responses, forty words long, streamed and unstreamed. */
export function turnOf({
  id,
  usage = { input_tokens: read, output_tokens: written },
  ends = true,
  store = true,
  length = written,
  calls = [],
}: Turn) {
  const words = wordsOf(length)
  const message = {
    type: 'message',
    id: `msg_${id}`,
    role: 'assistant',
    content: [{ type: 'output_text', text: words.join('') }],
  }
  const response = {
    id,
    object: 'response',
    status: 'completed',
    store,
    model: 'm',
    output: [...calls, message],
    ...(usage && { usage }),
  }
  const steps: Step[] = [
    event('response.created', { response: { id, object: 'response', status: 'in_progress', output: [] } }),
    ...words.map((delta) =>
      event('response.output_text.delta', { item_id: `msg_${id}`, output_index: 0, content_index: 0, delta }),
    ),
    ends === true ? event('response.completed', { response }) : ends || hang,
  ]
  return { stream: { steps }, unstreamed: json(response) }
}

let made = 0
export const newId = () => `resp_of_conversations_${(made += 1)}`
