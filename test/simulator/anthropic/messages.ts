import { minus, parsedArguments, type Answer, type Finish, type Usage } from '../answer.ts'
import { asObject, asObjects, asText, refuse, type Json, type Prompt } from '../prompt.ts'
import { json, type Call, type ChatOperation, type StreamEvent } from '../types.ts'
import { withPrefixCache } from './prefix-cache.ts'
import { readMessages, signatureOf } from './read.ts'

const stopReasons: Record<Finish, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
}

const stopOf = (answer: Answer) => ({
  stop_reason: answer.stopSequence === null ? stopReasons[answer.finish] : 'stop_sequence',
  stop_sequence: answer.stopSequence,
})

const inputUsage = (usage: Usage) => ({
  input_tokens: minus(usage.prompt, usage.cached, usage.cacheWrite),
  cache_creation_input_tokens: usage.cacheWrite,
  cache_read_input_tokens: usage.cached,
  cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite, ephemeral_1h_input_tokens: 0 },
})

const outputUsage = (usage: Usage) => ({
  output_tokens: usage.completion,
  ...(usage.reasoning === 0 ? {} : { output_tokens_details: { thinking_tokens: usage.reasoning } }),
})

function contentOf(answer: Answer, call: Call): Json[] {
  const content: Json[] = []
  const thinking = answer.reasoning.join('')
  if (thinking) content.push({ type: 'thinking', thinking, signature: signatureOf(thinking) })
  if (answer.text.length > 0) content.push({ type: 'text', text: answer.text.join('') })
  for (const each of answer.toolCalls)
    content.push({
      type: 'tool_use',
      id: call.nextId('toolu_'),
      name: each.name,
      input: parsedArguments(each.arguments),
    })
  return content
}

type Delivered = { id: string; content: Json[] }

const message = (prompt: Prompt, id: string, rest: Json): Json => ({
  id,
  type: 'message',
  role: 'assistant',
  model: prompt.model,
  ...rest,
})

function events(prompt: Prompt, answer: Answer, { id, content }: Delivered): StreamEvent[] {
  const list: StreamEvent[] = []
  const emit = (type: string, fields: Json = {}) =>
    list.push({ event: type, data: JSON.stringify({ type, ...fields }) })
  const { usage } = answer
  const shown = usage ? { ...inputUsage(usage), output_tokens: 1, service_tier: 'standard' } : undefined
  const empty = { content: [], stop_reason: null, stop_sequence: null, ...(shown ? { usage: shown } : {}) }
  emit('message_start', { message: message(prompt, id, empty) })
  let index = 0
  const block = (start: Json, deltas: Json[]) => {
    emit('content_block_start', { index, content_block: start })
    if (index === 0) emit('ping')
    for (const delta of deltas) emit('content_block_delta', { index, delta })
    emit('content_block_stop', { index })
    index += 1
  }
  if (answer.reasoning.length > 0)
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...answer.reasoning.map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: signatureOf(answer.reasoning.join('')) },
    ])
  if (answer.text.length > 0)
    block(
      { type: 'text', text: '' },
      answer.text.map((text) => ({ type: 'text_delta', text })),
    )
  const calls = content.filter((each) => each['type'] === 'tool_use')
  for (const [at, each] of answer.toolCalls.entries()) {
    const middle = Math.ceil(each.arguments.length / 2)
    const halves = ['', each.arguments.slice(0, middle), each.arguments.slice(middle)]
    block(
      { ...calls[at], input: {} },
      halves.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    )
  }
  emit('message_delta', {
    delta: stopOf(answer),
    ...(usage ? { usage: { ...inputUsage(usage), ...outputUsage(usage) } } : {}),
  })
  emit('message_stop')
  return list
}

/** A call that continues a thread, with everything that the thread holds before it: the beta `message-threads` of @anthropic-ai/sdk. */
function withThread(call: Call): Call {
  const { type, previous_message_id: id } = asObject(call.body['thread'])
  if (type !== 'continue') return call
  const before = call.stored.get(asText(id)) ?? refuse(`thread.previous_message_id: ${asText(id)} was not found`)
  const messages = [...asObjects(before['messages']), ...asObjects(call.body['messages'])]
  return { ...call, body: { ...before, ...call.body, messages } }
}

function keepThread(call: Call, { id, content }: Delivered): void {
  if (call.body['thread'] === undefined) return
  const { body } = withThread(call)
  call.stored.set(id, { ...body, messages: [...asObjects(body['messages']), { role: 'assistant', content }] })
}

export const messages: ChatOperation = {
  type: 'chat',
  read: (call) => {
    if (typeof call.body['max_tokens'] !== 'number') refuse('max_tokens: Field required')
    return readMessages(withThread(call))
  },
  write: (prompt, given, call) => {
    const answer = withPrefixCache(given, call)
    const delivered = { content: contentOf(answer, call), id: call.nextId('msg_') }
    keepThread(call, delivered)
    if (prompt.stream) return { type: 'stream', events: events(prompt, answer, delivered) }
    const { usage } = answer
    const shown = usage ? { usage: { ...inputUsage(usage), ...outputUsage(usage), service_tier: 'standard' } } : {}
    return json(message(prompt, delivered.id, { content: delivered.content, ...stopOf(answer), ...shown }))
  },
}

export const countTokens: ChatOperation = {
  type: 'chat',
  read: readMessages,
  write: (_prompt, answer) => json({ input_tokens: answer.usage?.prompt ?? 0 }),
}
