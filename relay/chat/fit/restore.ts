import type { ChatEvent, ChatResponse, StreamDecoder } from '../events.ts'

type CallerNames = ReadonlyMap<string, string>

/** A complete answer in which tools have the caller's names again. */
export function restoreResponse(response: ChatResponse, names: CallerNames): ChatResponse {
  const choices = response.choices.map((choice) => ({
    ...choice,
    parts: choice.parts.map((part) =>
      part.type === 'tool-call' ? { ...part, name: names.get(part.name) ?? part.name } : part,
    ),
  }))
  return { ...response, choices }
}

const restoreEvent = (event: ChatEvent, names: CallerNames): ChatEvent =>
  event.type === 'tool-call-start' ? { ...event, name: names.get(event.name) ?? event.name } : event

/** The same of a stream. */
export const restoringDecoder = (decoder: StreamDecoder, names: CallerNames): StreamDecoder => ({
  ...decoder,
  push: (event) => decoder.push(event).map((each) => restoreEvent(each, names)),
  end: () => decoder.end().map((each) => restoreEvent(each, names)),
})
