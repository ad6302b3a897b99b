import type { ChatEvent, ResponsePart, StreamDecoder, UpstreamFailure } from '#relay/chat/events.ts'
import { type Json, parseRecord, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'
import { failedEndOf, finishReasonOf, indexOf, isOutput, partsOf, type Reading } from './answer-parts.ts'
import { failureIn } from './failure.ts'
import { chargedSearches, findsPlaces, citationsOf, queriesIn, searchesOf } from './grounding.ts'
import { logprobsOf } from './logprobs.ts'
import { readUsage } from './usage.ts'

type Candidate = { toolCalls: number; text: string; spoke: boolean; finished: boolean; queries: Set<string> }

/** One part as events; a call arrives whole. */
function partEvents(part: ResponsePart, candidate: Candidate): ChatEvent[] {
  candidate.spoke ||= isOutput(part)
  switch (part.type) {
    case 'text':
      candidate.text += part.text
      return [{ type: 'text-delta', text: part.text }]
    case 'reasoning':
      return [
        ...(part.text === '' ? [] : [{ type: 'reasoning-delta' as const, text: part.text }]),
        ...(part.signature ? [{ type: 'reasoning-signature' as const, ...part.signature }] : []),
      ]
    case 'tool-call': {
      const { type: _, arguments: text, ...call } = part
      const index = candidate.toolCalls
      candidate.toolCalls += 1
      return [
        { type: 'tool-call-start', index, ...call },
        { type: 'tool-call-delta', index, arguments: text },
        { type: 'tool-call-end', index },
      ]
    }
    case 'image':
      return [part]
    case 'audio':
      return [{ type: 'audio-delta', data: part.data, format: part.format, rate: part.rate }]
    case 'refusal':
      return [{ type: 'refusal-delta', text: part.text }]
    case 'web-search':
    case 'mcp-call':
      return [part]
  }
}

function finishEvents(wire: Json, candidate: Candidate): ChatEvent[] {
  const reason = wordOf(wire['finishReason'])
  if (reason === undefined || candidate.finished) return []
  candidate.finished = true
  return [{ type: 'finish', reason: finishReasonOf(reason, candidate.toolCalls > 0) }]
}

/** Searches are reported behind the text that they led to; a query that was reported before is none. */
function searchEvents(metadata: unknown, { queries }: Candidate, { ambient }: Reading): ChatEvent[] {
  const fresh = queriesIn(metadata).filter((query) => !queries.has(query))
  for (const query of fresh) queries.add(query)
  return searchesOf(metadata, fresh, () => ambient.newId(24)).map((search) => ({ type: 'web-search', search }))
}

function candidateEvents(wire: Json, candidate: Candidate, reading: Reading): ChatEvent[] {
  const parts = partsOf(wire, reading)
  if (parts.some(isOutput)) candidate.finished = false
  const events = parts.flatMap((part) => partEvents(part, candidate))
  const tokens = logprobsOf(wire)
  if (tokens.length > 0) events.push({ type: 'logprobs', tokens })
  for (const citation of citationsOf(wire['groundingMetadata'], candidate.text))
    events.push({ type: 'citation', citation })
  events.push(...searchEvents(wire['groundingMetadata'], candidate, reading))
  return [...events, ...finishEvents(wire, candidate)]
}

export function createGeminiDecoder(reading: Reading): StreamDecoder {
  const candidates = new Map<number, Candidate>()
  let started = false
  let failed = false
  let places = false

  const candidateAt = (index: number): Candidate => {
    const known = candidates.get(index)
    if (known) return known
    const candidate: Candidate = { toolCalls: 0, text: '', spoke: false, finished: false, queries: new Set() }
    candidates.set(index, candidate)
    return candidate
  }

  function begin(chunk: Json): ChatEvent[] {
    if (started) return []
    started = true
    const id = wordOf(chunk['responseId']) ?? `chatcmpl-${reading.ambient.newId(24)}`
    return [{ type: 'start', id, model: textOf(chunk['modelVersion']) ?? '' }]
  }

  function usageEvents(chunk: Json): ChatEvent[] {
    const usage = recordOf(chunk['usageMetadata'])
    if (!usage) return []
    const counted = readUsage(usage)
    const queries = [...candidates.values()].reduce((sum, each) => sum + each.queries.size, 0)
    const searches = chargedSearches(queries, chunk['modelVersion'], places)
    return [{ type: 'usage', usage: searches > 0 ? { ...counted, webSearchCalls: searches } : counted }]
  }

  /** What a failure has cost stands beside it. Nothing else of its event goes out, so that another upstream may still answer. */
  const failWith = (error: UpstreamFailure, chunk: Json): ChatEvent[] => [
    ...usageEvents(chunk),
    { type: 'error', error },
  ]

  function readChunk(chunk: Json): ChatEvent[] {
    const failure = failureIn(chunk)
    if (failure) return failWith(failure, chunk)
    const wires = recordsOf(chunk['candidates'])
    const opening = begin(chunk)
    const events: ChatEvent[] = []
    for (const [place, wire] of wires.entries()) {
      const index = indexOf(wires, place)
      places ||= findsPlaces(wire['groundingMetadata'])
      const own = candidateEvents(wire, candidateAt(index), reading)
      events.push(...(index === 0 ? own : own.map((event) => ({ ...event, choice: index }))))
    }
    const failed = [...candidates.values()].some(({ spoke }) => spoke) ? undefined : failedEndOf(wires)
    if (failed) return failWith(failed, chunk)
    return [...opening, ...events, ...usageEvents(chunk)]
  }

  return {
    push({ data }) {
      if (failed || data.trim() === '[DONE]') return []
      const events = readChunk(parseRecord(data))
      failed = events.some((event) => event.type === 'error')
      return events
    },
    end: () => [],
  }
}
