import type { ChatEvent, StreamDecoder } from '#relay/chat/events.ts'
import { shifted } from '#relay/chat/citations.ts'
import { readCitations } from '../openai-compatible/answer-parts.ts'
import type { ProviderCall } from '../types.ts'
import { type Json, numberOf, parseRecord, recordOf, textOf, wordOf } from '../shared/json.ts'
import { createEarlyUsage } from './early-usage.ts'
import { failureIn } from './failure.ts'
import { remoteCallOf, searchOf } from '#relay/chat/hosted/response-items.ts'
import { finishOf, isCutCall, logprobsOf, reasoningOf } from './response.ts'
import { usageOf } from './usage.ts'

type Call = { index: number; written: boolean; ended: boolean }

type State = {
  /** Length of the answer's text, and where each part of a message begins in it. */
  written: number
  begins: Map<string, number>
  reading: Pick<ProviderCall, 'ambient'>
  started: boolean
  finished: boolean
  /** Calls by the number of their item. */
  calls: Map<number, Call>
  /** Reasoning already shown in pieces, by the number of its item. */
  reasoning: Set<number>
  early: ReturnType<typeof createEarlyUsage>
  /** A call ended that was cut off. */
  isCut: boolean
}

const itemNumber = (event: Json): number => numberOf(event['output_index']) ?? 0

function begin(response: Json, state: State): ChatEvent[] {
  if (state.started) return []
  state.started = true
  const id = wordOf(response['id']) ?? `resp_${state.reading.ambient.newId(24)}`
  return [{ type: 'start', id, model: textOf(response['model']) ?? '' }]
}

function startItem(event: Json, state: State): ChatEvent[] {
  const item = recordOf(event['item']) ?? {}
  const custom = item['type'] === 'custom_tool_call'
  if (!custom && item['type'] !== 'function_call') return []
  const index = state.calls.size
  state.calls.set(itemNumber(event), { index, written: false, ended: false })
  const id = wordOf(item['call_id']) ?? wordOf(item['id']) ?? `call_${state.reading.ambient.newId(24)}`
  const start: ChatEvent = { type: 'tool-call-start', index, id, name: textOf(item['name']) ?? '' }
  return [custom ? { ...start, kind: 'custom' } : start]
}

function argumentsEvents(event: Json, text: string, state: State): ChatEvent[] {
  const call = state.calls.get(itemNumber(event))
  if (!call || call.ended || text === '') return []
  call.written = true
  return [{ type: 'tool-call-delta', index: call.index, arguments: text }]
}

/** The whole arguments of a call count only where they did not come in pieces. */
function finalArguments(event: Json, text: string, state: State): ChatEvent[] {
  return state.calls.get(itemNumber(event))?.written ? [] : argumentsEvents(event, text, state)
}

/** A part of a message by the numbers of its item and its own. */
const partOf = (event: Json): string => `${itemNumber(event)}:${numberOf(event['content_index']) ?? 0}`

function textEvents(event: Json, state: State): ChatEvent[] {
  const text = wordOf(event['delta'])
  if (text === undefined) return []
  if (!state.begins.has(partOf(event))) state.begins.set(partOf(event), state.written)
  state.written += text.length
  return [{ type: 'text-delta', text }]
}

/** Offsets count in the part of a message here. */
const citationEvents = (event: Json, state: State): ChatEvent[] =>
  readCitations([event['annotation']]).map((citation) => ({
    type: 'citation',
    citation: shifted(citation, state.begins.get(partOf(event)) ?? state.written),
  }))

function endItem(event: Json, state: State): ChatEvent[] {
  const item = recordOf(event['item']) ?? {}
  const tokens = logprobsOf(item)
  if (tokens.length > 0) return [{ type: 'logprobs', tokens }]
  const search = searchOf(item)
  if (search) return [{ type: 'web-search', search }]
  const remote = remoteCallOf(item)
  if (remote) return [{ type: 'mcp-call', call: remote }]
  if (item['type'] === 'reasoning') {
    const text = state.reasoning.has(itemNumber(event)) ? '' : reasoningOf(item)
    const data = wordOf(item['encrypted_content'])
    return [
      ...(text === '' ? [] : [{ type: 'reasoning-delta' as const, text }]),
      ...(data === undefined
        ? []
        : [{ type: 'reasoning-encrypted' as const, dialect: 'openai-responses' as const, data }]),
    ]
  }
  if (item['type'] === 'image_generation_call') {
    const data = wordOf(item['result'])
    return data === undefined
      ? []
      : [{ type: 'image', mediaType: `image/${textOf(item['output_format']) ?? 'png'}`, data }]
  }
  const call = state.calls.get(itemNumber(event))
  if (!call || call.ended) return []
  const rest = finalArguments(event, textOf(item['arguments']) ?? textOf(item['input']) ?? '', state)
  call.ended = true
  state.isCut ||= isCutCall(item)
  return [...rest, { type: 'tool-call-end', index: call.index }]
}

