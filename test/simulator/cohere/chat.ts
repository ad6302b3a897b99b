import type { Answer, Finish, Usage } from '../answer.ts'
import type { Json } from '../prompt.ts'
import { json, type Call, type ChatOperation, type StreamEvent } from '../types.ts'
import { readChat } from './read.ts'

const finishWords: Record<Finish, string> = {
  stop: 'COMPLETE',
  length: 'MAX_TOKENS',
  'tool-calls': 'TOOL_CALL',
  'content-filter': 'ERROR_TOXIC',
}

const finishOf = ({ finish, stopSequence }: Answer) => (stopSequence === null ? finishWords[finish] : 'STOP_SEQUENCE')

const usageBody = ({ prompt, completion, cached }: Usage) => ({
  billed_units: { input_tokens: prompt, output_tokens: completion },
  tokens: { input_tokens: prompt, output_tokens: completion },
  cached_tokens: cached,
})

const callBodies = (answer: Answer, call: Call) =>
  answer.toolCalls.map((each) => ({
    id: call.nextId(`${each.name}_`),
    type: 'function',
    function: { name: each.name, arguments: each.arguments },
  }))

function unstreamed(answer: Answer, call: Call): Json {
  const content = [
    ...(answer.reasoning.length > 0 ? [{ type: 'thinking', thinking: answer.reasoning.join('') }] : []),
    ...(answer.text.length > 0 ? [{ type: 'text', text: answer.text.join('') }] : []),
  ]
  const calls = callBodies(answer, call)
  return {
    id: call.nextId('co-'),
    finish_reason: finishOf(answer),
    message: {
      role: 'assistant',
      ...(content.length > 0 ? { content } : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
    ...(answer.usage ? { usage: usageBody(answer.usage) } : {}),
  }
}

function events(answer: Answer, call: Call): StreamEvent[] {
  const list: StreamEvent[] = []
  const emit = (type: string, fields: Json) => list.push({ event: type, data: JSON.stringify({ type, ...fields }) })
  emit('message-start', { id: call.nextId('co-'), delta: { message: { role: 'assistant', content: [] } } })
  const parts = [
    { type: 'thinking', pieces: answer.reasoning },
    { type: 'text', pieces: answer.text },
  ].filter(({ pieces }) => pieces.length > 0)
  parts.forEach(({ type, pieces }, index) => {
    emit('content-start', { index, delta: { message: { content: { type, [type]: '' } } } })
    for (const piece of pieces) emit('content-delta', { index, delta: { message: { content: { [type]: piece } } } })
    emit('content-end', { index })
  })
  callBodies(answer, call).forEach((each, index) => {
    const text = each.function.arguments
    const middle = Math.ceil(text.length / 2)
    const opening = { ...each, function: { name: each.function.name, arguments: '' } }
    emit('tool-call-start', { index, delta: { message: { tool_calls: opening } } })
    for (const half of [text.slice(0, middle), text.slice(middle)].filter(Boolean))
      emit('tool-call-delta', { index, delta: { message: { tool_calls: { function: { arguments: half } } } } })
    emit('tool-call-end', { index })
  })
  const usage = answer.usage ? { usage: usageBody(answer.usage) } : {}
  emit('message-end', { delta: { finish_reason: finishOf(answer), ...usage } })
  return list
}

/** The second version of the chat call. */
export const chat: ChatOperation = {
  type: 'chat',
  read: readChat,
  write: (prompt, answer, call) =>
    prompt.stream ? { type: 'stream', events: events(answer, call) } : json(unstreamed(answer, call)),
}
