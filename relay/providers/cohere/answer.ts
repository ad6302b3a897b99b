import type { ReportedUsage } from '#core/usage.ts'
import {
  type ChatEvent,
  type ChatResponse,
  type Citation,
  type FinishReason,
  MalformedUpstream,
  type ResponsePart,
  type StreamDecoder,
} from '#relay/chat/events.ts'
import { type ProviderCall, UpstreamRefusal } from '../types.ts'
import { unwrapInput } from '../shared/custom-tools.ts'
import { refusalOf } from '../shared/failures.ts'
import { countOf, type Json, numberOf, parseRecord, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'

type Reading = Pick<ProviderCall, 'ambient' | 'customTools'>

const reasons: Readonly<Record<string, FinishReason>> = {
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool-calls',
  ERROR_TOXIC: 'content-filter',
}

const finishOf = (reason: unknown): FinishReason =>
  (typeof reason === 'string' && Object.hasOwn(reasons, reason) ? reasons[reason] : undefined) ?? 'stop'

const isFailure = (reason: unknown): boolean => reason === 'ERROR' || reason === 'TIMEOUT'

const failure = (reason: unknown, message: unknown) => ({
  status: reason === 'TIMEOUT' ? 504 : 500,
  type: 'server_error',
  code: String(reason),
  message: wordOf(message) ?? `the upstream stopped its answer: ${String(reason)}`,
})

/** What is charged counts first, what was read second. */
function readUsage(usage: Json): ReportedUsage {
  const billed = recordOf(usage['billed_units']) ?? {}
  const read = recordOf(usage['tokens']) ?? {}
  return {
    promptTokens: countOf(billed['input_tokens']) ?? countOf(read['input_tokens']),
    cachedTokens: countOf(usage['cached_tokens']),
    completionTokens: countOf(billed['output_tokens']) ?? countOf(read['output_tokens']),
  }
}

/** Arguments that are empty, or say nothing, are an empty object. */
const argumentsOf = (value: unknown): string => {
  const text = textOf(value) ?? ''
  return text === '' || text === 'null' ? '{}' : text
}

function citationsOf(value: unknown): Citation[] {
  return recordsOf(value).flatMap((citation) =>
    recordsOf(citation['sources']).flatMap((source) => {
      const document = recordOf(source['document']) ?? {}
      const url = wordOf(document['url'])
      if (url === undefined) return []
      const [startIndex, endIndex] = [numberOf(citation['start']), numberOf(citation['end'])]
      return [{ url, title: wordOf(document['title']), citedText: wordOf(citation['text']), startIndex, endIndex }]
    }),
  )
}

function toolPart(call: Json, reading: Reading): ResponsePart {
  const fn = recordOf(call['function']) ?? {}
  const name = textOf(fn['name']) ?? ''
  const written = argumentsOf(fn['arguments'])
  const custom = reading.customTools?.includes(name) === true
  return {
    type: 'tool-call',
    id: wordOf(call['id']) ?? `call_${reading.ambient.newId(24)}`,
    name,
    arguments: custom ? unwrapInput(written) : written,
    ...(custom ? { kind: 'custom' as const } : {}),
  }
}

export function fromCohereAnswer(json: unknown, reading: Reading): ChatResponse {
  const answer = recordOf(json)
  if (!answer) throw new MalformedUpstream('the answer is not a JSON object')
  const refused = refusalOf(answer)
  if (refused) throw new UpstreamRefusal(refused)
  const message = recordOf(answer['message'])
  if (!message) throw new MalformedUpstream('the answer has no message')
  const content = recordsOf(message['content'])
  const reasoning = [
    textOf(message['tool_plan']) ?? '',
    ...content.flatMap((part) => (part['type'] === 'thinking' ? (textOf(part['thinking']) ?? '') : [])),
  ].join('')
  const text = content.flatMap((part) => (part['type'] === 'text' ? (textOf(part['text']) ?? '') : [])).join('')
  const citations = citationsOf(message['citations'])
  const parts: ResponsePart[] = [
    ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text, ...(citations.length > 0 ? { citations } : {}) }]),
    ...recordsOf(message['tool_calls']).map((call) => toolPart(call, reading)),
  ]
  const reason = answer['finish_reason']
  if (isFailure(reason) && parts.length === 0) throw new UpstreamRefusal(failure(reason, undefined))
  const usage = recordOf(answer['usage'])
  return {
    id: wordOf(answer['id']) ?? `chatcmpl-${reading.ambient.newId(24)}`,
    model: textOf(answer['model']) ?? '',
    choices: [{ parts, finish: finishOf(reason) }],
    ...(usage ? { usage: readUsage(usage) } : {}),
  }
}