function reasoningEvents(event: Json, state: State): ChatEvent[] {
  const text = wordOf(event['delta'])
  if (text === undefined) return []
  state.reasoning.add(itemNumber(event))
  return [{ type: 'reasoning-delta', text }]
}

const closeCalls = (state: State): ChatEvent[] =>
  [...state.calls.values()]
    .filter((call) => !call.ended)
    .map((call) => {
      call.ended = true
      return { type: 'tool-call-end', index: call.index }
    })

function finish(event: Json, state: State): ChatEvent[] {
  const response = recordOf(event['response']) ?? {}
  const usage = usageOf(state.early.ended(response))
  const counted: ChatEvent[] = usage ? [{ type: 'usage', usage }] : []
  const error = failureIn({ ...response, status: event['type'] === 'response.failed' ? 'failed' : response['status'] })
  if (error) return [...counted, { type: 'error', error }]
  if (state.finished) return counted
  state.finished = true
  const isCut = event['type'] === 'response.incomplete' || event['type'] === 'response.cancelled'
  const status = isCut ? 'incomplete' : response['status']
  const reason = finishOf({ ...response, status }, state.calls.size > 0 && !state.isCut)
  return [...begin(response, state), ...closeCalls(state), { type: 'finish', reason }, ...counted]
}

function readEvent(event: Json, state: State): ChatEvent[] {
  switch (event['type']) {
    case 'response.created':
      return begin(recordOf(event['response']) ?? {}, state)
    case 'response.output_item.added':
      return startItem(event, state)
    case 'response.output_item.done':
      return endItem(event, state)
    case 'response.output_text.delta':
      return textEvents(event, state)
    case 'response.refusal.delta': {
      const text = wordOf(event['delta'])
      return text === undefined ? [] : [{ type: 'refusal-delta', text }]
    }
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return reasoningEvents(event, state)
    case 'response.reasoning_summary_part.added':
      return (numberOf(event['summary_index']) ?? 0) > 0 ? [{ type: 'reasoning-delta', text: '\n\n' }] : []
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      return argumentsEvents(event, textOf(event['delta']) ?? '', state)
    case 'response.function_call_arguments.done':
      return finalArguments(event, textOf(event['arguments']) ?? '', state)
    case 'response.custom_tool_call_input.done':
      return finalArguments(event, textOf(event['input']) ?? '', state)
    case 'response.output_text.annotation.added':
      return citationEvents(event, state)
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
    case 'response.cancelled':
      return finish(event, state)
    case 'error': {
      const error = failureIn(event)
      return error ? [{ type: 'error', error }] : []
    }
    default:
      return []
  }
}

export function createResponsesDecoder(reading: Pick<ProviderCall, 'ambient'>): StreamDecoder {
  const state: State = {
    written: 0,
    begins: new Map(),
    reading,
    started: false,
    finished: false,
    calls: new Map(),
    reasoning: new Set(),
    early: createEarlyUsage(),
    isCut: false,
  }
  const earlyUsage = (event: Json): ChatEvent[] => {
    const usage = state.early.note(event) ? state.early.usage() : undefined
    return usage ? [{ type: 'usage', usage }] : []
  }
  let failed = false
  return {
    push({ data }) {
      if (failed || data.trim() === '[DONE]') return []
      const event = parseRecord(data)
      const events = [...readEvent(event, state), ...earlyUsage(event)]
      failed = events.some((event) => event.type === 'error')
      const late = !state.started && events.length > 0 && !failed && events[0]?.type !== 'start'
      return late ? [...begin({}, state), ...events] : events
    },
    end: () => (failed ? [] : closeCalls(state)),
  }
}
