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
import { refusalOf } from '../shared/failures.ts'
import { createStartedStream, createStreamedToolCalls, toolCallPart } from '../shared/streamed-tool-calls.ts'
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

const callIdOf = (call: Json, { ambient }: Reading): string => wordOf(call['id']) ?? `call_${ambient.newId(24)}`

function toolPart(call: Json, reading: Reading): ResponsePart {
  const fn = recordOf(call['function']) ?? {}
  return toolCallPart(reading, {
    id: callIdOf(call, reading),
    name: textOf(fn['name']) ?? '',
    written: argumentsOf(fn['arguments']),
  })
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
  const usage = recordOf(answer['usage'])
  if (isFailure(reason) && parts.length === 0)
    throw new UpstreamRefusal(failure(reason, undefined), usage ? readUsage(usage) : undefined)
  return {
    id: wordOf(answer['id']) ?? `chatcmpl-${reading.ambient.newId(24)}`,
    model: textOf(answer['model']) ?? '',
    choices: [{ parts, finish: finishOf(reason) }],
    ...(usage ? { usage: readUsage(usage) } : {}),
  }
}

export function createCohereDecoder(reading: Reading): StreamDecoder {
  const calls = createStreamedToolCalls(reading)
  const begin = (event: Json): ChatEvent => {
    const id = wordOf(event['id']) ?? `chatcmpl-${reading.ambient.newId(24)}`
    return { type: 'start', id, model: '' }
  }
  const stream = createStartedStream(() => begin({}))
  const positionOf = (event: Json): number => numberOf(event['index']) ?? 0

  function startCall(event: Json, message: Json): ChatEvent[] {
    const call = recordOf(message['tool_calls']) ?? {}
    const fn = recordOf(call['function']) ?? {}
    const written = textOf(fn['arguments']) ?? ''
    return calls.start(numberOf(event['index']), {
      id: callIdOf(call, reading),
      name: textOf(fn['name']) ?? '',
      written,
    })
  }

  function continueCall(event: Json, message: Json): ChatEvent[] {
    const text = textOf(recordOf(recordOf(message['tool_calls'])?.['function'])?.['arguments']) ?? ''
    return calls.append(positionOf(event), text)
  }

  function finish(delta: Json): ChatEvent[] {
    const usage = recordOf(delta['usage'])
    const counted: ChatEvent[] = usage ? [{ type: 'usage', usage: readUsage(usage) }] : []
    const reason = delta['finish_reason']
    if (isFailure(reason) || wordOf(delta['error']) !== undefined) {
      return [...counted, { type: 'error', error: failure(reason ?? 'ERROR', delta['error']) }]
    }
    return [...calls.endAll(), { type: 'finish', reason: finishOf(reason) }, ...counted]
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
        return stream.start(begin(event))
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
        return calls.end(positionOf(event))
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
    push: ({ data }) => (stream.failed() || data.trim() === '[DONE]' ? [] : stream.pass(readEvent(parseRecord(data)))),
    end: () => (stream.failed() ? [] : calls.endAll()),
  }
}
