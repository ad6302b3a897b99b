import { splitList } from '#core/routing/abilities.ts'
import { DomainError } from '#core/errors.ts'
import type { ReportedUsage } from '#core/usage.ts'
import type { Channel } from '#db/entities/channel.ts'
import type { Provider, ProviderCall, UpstreamRequest } from '#relay/providers/types.ts'
import { readObject } from '../rules.ts'

export type ProbeKind = 'chat' | 'embeddings' | 'rerank'

/** Drawing and music services have no small call to try. */
export const untestableTypes = new Set([2, 5, 36])
const embeddingType = 44
const lastResort = 'gpt-4o-mini'

/** The model to try: the one asked for, else the channel's own choice, else its first. */
export function probeModelOf(channel: Channel, asked: string): string {
  if (untestableTypes.has(channel.type)) throw new DomainError('channel.test_unsupported')
  return asked || channel.testModel || splitList(channel.models)[0] || lastResort
}

export function probeKindOf(type: number, model: string): ProbeKind {
  const name = model.toLowerCase()
  if (name.includes('rerank')) return 'rerank'
  const isEmbedding = name.includes('embed') || name.startsWith('m3e') || name.includes('bge-')
  return isEmbedding || type === embeddingType ? 'embeddings' : 'chat'
}

/** Enough for a word, and for the thoughts that some models have before it. */
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

const chatPath = /\/chat\/completions(?=$|\?)/

/**
 * The smallest call that proves a model works. Where the chat call goes to a path of the OpenAI form, its sisters for
 * embeddings and ranking stand beside it; elsewhere those cannot be tried.
 */
export function probeRequest(
  provider: Provider,
  call: ProviderCall,
  probe: { kind: ProbeKind; paramOverride: string },
) {
  const request = provider.chat.request(chatRequest(call.model), call)
  if (probe.kind === 'chat') return withOverride(request, probe.paramOverride)
  if (!chatPath.test(request.url)) throw new DomainError('channel.test_unsupported')
  const path = probe.kind === 'rerank' ? '/rerank' : '/embeddings'
  const body =
    probe.kind === 'rerank'
      ? { model: call.model, query: 'hello', documents: ['hello world'] }
      : { model: call.model, input: ['hello world'] }
  return { ...request, url: request.url.replace(chatPath, path), body }
}

/** Some channels answer only with what their override adds; what is priced or read by stays as it is. */
function withOverride(request: UpstreamRequest, paramOverride: string): UpstreamRequest {
  const override = readObject(paramOverride)
  const { body } = request
  if (!override || typeof body !== 'object' || body === null || body instanceof Uint8Array) return request
  const fixed = new Set(['model', 'stream', 'stream_options', '__proto__'])
  const entries = [...Object.entries(body), ...Object.entries(override).filter(([name]) => !fixed.has(name))]
  return { ...request, body: Object.fromEntries([...new Map(entries)].filter(([, value]) => value !== null)) }
}

/**
 * The usage of a good answer.
 * @throws when the answer says in other words that it failed.
 */
export function readProbe(provider: Provider, call: ProviderCall, answer: { kind: ProbeKind; json: unknown }) {
  if (answer.kind === 'chat') return provider.chat.response(answer.json, call).usage ?? {}
  const body = Object(answer.json) as Record<string, unknown>
  const rows = body['data'] ?? body['results'] ?? body['output']
  if (rows === undefined || rows === null) throw new Error('the answer holds no result')
  const usage = Object(body['usage']) as { prompt_tokens?: number; total_tokens?: number }
  return { promptTokens: usage.prompt_tokens ?? usage.total_tokens } satisfies ReportedUsage
}
