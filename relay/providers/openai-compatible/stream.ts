import type { WireEvent } from '#relay/transport/framing.ts'
import type { ChatEvent, StreamDecoder } from '#relay/chat/events.ts'
import type { ProviderCall } from '../types.ts'
import { refusalOf } from '../shared/failures.ts'
import { type Json, numberOf, parseRecord, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'
import {
  failedEndOf,
  finishReasonOf,
  hasContent,
  readCitations,
  readContent,
  readImages,
  reasoningTextOf,
  toolCallsOf,
} from './answer-parts.ts'
import { readReasoningDetails } from './reasoning.ts'
import { logprobsOf } from './response.ts'
import type { OpenAiStyle } from './style.ts'
import { createToolCallStream } from './tool-call-stream.ts'
import { readUsage, usageObjectOf } from './usage.ts'

type Choice = {
  index: number | undefined
  calls: ReturnType<typeof createToolCallStream>
  /** The last reason to finish that came. */
  reason: string | undefined
  /** Nothing has come behind that reason. */
  finished: boolean
  spoke: boolean
}

function reasoningEvents(delta: Json, inContent: string): ChatEvent[] {
  const details = readReasoningDetails(delta['reasoning_details'])
  const plain = reasoningTextOf(delta) || inContent
  const text = plain || details.map((detail) => (detail.kind === 'text' ? detail.text : '')).join('')
  const isOfClaude = details.some((detail) => detail.kind === 'text' && detail.dialect === 'claude')
  const events: ChatEvent[] =
    text === '' ? [] : [{ type: 'reasoning-delta', text, ...(isOfClaude ? { signer: 'claude' as const } : {}) }]
  for (const detail of details) {
    if (detail.kind === 'encrypted') {
      events.push({ type: 'reasoning-encrypted', dialect: detail.dialect, data: detail.data })
    } else if (detail.signature) {
      events.push({ type: 'reasoning-signature', ...detail.signature })
    }
  }
  return events
}

function mediaEvents(delta: Json): ChatEvent[] {
  const events = readImages(delta['images']).map((image): ChatEvent =>
    'url' in image ? { type: 'text-delta', text: `![image](${image.url})` } : { type: 'image', ...image },
  )
  const audio = recordOf(delta['audio'])
  const data = textOf(audio?.['data']) ?? ''
  const transcript = wordOf(audio?.['transcript'])
  if (data !== '' || transcript !== undefined) {
    events.push({ type: 'audio-delta', data, ...(transcript === undefined ? {} : { transcript }) })
  }
  return events
}

function deltaEvents(delta: Json): ChatEvent[] {
  const content = readContent(delta['content'])
  const events = reasoningEvents(delta, content.reasoning)
  if (content.text !== '') events.push({ type: 'text-delta', text: content.text })
  const refusal = wordOf(delta['refusal'])
  if (refusal !== undefined) events.push({ type: 'refusal-delta', text: refusal })
  for (const citation of readCitations(delta['annotations'])) events.push({ type: 'citation', citation })
  return [...events, ...mediaEvents(delta)]
}

function callFragments(delta: Json): Json[] {
  const fragments = toolCallsOf(delta)
  const legacy = recordOf(delta['function_call'])
  return fragments.length === 0 && legacy ? [{ index: 0, function: legacy }] : fragments
}

/** `callsGoOn`: the chunk holds a part of a call, which may not be the last one where every chunk has a reason to finish. */
function finishEvents(choice: Choice, raw: unknown, callsGoOn = false): ChatEvent[] {
  if (typeof raw !== 'string' || raw === '') return []
  // Behind another reason `stop` adds nothing: it is written where there is none other.
  if (choice.finished && (raw === choice.reason || raw === 'stop')) return []
  const closing = callsGoOn ? choice.calls.closeComplete() : choice.calls.close()
  const error = failedEndOf(raw, choice.spoke)
  if (error) return [...closing, { type: 'error', error }]
  choice.finished = true
  choice.reason = raw
  return [...closing, { type: 'finish', reason: finishReasonOf(raw, choice.calls.isUsed()), ...at(choice) }]
}

const at = (choice: Choice): { choice?: number } => (choice.index ? { choice: choice.index } : {})

function choiceEvents(choice: Choice, wire: Json): ChatEvent[] {
  const delta = recordOf(wire['delta'])
  const events: ChatEvent[] = []
  const fragments = delta ? callFragments(delta) : []
  if (choice.finished && hasContent(wire)) choice.finished = false
  // A completion's choice is its text.
  const plain = delta ? '' : (textOf(wire['text']) ?? '')
  if (plain !== '') events.push({ type: 'text-delta', text: plain, ...at(choice) })
  if (delta) {
    events.push(...deltaEvents(delta).map((event) => ({ ...event, ...at(choice) })))
    for (const fragment of fragments) events.push(...choice.calls.push(fragment))
    const tokens = logprobsOf(wire)
    if (tokens.length > 0) events.push({ type: 'logprobs', tokens, ...at(choice) })
  }
  choice.spoke ||= events.length > 0
  return [...events, ...finishEvents(choice, wire['finish_reason'], fragments.length > 0)]
}

export function createOpenAiDecoder(
  style: OpenAiStyle,
  call: Pick<ProviderCall, 'ambient' | 'customTools'>,
): StreamDecoder & { pushChunk: (chunk: Json) => ChatEvent[] } {
  const choices = new Map<number, Choice>()
  let started = false
  let failed = false
  let closed = false

  const choiceAt = (index: number): Choice => {
    const known = choices.get(index)
    if (known) return known
    const calls = createToolCallStream(index, call)
    const choice: Choice = {
      index: index === 0 ? undefined : index,
      calls,
      reason: undefined,
      finished: false,
      spoke: false,
    }
    choices.set(index, choice)
    return choice
  }

  const begin = (chunk: Json): ChatEvent[] => {
    if (started) return []
    started = true
    const id = wordOf(chunk['id']) ?? `chatcmpl-${call.ambient.newId(24)}`
    return [{ type: 'start', id, model: textOf(chunk['model']) ?? '' }]
  }

  const fail = (error: Extract<ChatEvent, { type: 'error' }>['error']): ChatEvent[] => {
    failed = true
    return [{ type: 'error', error }]
  }

  /** The closing mark without a finish reason: the answer is complete, only its reason was not reported. Nothing comes behind it. */
  const closeAll = (): ChatEvent[] => {
    closed = true
    return [...choices.values()].flatMap((choice) =>
      choice.finished ? choice.calls.close() : finishEvents(choice, choice.reason ?? 'stop'),
    )
  }

  function readChunk(chunk: Json): ChatEvent[] {
    const wires = recordsOf(chunk['choices'])
    const failure =
      style.refusal?.read(chunk) ?? refusalOf(chunk) ?? wires.map((wire) => refusalOf(wire)).find((found) => found)
    if (failure) return fail(failure)
    const usage = usageObjectOf(chunk)
    const events = wires.length > 0 || usage ? begin(chunk) : []
    for (const wire of wires) events.push(...choiceEvents(choiceAt(numberOf(wire['index']) ?? 0), wire))
    if (wires[0]?.['finish_reason']) {
      for (const citation of style.citations?.(chunk) ?? []) events.splice(-1, 0, { type: 'citation', citation })
    }
    if (usage) events.push({ type: 'usage', usage: (style.usage ?? readUsage)(usage) })
    if (events.some((event) => event.type === 'error')) failed = true
    return events
  }

  return {
    push(event: WireEvent): ChatEvent[] {
      if (failed || closed) return []
      if (event.data.trim() === '[DONE]') return closeAll()
      return readChunk(parseRecord(event.data))
    },
    pushChunk: (chunk: Json): ChatEvent[] => (failed ? [] : readChunk(chunk)),
    end: () => (failed ? [] : [...choices.values()].flatMap((choice) => choice.calls.close())),
  }
}
