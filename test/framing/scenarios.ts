/** One answer as each kind of upstream streams it: "Grüße 好 𝄞" in three deltas, three tokens for five. */
export type Scenario = {
  upstream: string
  /** Number of the channel type. */
  type: number
  events: { event?: string; data: string }[]
}

const words = ['Grü', 'ße 好', ' 𝄞\n']

const chatChunk = (delta: object, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'upstream',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
  ...more,
})
const finished = { choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }] }
const chatUsage = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 } }

const chat = [
  chatChunk({ role: 'assistant', content: '' }),
  ...words.map((content) => chatChunk({ content })),
  chatChunk({}, finished),
  chatChunk({}, chatUsage),
]

const claude = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'upstream',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  ...words.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
]

const geminiChunk = (text: string, more: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...more }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
  modelVersion: 'upstream',
  responseId: 'r1',
})

const gemini = [...words.map((text) => geminiChunk(text)), geminiChunk('', { finishReason: 'STOP' })]

const item = { type: 'message', id: 'msg_1', role: 'assistant' }
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'upstream', store: false, output: [] }
const outputText = { type: 'output_text', text: words.join(''), annotations: [] }
const responses = [
  { type: 'response.created', response: { ...response, status: 'in_progress' } },
  { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
  { type: 'response.content_part.added', ...place, part: { ...outputText, text: '' } },
  ...words.map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
  { type: 'response.output_text.done', ...place, text: outputText.text },
  { type: 'response.output_item.done', output_index: 0, item: { ...item, status: 'completed', content: [outputText] } },
  {
    type: 'response.completed',
    response: {
      ...response,
      status: 'completed',
      output: [{ ...item, status: 'completed', content: [outputText] }],
      usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 },
    },
  },
].map((event, sequence_number) => ({ ...event, sequence_number }))

const plain = (values: object[]) => values.map((value) => ({ data: JSON.stringify(value) }))
const named = (values: { type: string }[]) =>
  values.map((value) => ({ event: value.type, data: JSON.stringify(value) }))

export const scenarios: Scenario[] = [
  { upstream: 'chat completions', type: 31, events: [...plain(chat), { data: '[DONE]' }] },
  { upstream: 'messages', type: 14, events: named(claude) },
  { upstream: 'generateContent', type: 24, events: plain(gemini) },
  { upstream: 'responses', type: 1, events: named(responses) },
]

export type Framing = {
  lineEnd?: string
  space?: string
  comments?: boolean
  byteOrderMark?: boolean
  /** The JSON of an event over several data lines. */
  manyLines?: boolean
  lastBlankLine?: boolean
  /** Fields that nobody asked for. */
  extraFields?: boolean
}

/** An event with its closing blank line. */
export function frameOf({ event, data }: Scenario['events'][number], how: Framing = {}): string {
  const { lineEnd = '\n', space = ' ', comments = false, manyLines = false, extraFields = false } = how
  const text = manyLines && data !== '[DONE]' ? JSON.stringify(JSON.parse(data), null, 1) : data
  const lines = [
    ...(comments ? [': still here', ''] : []),
    ...(extraFields ? [`id:${space}7`, `retry:${space}1000`, 'nonsense'] : []),
    ...(event === undefined ? [] : [`event:${space}${event}`]),
    ...text.split('\n').map((line) => `data:${space}${line}`),
    '',
    '',
  ]
  return lines.join(lineEnd)
}

export function bytesOf({ events }: Scenario, how: Framing = {}): Buffer {
  const text = events.map((event) => frameOf(event, how)).join('')
  const cut = how.lastBlankLine === false ? text.replace(/[\r\n]+$/, '') : text
  return Buffer.from((how.byteOrderMark ? '\ufeff' : '') + cut)
}

export const inPieces = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))

/** Times and made-up ids differ from answer to answer. */
export const steady = (text: string): string =>
  text
    .replaceAll(/"(created|created_at|completed_at|expires_at)":\d+/g, '"$1":0')
    .replaceAll(/"(chatcmpl-|cmpl-|msg_|resp_|rs_|fc_)?[A-Za-z0-9]{24,32}"/g, '"$1id"')
    .replaceAll(/"(responseId|id)":"[^"]*"/g, '"$1":"id"')
    .replaceAll(/"item_id":"[^"]*"/g, '"item_id":"id"')
