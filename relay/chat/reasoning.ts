import { collectEvents, replayResponse } from './collect.ts'
import type { ChatEvent, ChatResponse } from './events.ts'
import { createThinkTagSplitter, type ThinkPiece } from './think-tags.ts'

/** Changes a stream event by event; what it holds back leaves with the events that end it. */
export type EventChange = (event: ChatEvent) => ChatEvent[]

export type ReasoningPlace = {
  /** Text between think tags at the beginning of an answer is reasoning. */
  fromTags: boolean
  /** Reasoning stands inside the text, between think tags. */
  asText: boolean
}

const at = (choice: number | undefined): { choice?: number } => (choice ? { choice } : {})

/** Reported beside the answer: none of them begins or ends a reasoning part. */
const isAside = (event: ChatEvent): boolean =>
  event.type === 'start' || event.type === 'usage' || event.type === 'error' || event.type === 'logprobs'

const choiceOf = (event: ChatEvent): number => ('choice' in event ? (event.choice ?? 0) : 0)

function fromTags(): EventChange {
  const splitters = new Map<number, ReturnType<typeof createThinkTagSplitter>>()
  const splitterOf = (choice: number) => {
    const known = splitters.get(choice) ?? createThinkTagSplitter()
    splitters.set(choice, known)
    return known
  }
  const toEvent =
    (choice: number) =>
    ({ kind, text }: ThinkPiece): ChatEvent => ({
      type: kind === 'reasoning' ? 'reasoning-delta' : 'text-delta',
      text,
      ...at(choice),
    })
  return (event) => {
    if (isAside(event)) return [event]
    const choice = choiceOf(event)
    if (event.type === 'text-delta') return splitterOf(choice).push(event.text).map(toEvent(choice))
    if (event.type.startsWith('reasoning-')) return [event]
    return [...(splitters.get(choice)?.end() ?? []).map(toEvent(choice)), event]
  }
}

function asText(): EventChange {
  const open = new Set<number>()
  const text = (delta: string, choice: number): ChatEvent => ({ type: 'text-delta', text: delta, ...at(choice) })
  return (event) => {
    if (isAside(event)) return [event]
    const choice = choiceOf(event)
    if (event.type === 'reasoning-delta') {
      if (event.text === '') return []
      const begins = !open.has(choice)
      open.add(choice)
      return [text(begins ? `<think>\n${event.text}` : event.text, choice)]
    }
    // Proofs of reasoning have no place in a text.
    if (event.type === 'reasoning-signature' || event.type === 'reasoning-encrypted') return []
    if (event.type === 'text-delta' && event.text === '') return []
    return open.delete(choice) ? [text('\n</think>\n', choice), event] : [event]
  }
}

/** The changes a channel's settings ask for, in their order; none gives the events as they are. */
export function moveReasoning(place: ReasoningPlace): EventChange {
  const changes = [...(place.fromTags ? [fromTags()] : []), ...(place.asText ? [asText()] : [])]
  return (event) => changes.reduce((events, change) => events.flatMap(change), [event])
}

/** The same for a complete answer. */
export function moveReasoningOf(response: ChatResponse, place: ReasoningPlace): ChatResponse {
  return place.fromTags || place.asText
    ? collectEvents(replayResponse(response).flatMap(moveReasoning(place)))
    : response
}
