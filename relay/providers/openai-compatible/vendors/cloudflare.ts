import { parseJson } from '#core/exact-json.ts'
import { DomainError } from '#core/errors.ts'
import type { UpstreamFailure } from '#relay/chat/events.ts'
import { lossesTowards } from '#relay/chat/losses.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import {
  type Provider,
  type ProviderCall,
  type ProviderChannel,
  type UpstreamRequest,
  UpstreamRefusal,
} from '../../types.ts'
import { type Json, recordOf, recordsOf, textOf, withoutAbsent, wordOf } from '../../shared/json.ts'
import { bearer } from '../address.ts'
import type { OpenAiStyle } from '../style.ts'
import { openAiCompatible } from '../index.ts'
import { reshapedReading } from '../reshaped.ts'
import { cloudflareImages, cloudflareTranscription } from './cloudflare-plain.ts'

const statuses: Readonly<Record<string, number>> = { 10000: 401, 7003: 404, 5007: 404, 3036: 429, 3040: 429 }

/** The account stands in the channel's extra field, or before the token in the key. */
function credentialOf({ key, other }: ProviderChannel): { account: string; token: string } {
  const at = key.indexOf('|')
  return at < 0 ? { account: other, token: key } : { account: other || key.slice(0, at), token: key.slice(at + 1) }
}

const accountUrl = (channel: ProviderChannel): string =>
  `${channel.baseUrl}/client/v4/accounts/${encodeURIComponent(credentialOf(channel).account)}/ai`

/** Names of models are paths; nothing in one may lead elsewhere. */
const modelPath = (model: string): string =>
  model
    .split('/')
    .map((segment) => encodeURIComponent(segment).replace('%40', '@'))
    .join('/')

function firstError(answer: Json, status: number): UpstreamFailure | undefined {
  const [error] = recordsOf(answer['errors'])
  const message = wordOf(error?.['message'])
  if (!error || message === undefined) return undefined
  const code = typeof error['code'] === 'number' ? error['code'] : null
  return { status: statuses[String(code)] ?? status, type: 'upstream_error', code, message, param: null }
}

function error(failure: UpstreamFailure, body: string): UpstreamFailure {
  try {
    return firstError(parseJson(body) as Json, failure.status) ?? failure
  } catch {
    return failure
  }
}

const refusal: NonNullable<OpenAiStyle['refusal']> = {
  mark: '"success"',
  read: (answer) => (answer['success'] === false ? firstError(answer, 500) : undefined),
}

/** Everything but chat and embeddings is asked of the model itself. */
const host = {
  runUrl: ({ channel, model }: ProviderCall) => `${accountUrl(channel)}/run/${modelPath(model)}`,
  headers: ({ channel }: ProviderCall) => bearer(credentialOf(channel).token),
  refuse(json: unknown) {
    const failure = refusal.read(recordOf(json) ?? {})
    if (failure) throw new UpstreamRefusal(failure)
  },
}

const style: OpenAiStyle = {
  id: 'cloudflare',
  label: 'Cloudflare Workers AI',
  channelTypes: [39],
  url: ({ channel }) => `${accountUrl(channel)}/v1/chat/completions`,
  headers: (channel) => bearer(credentialOf(channel).token),
  modelsUrl: (channel) => `${accountUrl(channel)}/models/search`,
  refusal,
  plain: {
    // https://developers.cloudflare.com/workers-ai/models/bge-m3, `text`
    embeddings: { mostInputs: 100 },
    images: cloudflareImages(host),
    transcriptions: cloudflareTranscription(host),
  },
  error,
}

/** Models that go on with a text and know no conversation. */
const continues = /-base(-|$)/

const textIn = ({ messages }: ChatRequest): string =>
  messages.flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? [part.text] : []))).join('\n')

/** `raw` keeps the platform from wrapping the text into a conversation: https://developers.cloudflare.com/workers-ai/features/prompting/ */
function toPrompt(request: ChatRequest, call: ProviderCall): UpstreamRequest {
  if ((request.choiceCount ?? 1) > 1) throw new DomainError('unsupported.answers')
  if (request.plainPrompts !== undefined && request.plainPrompts.tokens > 0)
    throw new DomainError('unsupported.token_prompt')
  return {
    method: 'POST',
    url: host.runUrl(call),
    headers: { 'content-type': 'application/json', ...host.headers(call) },
    body: withoutAbsent({
      prompt: textIn(request),
      raw: true,
      max_tokens: request.maxTokens,
      temperature: request.temperature,
      top_p: request.topP,
      top_k: request.topK,
      seed: request.seed,
      frequency_penalty: request.frequencyPenalty,
      presence_penalty: request.presencePenalty,
      stream: call.stream ? true : undefined,
    }),
    losses: lossesOfPrompt(request),
  }
}

function lossesOfPrompt(request: ChatRequest): string[] {
  const given: Readonly<Record<string, boolean>> = {
    tools: request.tools.length > 0,
    stop: request.stop.length > 0,
    response_format: request.responseFormat !== undefined && request.responseFormat.type !== 'text',
    logprobs: request.logprobs === true,
    reasoning_effort: request.reasoning !== undefined,
    image: request.messages.some(({ content }) => content.some(({ type }) => type === 'image')),
  }
  return [...lossesTowards(request, undefined), ...Object.keys(given).filter((name) => given[name])]
}

const choiceOf = (fields: Json): Json => ({ index: 0, ...fields })

/** `{result: {response}}` in one piece, and `{response}` after `{response}` in a stream. */
const continued = reshapedReading(style, {
  answer: (json) => {
    const result = recordOf(json['result'])
    if (!result) return json
    const message = { role: 'assistant', content: textOf(result['response']) ?? '' }
    return withoutAbsent({ choices: [choiceOf({ message, finish_reason: 'stop' })], usage: result['usage'] })
  },
  chunk: (json) => {
    const content = textOf(json['response'])
    if (content === undefined) return json
    return withoutAbsent({ choices: [choiceOf({ delta: { content } })], usage: json['usage'] })
  },
})

const chatting = openAiCompatible(style)
const chats = (_: unknown, { model }: ProviderCall): boolean => !continues.test(model)

export const cloudflare: Provider = {
  ...chatting,
  chat: {
    ...chatting.chat,
    request: (request, call) =>
      continues.test(call.model) ? toPrompt(request, call) : chatting.chat.request(request, call),
    response: (json, call) => (continues.test(call.model) ? continued : chatting.chat).response(json, call),
    stream: (call) => (continues.test(call.model) ? continued : chatting.chat).stream(call),
  },
  native: Object.fromEntries(
    Object.entries(chatting.native).map(([dialect, native]) => [dialect, { ...native, accepts: chats }]),
  ),
}
