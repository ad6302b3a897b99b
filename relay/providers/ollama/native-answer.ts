import { MalformedUpstream, type StreamDecoder } from '#relay/chat/events.ts'
import { toHubResponse } from '../openai-compatible/response.ts'
import { createOpenAiDecoder } from '../openai-compatible/stream.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import type { ProviderCall } from '../types.ts'
import { type Json, parseRecord, recordOf, recordsOf, wordOf, withoutAbsent } from '../shared/json.ts'

type Reading = Pick<ProviderCall, 'ambient' | 'customTools'>

/** Calls come whole and without ids here. */
const callsOf = (message: Json, { ambient }: Reading): Json[] =>
  recordsOf(message['tool_calls']).map((call) => ({ id: `call_${ambient.newId(24)}`, type: 'function', ...call }))

function messageOf(answer: Json, reading: Reading): Json {
  const message = recordOf(answer['message']) ?? {}
  const calls = callsOf(message, reading)
  return withoutAbsent({
    role: 'assistant',
    content: message['content'],
    reasoning_content: wordOf(message['thinking']),
    tool_calls: calls.length > 0 ? calls : undefined,
  })
}

function usageFields(answer: Json): Json {
  const { prompt_eval_count: prompt, eval_count: completion } = answer
  return prompt === undefined && completion === undefined
    ? {}
    : { usage: { prompt_tokens: prompt, completion_tokens: completion } }
}

/** `load` and `unload` tell of the model, not of the answer. */
const reasonOf = (answer: Json): string => (answer['done_reason'] === 'length' ? 'length' : 'stop')

/** Whether an answer or a line of one is in the server's own form; errors read the same in both. */
const isNative = (answer: Json): boolean => recordOf(answer['message']) !== undefined || 'done' in answer

export function fromNativeAnswer(style: OpenAiStyle, answer: Json, reading: Reading) {
  if (!isNative(answer)) return toHubResponse(style, answer, reading)
  if (!recordOf(answer['message'])) throw new MalformedUpstream('the answer has no message')
  const choice = { index: 0, message: messageOf(answer, reading), finish_reason: reasonOf(answer) }
  return toHubResponse(style, { model: answer['model'], choices: [choice], ...usageFields(answer) }, reading)
}

function toChunk(line: Json, reading: Reading): Json {
  if (!isNative(line)) return line
  const done = line['done'] === true
  const choice = { index: 0, delta: messageOf(line, reading), finish_reason: done ? reasonOf(line) : null }
  return { model: line['model'], choices: [choice], ...(done ? usageFields(line) : {}) }
}

/** Reads either form, line by line: which one was asked for is not known here. */
export function createOllamaDecoder(style: OpenAiStyle, reading: Reading): StreamDecoder {
  const decoder = createOpenAiDecoder(style, reading)
  return {
    push: (event) =>
      event.data.trim() === '[DONE]'
        ? decoder.push(event)
        : decoder.pushChunk(toChunk(parseRecord(event.data), reading)),
    end: () => decoder.end(),
  }
}
