import { collectEvents, replayResponse } from './collect.ts'
import { shifted } from './citations.ts'
import type { ChatEvent, ChatResponse, Citation } from './events.ts'
import { createThinkTagSplitter, type ThinkPiece } from './think-tags.ts'

/** Changes a stream event by event; what it holds back leaves with the events that end it. */
export type EventChange = (event: ChatEvent) => ChatEvent[]

export type ReasoningPlace = {
  /** Text between think tags at the beginning of an answer is reasoning. */
  fromTags: boolean
  /** Reasoning stands inside the text, between think tags. */
  asText: boolean
}

const openingTag = '<think>\n'
const closingTag = '\n</think>\n'

const at = (choice: number | undefined): { choice?: number } => (choice ? { choice } : {})

/** Reported beside the answer: none of them begins or ends a reasoning part. */
const isAside = (event: ChatEvent): boolean =>
  event.type === 'start' || event.type === 'usage' || event.type === 'error' || event.type === 'logprobs'

const choiceOf = (event: ChatEvent): number => ('choice' in event ? (event.choice ?? 0) : 0)

function fromTags(): EventChange {
  const splitters = new Map<number, ReturnType<typeof createThinkTagSplitter>>()
  /** Length of what was taken out of the text, in which sources have their places. */
  const removed = new Map<number, number>()
  const splitterOf = (choice: number) => {
    const known = splitters.get(choice) ?? createThinkTagSplitter()
    splitters.set(choice, known)
    return known
  }
  const take = (by: number, choice: number): void => void removed.set(choice, (removed.get(choice) ?? 0) + by)
  const toEvent =
    (choice: number) =>
    ({ kind, text }: ThinkPiece): ChatEvent => {
      if (kind === 'text') take(-text.length, choice)
      return { type: kind === 'reasoning' ? 'reasoning-delta' : 'text-delta', text, ...at(choice) }
    }
  return (event) => {
    if (isAside(event)) return [event]
    const choice = choiceOf(event)
    if (event.type === 'text-delta') {
      take(event.text.length, choice)
      return splitterOf(choice).push(event.text).map(toEvent(choice))
    }
    if (event.type.startsWith('reasoning-')) return [event]
    const held = (splitters.get(choice)?.end() ?? []).map(toEvent(choice))
    if (event.type !== 'citation') return [...held, event]
    return [...held, { ...event, citation: shifted(event.citation, -(removed.get(choice) ?? 0)) }]
  }
}

/** Text that was put into an answer's own: how much of the answer stood before it. */
type Insertion = { behind: number; length: number }

/** Where a place in the answer's own text is among what was put into it. */
const movedPlace = (place: number, insertions: readonly Insertion[], isEnd: boolean): number =>
  insertions.reduce(
    (moved, { behind, length }) => (behind < place || (behind === place && !isEnd) ? moved + length : moved),
    place,
  )

function movedCitation(citation: Citation, insertions: readonly Insertion[]): Citation {
  const { startIndex, endIndex } = citation
  return {
    ...citation,
    ...(startIndex === undefined ? {} : { startIndex: movedPlace(startIndex, insertions, false) }),
    ...(endIndex === undefined ? {} : { endIndex: movedPlace(endIndex, insertions, true) }),
  }
}

type Texts = { written: number; insertions: Insertion[]; open?: Insertion | undefined }

function asText(): EventChange {
  const choices = new Map<number, Texts>()
  const text = (delta: string, choice: number): ChatEvent => ({ type: 'text-delta', text: delta, ...at(choice) })
  const textsOf = (choice: number): Texts => {
    const known = choices.get(choice) ?? { written: 0, insertions: [] }
    choices.set(choice, known)
    return known
  }
  return (event) => {
    if (isAside(event)) return [event]
    const choice = choiceOf(event)
    const texts = textsOf(choice)
    if (event.type === 'reasoning-delta') {
      if (event.text === '') return []
      const delta = texts.open ? event.text : `${openingTag}${event.text}`
      if (!texts.open) texts.insertions.push((texts.open = { behind: texts.written, length: 0 }))
      texts.open.length += delta.length
      return [text(delta, choice)]
    }
    // Proofs of reasoning have no place in a text.
    if (event.type === 'reasoning-signature' || event.type === 'reasoning-encrypted') return []
    if (event.type === 'text-delta' && event.text === '') return []
    const closing = texts.open ? [text(closingTag, choice)] : []
    if (texts.open) texts.open.length += closingTag.length
    texts.open = undefined
    if (event.type === 'text-delta') texts.written += event.text.length
    if (event.type !== 'citation') return [...closing, event]
    return [...closing, { ...event, citation: movedCitation(event.citation, texts.insertions) }]
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
