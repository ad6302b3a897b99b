import type { Answer } from '../answer.ts'
import { asNumber, asObject, asText, asTexts, charactersOf, refuse, type Prompt } from '../prompt.ts'
import { json, type Call, type ChatOperation, type StreamEvent } from '../types.ts'
import { usageBody } from './chat.ts'

function read({ body }: Call): Prompt {
  if (!body['model']) refuse('you must provide a model parameter')
  return {
    model: asText(body['model']),
    stream: body['stream'] === true,
    text: asTexts(body['prompt']).at(-1) ?? '',
    system: '',
    media: [],
    tools: [],
    toolChoice: { mode: 'none' },
    toolResults: [],
    thinking: false,
    json: undefined,
    maxTokens: asNumber(body['max_tokens']),
    stop: asTexts(body['stop']),
    choices: asNumber(body['n']) ?? 1,
    characters: charactersOf(body['prompt']),
  }
}

const finishWord = (answer: Answer) => (answer.finish === 'length' ? 'length' : 'stop')

function events(prompt: Prompt, answer: Answer, call: Call): StreamEvent[] {
  const frame = { id: call.nextId('cmpl-'), object: 'text_completion', created: call.now, model: prompt.model }
  const list: StreamEvent[] = []
  for (let index = 0; index < prompt.choices; index += 1) {
    const chunk = (text: string, finish: string | null) =>
      list.push({
        data: JSON.stringify({ ...frame, choices: [{ text, index, logprobs: null, finish_reason: finish }] }),
      })
    for (const text of answer.text) chunk(text, null)
    chunk('', finishWord(answer))
  }
  if (answer.usage && asObject(call.body['stream_options'])['include_usage'] === true)
    list.push({ data: JSON.stringify({ ...frame, choices: [], usage: usageBody(answer.usage, prompt.choices) }) })
  list.push({ data: '[DONE]' })
  return list
}

export const completions: ChatOperation = {
  type: 'chat',
  read,
  write: (prompt, answer, call) =>
    prompt.stream
      ? { type: 'stream', events: events(prompt, answer, call) }
      : json({
          id: call.nextId('cmpl-'),
          object: 'text_completion',
          created: call.now,
          model: prompt.model,
          choices: Array.from({ length: prompt.choices }, (_, index) => ({
            text: answer.text.join(''),
            index,
            logprobs: null,
            finish_reason: finishWord(answer),
          })),
          ...(answer.usage ? { usage: usageBody(answer.usage, prompt.choices) } : {}),
        }),
}
