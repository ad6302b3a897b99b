import type { Answer } from '../answer.ts'
import { embed } from '../embedding.ts'
import {
  asList,
  asNumber,
  asObject,
  asObjects,
  asText,
  asTexts,
  charactersOf,
  describeBytes,
  refuse,
  type Json,
  type Prompt,
} from '../prompt.ts'
import { json, type Call, type ChatOperation, type Framing, type PlainOperation } from '../types.ts'

/** One JSON value a line. */
const lineFraming: Framing = { contentType: 'application/x-ndjson', frame: ({ data }) => `${data}\n` }

const imageType = (base64: string): string => (base64.startsWith('iVBOR') ? 'image/png' : 'image/jpeg')

/** Images are bytes without a head, contents are text. */
function checkMessages(messages: Json[]): void {
  for (const message of messages) {
    if (typeof message['content'] !== 'string')
      refuse('json: cannot unmarshal into field Message.content of type string')
    for (const image of asTexts(message['images'])) if (image.startsWith('data:')) refuse('illegal base64 data')
    for (const call of asObjects(message['tool_calls']))
      if (typeof asObject(call['function'])['arguments'] !== 'object')
        refuse('json: cannot unmarshal string into field ToolCallFunction.arguments')
  }
}

function readChat({ body }: Call): Prompt {
  const messages = asObjects(body['messages'])
  if (!body['model']) refuse('model is required')
  checkMessages(messages)
  const options = asObject(body['options'])
  const last = messages.at(-1)
  const lastOther = messages.findLastIndex((message) => message['role'] !== 'tool')
  const format = body['format']
  return {
    model: asText(body['model']),
    stream: body['stream'] !== false,
    text: asText(messages.findLast((message) => message['role'] === 'user')?.['content']),
    media:
      last?.['role'] === 'user'
        ? asTexts(last['images']).map((image) => describeBytes('Image', imageType(image), image))
        : [],
    system: messages
      .filter((message) => message['role'] === 'system')
      .map((message) => asText(message['content']))
      .join('\n'),
    tools: asObjects(body['tools']).map((tool) => {
      const fn = asObject(tool['function'])
      return { name: asText(fn['name']), schema: asObject(fn['parameters']) }
    }),
    toolChoice: { mode: 'auto' },
    toolResults: messages.slice(lastOther + 1).map((message) => asText(message['content'])),
    thinking: body['think'] !== undefined && body['think'] !== false,
    json: format === 'json' ? {} : typeof format === 'object' && format !== null ? asObject(format) : undefined,
    maxTokens: asNumber(options['num_predict']),
    stop: asTexts(options['stop']),
    choices: 1,
    characters: charactersOf(messages) + charactersOf(body['tools']),
  }
}

const callsOf = (answer: Answer): Json[] =>
  answer.toolCalls.map((each, index) => ({
    function: { index, name: each.name, arguments: JSON.parse(each.arguments || '{}') as unknown },
  }))

const closing = (answer: Answer): Json => ({
  done_reason: answer.finish === 'length' ? 'length' : 'stop',
  done: true,
  total_duration: 5_191_566_416,
  load_duration: 2_154_458,
  ...(answer.usage ? { prompt_eval_count: answer.usage.prompt, eval_count: answer.usage.completion } : {}),
})

function lines(prompt: Prompt, answer: Answer, at: string): Json[] {
  const line = (message: Json, rest: Json = { done: false }): Json => ({
    model: prompt.model,
    created_at: at,
    message: { role: 'assistant', content: '', ...message },
    ...rest,
  })
  return [
    ...answer.reasoning.map((thinking) => line({ thinking })),
    ...answer.text.map((content) => line({ content })),
    ...callsOf(answer).map((call) => line({ tool_calls: [call] })),
    line({}, closing(answer)),
  ]
}

export const chat: ChatOperation = {
  type: 'chat',
  read: readChat,
  write: (prompt, answer, { now }) => {
    const at = new Date(now * 1000).toISOString()
    if (prompt.stream) {
      const events = lines(prompt, answer, at).map((line) => ({ data: JSON.stringify(line) }))
      return { type: 'stream', events, framing: lineFraming }
    }
    const calls = callsOf(answer)
    const message = {
      role: 'assistant',
      content: answer.text.join(''),
      ...(answer.reasoning.length > 0 ? { thinking: answer.reasoning.join('') } : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    }
    return json({ model: prompt.model, created_at: at, message, ...closing(answer) })
  },
}

export const embeddings: PlainOperation = {
  type: 'plain',
  reply: ({ body }) => {
    const inputs = typeof body['input'] === 'string' ? [body['input']] : asList(body['input']).map(String)
    const dimensions = asNumber(body['dimensions']) ?? 8
    return json({
      model: body['model'],
      embeddings: inputs.map((text) => embed(text, dimensions)),
      total_duration: 14_143_917,
      prompt_eval_count: Math.ceil(inputs.join('').length / 4),
    })
  },
}

export const tags: PlainOperation = {
  type: 'plain',
  reply: () =>
    json({ models: ['llama3.2:latest', 'qwen3:8b'].map((name) => ({ name, model: name, size: 2_019_393_189 })) }),
}