type OpenCall = { index: number; custom: boolean; written: string }

export function createCohereDecoder(reading: Reading): StreamDecoder {
  const open = new Map<number, OpenCall>()
  let calls = 0
  let started = false
  let failed = false

  function begin(event: Json): ChatEvent[] {
    if (started) return []
    started = true
    const id = wordOf(event['id']) ?? `chatcmpl-${reading.ambient.newId(24)}`
    return [{ type: 'start', id, model: '' }]
  }

  function startCall(event: Json, message: Json): ChatEvent[] {
    const call = recordOf(message['tool_calls']) ?? {}
    const fn = recordOf(call['function']) ?? {}
    const name = textOf(fn['name']) ?? ''
    const custom = reading.customTools?.includes(name) === true
    const index = calls
    calls += 1
    const written = textOf(fn['arguments']) ?? ''
    open.set(numberOf(event['index']) ?? index, { index, custom, written })
    const id = wordOf(call['id']) ?? `call_${reading.ambient.newId(24)}`
    const start: ChatEvent = {
      type: 'tool-call-start',
      index,
      id,
      name,
      ...(custom ? { kind: 'custom' as const } : {}),
    }
    return written === '' || custom ? [start] : [start, { type: 'tool-call-delta', index, arguments: written }]
  }

  function continueCall(event: Json, message: Json): ChatEvent[] {
    const call = open.get(numberOf(event['index']) ?? 0)
    const text = textOf(recordOf(recordOf(message['tool_calls'])?.['function'])?.['arguments']) ?? ''
    if (!call || text === '') return []
    call.written += text
    return call.custom ? [] : [{ type: 'tool-call-delta', index: call.index, arguments: text }]
  }

  function endCall(key: number): ChatEvent[] {
    const call = open.get(key)
    open.delete(key)
    if (!call) return []
    const rest = call.custom ? unwrapInput(call.written) : call.written === '' ? '{}' : ''
    const end: ChatEvent = { type: 'tool-call-end', index: call.index }
    return rest === '' ? [end] : [{ type: 'tool-call-delta', index: call.index, arguments: rest }, end]
  }

  const endCalls = (): ChatEvent[] => [...open.keys()].flatMap(endCall)

  function finish(delta: Json): ChatEvent[] {
    const usage = recordOf(delta['usage'])
    const counted: ChatEvent[] = usage ? [{ type: 'usage', usage: readUsage(usage) }] : []
    const reason = delta['finish_reason']
    if (isFailure(reason) || wordOf(delta['error']) !== undefined) {
      return [...counted, { type: 'error', error: failure(reason ?? 'ERROR', delta['error']) }]
    }
    return [...endCalls(), { type: 'finish', reason: finishOf(reason) }, ...counted]
  }

  function readContent(message: Json): ChatEvent[] {
    const content = recordOf(message['content']) ?? {}
    const reasoning = wordOf(content['thinking'])
    const text = wordOf(content['text'])
    return [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning-delta' as const, text: reasoning }]),
      ...(text === undefined ? [] : [{ type: 'text-delta' as const, text }]),
    ]
  }

  function readEvent(event: Json): ChatEvent[] {
    const delta = recordOf(event['delta']) ?? {}
    const message = recordOf(delta['message']) ?? {}
    switch (event['type']) {
      case 'message-start':
        return begin(event)
      case 'content-start':
      case 'content-delta':
        return readContent(message)
      case 'tool-plan-delta': {
        const plan = wordOf(message['tool_plan'])
        return plan === undefined ? [] : [{ type: 'reasoning-delta', text: plan }]
      }
      case 'tool-call-start':
        return startCall(event, message)
      case 'tool-call-delta':
        return continueCall(event, message)
      case 'tool-call-end':
        return endCall(numberOf(event['index']) ?? 0)
      case 'citation-start':
        return citationsOf([message['citations']]).map((citation) => ({ type: 'citation', citation }))
      case 'message-end':
        return finish(delta)
      default: {
        const refused = refusalOf(event)
        return refused ? [{ type: 'error', error: refused }] : []
      }
    }
  }

  return {
    push({ data }) {
      if (failed || data.trim() === '[DONE]') return []
      const events = readEvent(parseRecord(data))
      failed = events.some((event) => event.type === 'error')
      return events.length > 0 && !started && !failed ? [...begin({}), ...events] : events
    },
    end: () => (failed ? [] : endCalls()),
  }
}
