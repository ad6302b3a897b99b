import { readObject } from '#core/json-object.ts'
import { mayOffer } from '#core/channel-types/index.ts'
import { splitList } from '#core/routing/abilities.ts'
import { DomainError } from '#core/errors.ts'
import type { ReportedUsage } from '#core/usage.ts'
import type { Channel } from '#db/entities/channel.ts'
import {
  type PlainRequest,
  type Provider,
  type ProviderCall,
  UpstreamRefusal,
  type UpstreamRequest,
} from '#relay/providers/types.ts'
import { withParamOverride } from '#relay/upstream-call/param-override.ts'
import { createEventReader, isEventStream } from '#relay/transport/event-reader.ts'
import type { Answer } from './upstream.ts'

export type ProbeKind = 'chat' | 'embeddings' | 'rerank'

/** Drawing and music services have no small call to try. */
export const untestableTypes = new Set([2, 5, 36])
/** Types that embed, whatever their models are called. */
const embeddingTypes = new Set([38, 44])
const lastResort = 'gpt-4o-mini'

/**
 * The model to try: the one asked for, else the channel's own choice, else its first.
 * @throws {DomainError} channel.test_unsupported
 */
export function probeModelOf(channel: Channel, asked: string): string {
  if (untestableTypes.has(channel.type)) throw new DomainError('channel.test_unsupported')
  return asked || channel.testModel || splitList(channel.models)[0] || lastResort
}

export function probeKindOf(type: number, model: string): ProbeKind {
  const name = model.toLowerCase()
  if (name.includes('rerank')) return 'rerank'
  const isEmbedding = name.includes('embed') || name.startsWith('m3e') || name.includes('bge-')
  return isEmbedding || embeddingTypes.has(type) ? 'embeddings' : 'chat'
}

/** Enough for a word, and for the reasoning that some models have before it. */
function answerLimit(model: string): number {
  const name = model.toLowerCase()
  if (name.includes('thinking') && !name.includes('claude')) return 50
  return name.includes('gemini') ? 300 : 10
}

type HubRequest = Parameters<Provider['chat']['request']>[0]

const chatRequest = (model: string): HubRequest => ({
  model,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  maxTokens: answerLimit(model),
  stop: [],
  stream: false,
  includeUsage: true,
  extra: { dialect: 'openai-chat', fields: {} },
  losses: [],
})

/**
 * The smallest call that proves a model works, as the relay would send it.
 * @throws {DomainError} where the upstream has no call of this kind.
 */
export function probeRequest(
  provider: Provider,
  call: ProviderCall,
  { kind, paramOverride }: { kind: ProbeKind; paramOverride: string },
): UpstreamRequest {
  if (kind === 'chat') {
    if (!mayOffer(call.channel.type, 'chat')) throw new DomainError('channel.test_unsupported')
    // Some channels answer only with what their override adds.
    const request = provider.chat.request(chatRequest(call.model), call)
    return withParamOverride(request, { provider, call, override: readObject(paramOverride) ?? null })
  }
  const translation = mayOffer(call.channel.type, kind) ? provider.plain?.[kind] : undefined
  if (!translation) throw new DomainError('channel.test_unsupported')
  return translation.request(plainRequest(kind, call.model), call)
}

const plainRequest = (kind: 'embeddings' | 'rerank', model: string): PlainRequest => ({
  json: kind === 'rerank' ? { model, query: 'hello', documents: ['hello world'] } : { model, input: ['hello world'] },
  form: null,
})

type GoodAnswer = Extract<Answer, { ok: true }>

/**
 * The usage of a good answer.
 * @throws when the answer says in other words that it failed.
 */
export function readProbe(
  provider: Provider,
  call: ProviderCall,
  { kind, answer }: { kind: ProbeKind; answer: GoodAnswer },
): ReportedUsage {
  if (kind === 'chat' && isEventStream(provider, answer)) return readStream(provider, call, answer)
  const json: unknown = JSON.parse(answer.text)
  if (kind === 'chat') return provider.chat.response(json, call).usage ?? {}
  const translation = provider.plain?.[kind]
  const usage = translation?.usage(json) ?? {}
  const result = translation?.response?.(json, plainRequest(kind, call.model)) ?? json
  const body = Object(result) as Record<string, unknown>
  const rows = body['data'] ?? body['results'] ?? body['output']
  if (rows === undefined || rows === null) throw new Error('the answer holds no result')
  return usage
}

/** Some upstreams stream although nobody asked. */
function readStream(provider: Provider, call: ProviderCall, answer: GoodAnswer): ReportedUsage {
  const decoder = provider.chat.stream(call)
  let usage: ReportedUsage = {}
  let finished = false
  const take = (events: ReturnType<typeof decoder.push>): void => {
    for (const event of events) {
      if (event.type === 'error') throw new UpstreamRefusal(event.error)
      if (event.type === 'usage') usage = event.usage
      finished ||= event.type === 'finish'
    }
  }
  const reader = createEventReader(provider, answer, (event) => take(decoder.push(event)))
  reader.push(answer.bytes)
  reader.end()
  take(decoder.end())
  if (!finished) throw new Error('the stream broke off')
  return usage
}
