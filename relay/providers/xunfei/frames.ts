import type { StreamDecoder } from '#relay/chat/events.ts'
import { createOpenAiDecoder } from '../openai-compatible/stream.ts'
import type { OpenAiStyle } from '../openai-compatible/style.ts'
import type { ProviderCall } from '../types.ts'
import { type Json, parseRecord, recordOf, recordsOf, textOf, tryRecord, withoutAbsent } from '../shared/json.ts'
import { refusalIn } from './failures.ts'

/** Where the OpenAI form reads a failure of the vendor's numbers, over either surface. */
export const refusal: NonNullable<OpenAiStyle['refusal']> = {
  mark: '"code"',
  read: (answer) => refusalIn(recordOf(answer['header']) ?? answer),
}

const choicesOf = (frame: Json): Json => recordOf(recordOf(frame['payload'])?.['choices']) ?? {}

/** The last frame of an answer: its status says so, or it reports a failure. */
export function isLastFrame(text: string): boolean {
  const frame = tryRecord(text)
  return frame !== undefined && (choicesOf(frame)['status'] === 2 || refusal.read(frame) !== undefined)
}

/** Frames of the socket as chunks of the OpenAI form. The vendor does not number its calls: each name begins another. */
export function createFrameDecoder(
  style: OpenAiStyle,
  reading: Pick<ProviderCall, 'ambient' | 'customTools'>,
): StreamDecoder {
  const decoder = createOpenAiDecoder(style, reading)
  let called = 0

  function callOf(text: Json): Json[] {
    const given = recordOf(text['function_call'])
    if (!given) return []
    if (textOf(given['name'])) called += 1
    return [{ index: Math.max(called - 1, 0), function: given }]
  }

  function toChunk(frame: Json): Json {
    const header = recordOf(frame['header'])
    const { status, text } = choicesOf(frame)
    const texts = recordsOf(text)
    const calls = texts.flatMap(callOf)
    const delta = withoutAbsent({
      content: texts.map((each) => textOf(each['content']) ?? '').join(''),
      tool_calls: calls.length > 0 ? calls : undefined,
    })
    const reason = called > 0 ? 'tool_calls' : 'stop'
    const hasMessage = texts.length > 0 || status === 2
    return withoutAbsent({
      header,
      id: header?.['sid'],
      choices: hasMessage ? [{ index: 0, delta, finish_reason: status === 2 ? reason : null }] : [],
      usage: recordOf(recordOf(recordOf(frame['payload'])?.['usage'])?.['text']),
    })
  }

  return {
    push: (event) => decoder.pushChunk(toChunk(parseRecord(event.data))),
    end: () => decoder.end(),
  }
}
