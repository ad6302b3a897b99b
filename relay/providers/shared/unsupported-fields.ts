import { DomainError } from '#core/errors.ts'
import type { ChatRequest, Message } from '#relay/chat/request.ts'
import { detailsIn, lossesTowards } from '#relay/chat/losses.ts'
import { formatInstruction } from '../anthropic/output-format.ts'

const holds = ({ messages }: ChatRequest, type: string): boolean =>
  messages.some((message) => message.content.some((part) => part.type === type))

const hasImages = ({ messages }: ChatRequest): boolean =>
  messages.some((message) =>
    message.content.some((part) => part.type === 'tool-result' && part.content.some((inner) => inner.type !== 'text')),
  )

/** What no interface of Claude's form takes, wherever the model is served. Several answers at once are refused. */
export function unsupportedByClaude(request: ChatRequest): Readonly<Record<string, boolean>> {
  if ((request.choiceCount ?? 1) > 1) {
    throw new DomainError('unsupported.answers')
  }
  return {
    seed: request.seed !== undefined,
    frequency_penalty: (request.frequencyPenalty ?? 0) !== 0,
    presence_penalty: (request.presencePenalty ?? 0) !== 0,
    logprobs: request.logprobs === true,
    modalities: request.modalities?.some((modality) => modality !== 'text') === true,
    audio: request.audio !== undefined,
  }
}

/** What of a conversation early services and those with names of their own have no place for. */
export const unplaced = (request: ChatRequest): string[] => [
  ...(holds(request, 'refusal') ? ['refusal'] : []),
  ...(saysAgain(request) ? ['audio'] : []),
  ...detailsIn(request, ['name', 'detail', 'filename']),
]

/** Audio of an earlier answer, which only its vendor keeps. */
const saysAgain = ({ messages }: ChatRequest): boolean =>
  messages.some(({ role, content }) => role === 'assistant' && content.some((part) => part.type === 'audio'))

/** What applications with a model and tools of their own do not support, by the names callers know it under. */
export function unsupported(request: ChatRequest): string[] {
  const given: Readonly<Record<string, boolean>> = {
    tools: request.tools.length > 0,
    temperature: request.temperature !== undefined,
    top_p: request.topP !== undefined,
    top_k: request.topK !== undefined,
    max_tokens: request.maxTokens !== undefined,
    seed: request.seed !== undefined,
    n: (request.choiceCount ?? 1) > 1,
    frequency_penalty: (request.frequencyPenalty ?? 0) !== 0,
    presence_penalty: (request.presencePenalty ?? 0) !== 0,
    logprobs: request.logprobs === true,
    modalities: request.modalities?.some((modality) => modality !== 'text') === true,
    audio: request.audio !== undefined || saysAgain(request),
    service_tier: request.serviceTier !== undefined && request.serviceTier !== 'auto',
    refusal: holds(request, 'refusal'),
    'tool_result.content': hasImages(request),
    is_error: request.messages.some((message) =>
      message.content.some((part) => part.type === 'tool-result' && part.isError === true),
    ),
    stop: request.stop.length > 0,
    reasoning_effort: request.reasoning !== undefined,
    reasoning_content: request.messages.some((message) => message.content.some((part) => part.type === 'reasoning')),
  }
  return [
    ...lossesTowards(request, undefined),
    ...Object.keys(given).filter((name) => given[name]),
    ...detailsIn(request, ['cache_control', 'name', 'detail', 'filename', 'image']),
  ]
}

/** The conversation, begun by the request for a format, where nothing but words can say it. */
export function withFormatInstruction({ messages, responseFormat }: ChatRequest): Message[] {
  const instruction = formatInstruction(responseFormat, false)
  return instruction === undefined
    ? messages
    : [{ role: 'system', content: [{ type: 'text', text: instruction }] }, ...messages]
}
