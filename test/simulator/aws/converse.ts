import { minus, sum, parsedArguments, type Answer, type Finish, type Usage } from '../answer.ts'
import type { Json, Prompt } from '../prompt.ts'
import { json, type Call, type ChatOperation, type StreamEvent } from '../types.ts'
import { namedFraming } from './frames.ts'
import { readConverse } from './read-converse.ts'

/** `/model/{id}/converse` and `/model/{id}/converse-stream`, for models of every vendor. */
export const conversePattern = /^\/model\/([^/]+)\/converse(-stream)?$/

const stopReasons: Record<Finish, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'content_filtered',
}

const stopOf = (answer: Answer): string => (answer.stopSequence === null ? stopReasons[answer.finish] : 'stop_sequence')

const usageBody = (usage: Usage): Json => ({
  inputTokens: minus(usage.prompt, usage.cached, usage.cacheWrite),
  outputTokens: usage.completion,
  totalTokens: sum(usage.prompt, usage.completion),
  cacheReadInputTokens: usage.cached,
  cacheWriteInputTokens: usage.cacheWrite,
})

const closing = ({ usage }: Answer): Json => ({
  ...(usage ? { usage: usageBody(usage) } : {}),
  metrics: { latencyMs: 12 },
})

function contentOf(answer: Answer, call: Call): Json[] {
  const content: Json[] = []
  if (answer.reasoning.length > 0)
    content.push({ reasoningContent: { reasoningText: { text: answer.reasoning.join('') } } })
  if (answer.text.length > 0) content.push({ text: answer.text.join('') })
  for (const each of answer.toolCalls) {
    const input = parsedArguments(each.arguments)
    content.push({ toolUse: { toolUseId: call.nextId('tooluse_'), name: each.name, input } })
  }
  return content
}

/** Texts come without the event that opens their block, calls with it. */
function events(answer: Answer, call: Call): StreamEvent[] {
  const list: StreamEvent[] = []
  const emit = (event: string, fields: Json) => list.push({ event, data: JSON.stringify({ ...fields, p: 'abcdef' }) })
  let contentBlockIndex = 0
  const block = (deltas: Json[], start?: Json) => {
    if (deltas.length === 0 && !start) return
    if (start) emit('contentBlockStart', { contentBlockIndex, start })
    for (const delta of deltas) emit('contentBlockDelta', { contentBlockIndex, delta })
    emit('contentBlockStop', { contentBlockIndex })
    contentBlockIndex += 1
  }
  emit('messageStart', { role: 'assistant' })
  block(answer.reasoning.map((text) => ({ reasoningContent: { text } })))
  block(answer.text.map((text) => ({ text })))
  for (const each of answer.toolCalls) {
    const middle = Math.ceil(each.arguments.length / 2)
    const halves = [each.arguments.slice(0, middle), each.arguments.slice(middle)].filter(Boolean)
    block(
      halves.map((input) => ({ toolUse: { input } })),
      { toolUse: { toolUseId: call.nextId('tooluse_'), name: each.name } },
    )
  }
  emit('messageStop', { stopReason: stopOf(answer) })
  emit('metadata', closing(answer))
  return list
}

export const converse: ChatOperation = {
  type: 'chat',
  read: readConverse,
  write: (prompt: Prompt, answer, call) => {
    if (prompt.stream) return { type: 'stream', events: events(answer, call), framing: namedFraming }
    return json({
      output: { message: { role: 'assistant', content: contentOf(answer, call) } },
      stopReason: stopOf(answer),
      ...closing(answer),
    })
  },
}
