import type { Ambient } from '#core/ambient.ts'
import type { ChatEvent, ChatResponse, StreamDecoder, WireEvent } from '#relay/chat/events.ts'

/** For reading an answer only to count it: ids it lacks are shown to nobody. */
export const nameless: { ambient: Ambient } = { ambient: { now: () => new Date(0), newId: () => '', random: () => 0 } }

export type Delivered = { text: string; toolCalls: number }

function add(pieces: string[], event: ChatEvent): number {
  if (event.type === 'text-delta' || event.type === 'reasoning-delta' || event.type === 'refusal-delta') {
    pieces.push(event.text)
  } else if (event.type === 'tool-call-delta') {
    pieces.push(event.arguments)
  } else if (event.type === 'tool-call-start') {
    pieces.push(event.name)
    return 1
  }
  return 0
}

/** Everything the model wrote in a stream, read late and forgivingly: an event that cannot be read counts for nothing. */
export function deliveredInStream(decoder: StreamDecoder, events: readonly WireEvent[]): Delivered {
  const pieces: string[] = []
  let toolCalls = 0
  const take = (read: () => ChatEvent[]): void => {
    try {
      for (const event of read()) toolCalls += add(pieces, event)
    } catch {
      // What cannot be read cannot be counted.
    }
  }
  for (const event of events) take(() => decoder.push(event))
  take(() => decoder.end())
  return { text: pieces.join(''), toolCalls }
}

/** Everything the model wrote in a whole answer. */
export function deliveredInResponse(response: ChatResponse): Delivered {
  const pieces: string[] = []
  let toolCalls = 0
  for (const part of response.choices.flatMap((choice) => choice.parts)) {
    if (part.type === 'tool-call') {
      toolCalls += 1
      pieces.push(part.name, part.arguments)
    } else if (part.type === 'audio') {
      pieces.push(part.transcript)
    } else if (part.type !== 'image') {
      pieces.push(part.text)
    }
  }
  return { text: pieces.join(''), toolCalls }
}

/** No text, no reasoning, no tool call, no picture. */
export const isEmptyResponse = (response: ChatResponse): boolean =>
  !response.choices.some((choice) =>
    choice.parts.some((part) =>
      part.type === 'text' || part.type === 'reasoning' || part.type === 'refusal'
        ? part.text !== '' || (part.type === 'reasoning' && part.encrypted !== undefined)
        : true,
    ),
  )
