import { type ChatChoice, type ChatResponse, MalformedUpstream, type ResponsePart } from '#relay/chat/events.ts'
import { type ProviderCall, UpstreamRefusal } from '../types.ts'
import { unwrapInput } from '../shared/custom-tools.ts'
import { refusalOf } from '../shared/failures.ts'
import { type Json, recordOf, recordsOf, textOf, wordOf } from '../shared/json.ts'
import { argumentsText } from '../shared/tool-arguments.ts'
import {
  failedEndOf,
  finishReasonOf,
  readCitations,
  readContent,
  readImages,
  reasoningTextOf,
  toolCallsOf,
} from './answer-parts.ts'
import { readReasoningDetails } from './reasoning.ts'
import type { OpenAiStyle } from './style.ts'
import { readUsage, usageObjectOf } from './usage.ts'

type Reading = Pick<ProviderCall, 'ambient' | 'customTools'>
type ReasoningPart = Extract<ResponsePart, { type: 'reasoning' }>
type ToolCall = Extract<ResponsePart, { type: 'tool-call' }>

function reasoningParts(message: Json, inContent: string): ReasoningPart[] {
  const details = readReasoningDetails(message['reasoning_details'])
  const parts = details.map((detail): ReasoningPart =>
    detail.kind === 'encrypted'
      ? { type: 'reasoning', text: '', encrypted: { dialect: detail.dialect, data: detail.data } }
      : { type: 'reasoning', text: detail.text, ...(detail.signature ? { signature: detail.signature } : {}) },
  )
  const text = reasoningTextOf(message) || inContent
  if (text === '' || parts.some((part) => part.text !== '')) return parts
  return [{ type: 'reasoning', text }, ...parts]
}

function toolCallOf(call: Json, reading: Reading): ToolCall {
  const custom = recordOf(call['custom'])
  const fn = custom ?? recordOf(call['function']) ?? call
  const name = textOf(fn['name']) ?? ''
  const written = custom ? (textOf(custom['input']) ?? '') : argumentsText(fn['arguments'])
  const wrapped = !custom && reading.customTools?.includes(name) === true
  const signature = wordOf(recordOf(recordOf(call['extra_content'])?.['google'])?.['thought_signature'])
  return {
    type: 'tool-call',
    id: wordOf(call['id']) ?? `call_${reading.ambient.newId(24)}`,
    name,
    arguments: wrapped ? unwrapInput(written) : written,
    ...(custom || wrapped ? { kind: 'custom' as const } : {}),
    ...(signature === undefined ? {} : { signature: { dialect: 'gemini' as const, value: signature } }),
  }
}

function callsOf(message: Json, reading: Reading): ToolCall[] {
  const calls = toolCallsOf(message)
  const legacy = recordOf(message['function_call'])
  return (calls.length === 0 && legacy ? [legacy] : calls).map((call) => toolCallOf(call, reading))
}

function textParts(message: Json, text: string): ResponsePart[] {
  const citations = readCitations(message['annotations'])
  const refusal = wordOf(message['refusal'])
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text, ...(citations.length > 0 ? { citations } : {}) }]),
    ...(refusal === undefined ? [] : [{ type: 'refusal' as const, text: refusal }]),
  ]
}

function mediaParts(message: Json): ResponsePart[] {
  const audio = recordOf(message['audio'])
  const data = wordOf(audio?.['data'])
  const transcript = textOf(audio?.['transcript']) ?? ''
  return [
    ...readImages(message['images']).map((image): ResponsePart =>
      'url' in image ? { type: 'text', text: `![image](${image.url})` } : { type: 'image', ...image },
    ),
    ...(data === undefined && transcript === ''
      ? []
      : [{ type: 'audio' as const, data: data ?? '', format: textOf(audio?.['format']) ?? 'wav', transcript }]),
  ]
}

/** Log probabilities of a choice's text. */
export function logprobsOf(choice: Json): unknown[] {
  const content = recordOf(choice['logprobs'])?.['content']
  return Array.isArray(content) ? content : []
}

function choiceOf(choice: Json, reading: Reading): ChatChoice {
  const message = recordOf(choice['message']) ?? {}
  // A completion's choice is its text.
  const content = readContent(message['content'] ?? choice['text'])
  const calls = callsOf(message, reading)
  const parts = [
    ...reasoningParts(message, content.reasoning),
    ...textParts(message, content.text),
    ...mediaParts(message),
    ...calls,
  ]
  const raw = choice['finish_reason']
  const failure = failedEndOf(raw, parts.length > 0)
  if (failure) throw new UpstreamRefusal(failure)
  const logprobs = logprobsOf(choice)
  return { parts, finish: finishReasonOf(raw, calls.length > 0), ...(logprobs.length > 0 ? { logprobs } : {}) }
}

/** The failure a 2xx answer reports at its top or in a choice. */
function refusalIn(style: OpenAiStyle, answer: Json, choices: readonly Json[]): void {
  const failure =
    style.refusal?.read(answer) ??
    refusalOf(answer) ??
    choices.map((choice) => refusalOf(choice)).find((found) => found)
  if (failure) throw new UpstreamRefusal(failure)
}

export function toHubResponse(style: OpenAiStyle, json: unknown, reading: Reading): ChatResponse {
  const answer = recordOf(json)
  if (!answer) throw new MalformedUpstream('the answer is not a JSON object')
  const choices = recordsOf(answer['choices'])
  refusalIn(style, answer, choices)
  if (!Array.isArray(answer['choices'])) throw new MalformedUpstream('the answer has no choices')
  const usage = usageObjectOf(answer)
  const read = choices.map((choice) => choiceOf(choice, reading))
  const citations = style.citations?.(answer) ?? []
  const text = read[0]?.parts.find((part) => part.type === 'text')
  if (text && citations.length > 0) text.citations ??= citations
  return {
    id: wordOf(answer['id']) ?? `chatcmpl-${reading.ambient.newId(24)}`,
    model: textOf(answer['model']) ?? '',
    choices: read,
    ...(usage ? { usage: (style.usage ?? readUsage)(usage) } : {}),
  }
}
