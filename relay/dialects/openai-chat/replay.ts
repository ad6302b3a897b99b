import type { ChatResponse } from '#relay/chat/events.ts'
import type { EncodeContext } from '../types.ts'
import { toChatCompletion } from './encode.ts'

/** A complete answer as a stream of one chunk, with the usage after it where the caller asked, and the end mark. */
export function replayOpenAiChat(response: ChatResponse, context: EncodeContext): string {
  const { choices, usage, ...answer } = toChatCompletion(response, context)
  const head = { ...answer, object: 'chat.completion.chunk' }
  const chunk = { ...head, choices: choices.map(({ message, ...choice }) => ({ ...choice, delta: toDelta(message) })) }
  const counted = context.includeUsage && usage !== undefined ? [{ ...head, choices: [], usage }] : []
  const events = [chunk, ...counted].map((event) => `data: ${JSON.stringify(event)}\n\n`)
  return `${events.join('')}data: [DONE]\n\n`
}

type Message = ReturnType<typeof toChatCompletion>['choices'][number]['message']

/** Calls in a chunk are numbered. */
const toDelta = ({ tool_calls: calls, ...message }: Message) => ({
  ...message,
  ...(calls === undefined ? {} : { tool_calls: calls.map((call, index) => ({ index, ...call })) }),
})
