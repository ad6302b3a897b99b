import type { ReportedUsage } from '#core/usage.ts'
import {
  type ChatEvent,
  type ChatResponse,
  type FinishReason,
  MalformedUpstream,
  type ResponsePart,
  type StreamDecoder,
} from '#relay/chat/events.ts'
import { failureIn } from '../../anthropic/answer-parts.ts'
import { type ProviderCall, UpstreamRefusal } from '../../types.ts'
import { refusalOf } from '../../shared/failures.ts'
import {
  countOf,
  type Json,
  numberOf,
  parseRecord,
  recordOf,
  recordsOf,
  sumOf,
  textOf,
  wordOf,
} from '../../shared/json.ts'
import { createStartedStream, createStreamedToolCalls, toolCallPart } from '../../shared/streamed-tool-calls.ts'
import { argumentsText } from '../../shared/tool-arguments.ts'

type Reading = Pick<ProviderCall, 'ambient' | 'customTools' | 'model'>

const reasons: Readonly<Record<string, FinishReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  guardrail_intervened: 'content-filter',
  content_filtered: 'content-filter',
}

const finishOf = (reason: unknown): FinishReason =>
  (typeof reason === 'string' && Object.hasOwn(reasons, reason) ? reasons[reason] : undefined) ?? 'stop'

/** What came from and went into the cache is counted beside the input; the hub counts all input together. */
function readUsage(usage: Json): ReportedUsage {
  const cachedTokens = countOf(usage['cacheReadInputTokens'])
  const cacheWriteTokens = countOf(usage['cacheWriteInputTokens'])
  return {
    promptTokens: sumOf(countOf(usage['inputTokens']), cachedTokens, cacheWriteTokens),
    cachedTokens,
    cacheWriteTokens,
    completionTokens: countOf(usage['outputTokens']),
  }
}

function reasoningPart(content: Json): ResponsePart[] {
  const data = wordOf(content['redactedContent'])
  if (data !== undefined) return [{ type: 'reasoning', text: '', encrypted: { dialect: 'claude', data } }]
  const reasoning = recordOf(content['reasoningText']) ?? {}
  const text = textOf(reasoning['text']) ?? ''
  const value = wordOf(reasoning['signature'])
  if (text === '' && value === undefined) return []
  return [{ type: 'reasoning', text, ...(value === undefined ? {} : { signature: { dialect: 'claude', value } }) }]
}

const callIdOf = (use: Json, { ambient }: Reading): string => wordOf(use['toolUseId']) ?? `tooluse_${ambient.newId(22)}`

const toolPart = (use: Json, reading: Reading): ResponsePart =>
  toolCallPart(reading, {
    id: callIdOf(use, reading),
    name: textOf(use['name']) ?? '',
    written: argumentsText(use['input'] ?? {}),
  })

function partsOf(block: Json, reading: Reading): ResponsePart[] {
  const text = wordOf(block['text'])
  if (text !== undefined) return [{ type: 'text', text }]
  const reasoning = recordOf(block['reasoningContent'])
  if (reasoning) return reasoningPart(reasoning)
  const use = recordOf(block['toolUse'])
  return use ? [toolPart(use, reading)] : []
}

export function fromConverseAnswer(json: unknown, reading: Reading): ChatResponse {
  const answer = recordOf(json)
  if (!answer) throw new MalformedUpstream('the answer is not a JSON object')
  const refused = refusalOf(answer)
  if (refused) throw new UpstreamRefusal(refused)
  const message = recordOf(recordOf(answer['output'])?.['message'])
  if (!message) throw new MalformedUpstream('the answer has no message')
  const usage = recordOf(answer['usage'])
  return {
    // The vendor gives its answers no id and does not name the model again.
    id: `msg_${reading.ambient.newId(24)}`,
    model: reading.model,
    choices: [
      {
        parts: recordsOf(message['content']).flatMap((block) => partsOf(block, reading)),
        finish: finishOf(answer['stopReason']),
      },
    ],
    ...(usage ? { usage: readUsage(usage) } : {}),
  }
}

/** Events are distinguished by their names; a text may come without the event that opens its block. */
export function createConverseDecoder(reading: Reading): StreamDecoder {
  const calls = createStreamedToolCalls(reading)
  const begin = (): ChatEvent => ({ type: 'start', id: `msg_${reading.ambient.newId(24)}`, model: reading.model })
  const stream = createStartedStream(begin)
  const positionOf = (event: Json): number => numberOf(event['contentBlockIndex']) ?? 0
  // Claude is called in its own form where its name shows it; who is behind an ARN does not show.
  const signed = reading.model.startsWith('arn:') ? { signer: 'claude' as const } : {}

  function openBlock(event: Json): ChatEvent[] {
    const use = recordOf(recordOf(event['start'])?.['toolUse'])
    if (!use) return []
    const id = callIdOf(use, reading)
    return calls.start(numberOf(event['contentBlockIndex']), { id, name: textOf(use['name']) ?? '' })
  }

  function readReasoning(reasoning: Json): ChatEvent[] {
    const text = wordOf(reasoning['text'])
    const value = wordOf(reasoning['signature'])
    const data = wordOf(reasoning['redactedContent'])
    return [
      ...(text === undefined ? [] : [{ type: 'reasoning-delta' as const, text, ...signed }]),
      ...(value === undefined ? [] : [{ type: 'reasoning-signature' as const, dialect: 'claude' as const, value }]),
      ...(data === undefined ? [] : [{ type: 'reasoning-encrypted' as const, dialect: 'claude' as const, data }]),
    ]
  }

  function readDelta(event: Json): ChatEvent[] {
    const delta = recordOf(event['delta']) ?? {}
    const text = wordOf(delta['text'])
    if (text !== undefined) return [{ type: 'text-delta', text }]
    const use = recordOf(delta['toolUse'])
    if (use) return calls.append(positionOf(event), textOf(use['input']) ?? '')
    return readReasoning(recordOf(delta['reasoningContent']) ?? {})
  }

  function readEvent(name: string | undefined, event: Json): ChatEvent[] {
    switch (name) {
      case 'messageStart':
        return stream.start(begin())
      case 'contentBlockStart':
        return openBlock(event)
      case 'contentBlockDelta':
        return readDelta(event)
      case 'contentBlockStop':
        return calls.end(positionOf(event))
      case 'messageStop':
        return [...calls.endAll(), { type: 'finish', reason: finishOf(event['stopReason']) }]
      case 'metadata': {
        const usage = recordOf(event['usage'])
        return usage ? [{ type: 'usage', usage: readUsage(usage) }] : []
      }
      default: {
        const error = failureIn(event)
        return error ? [{ type: 'error', error }] : []
      }
    }
  }

  return {
    push: ({ event: name, data }) => (stream.failed() ? [] : stream.pass(readEvent(name, parseRecord(data)))),
    end: () => (stream.failed() ? [] : calls.endAll()),
  }
}
