import type { ClientId } from './clients.ts'
import type { FeatureId } from './features.ts'
import { provenUpstreams, type UpstreamId } from './upstreams.ts'

/** Why a cell cannot be: what the vendor or the library has no place for, and where that is written. */
export type Limit = {
  features: FeatureId[]
  upstreams?: UpstreamId[]
  clients?: ClientId[]
  reason: string
  source: string
  /** What `x-translation-loss` must name; absent where nothing that was asked is left out. */
  loss?: string
}

/** The first that fits counts. */
export const limits: Limit[] = [
  {
    clients: ['openai-chat', 'google', 'ai-openai-chat', 'ai-google'],
    features: ['reference'],
    reason: 'The call has no name for an earlier answer: a conversation is sent in full.',
    source: 'chat completions and generateContent: fields of the body',
  },
  {
    clients: ['anthropic', 'ai-anthropic'],
    features: ['reference'],
    reason:
      'Only threads go on from an earlier answer; any other target answers 400, on which a client sends everything.',
    source: 'Messages API, beta `message-threads-2026-08-12`: `thread_unsupported_request`',
  },
  {
    clients: [
      'openai-chat',
      'anthropic',
      'google',
      'ai-openai-chat',
      'ai-openai-responses',
      'ai-anthropic',
      'ai-google',
    ],
    features: ['namespace'],
    reason: 'Only responses has namespaces of tools.',
    source: 'fields of `tools` of each call; `@ai-sdk/openai` writes none',
  },
  {
    clients: ['ai-google'],
    features: ['search'],
    reason: 'The library sends the search alone where the name of a model is none of the third generation of Gemini.',
    source: '`@ai-sdk/google`: its warning "combination of function and provider-defined tools"',
  },
  {
    clients: ['ai-openai-chat'],
    features: ['search'],
    reason: 'The library has no search in chat completions.',
    source: '`@ai-sdk/openai`: `web_search_options` is none of the fields its chat model writes',
  },
  {
    upstreams: ['baidu'],
    features: ['parallel'],
    reason: 'An answer has one function call.',
    source: 'ERNIE chat API: an answer has one `function_call{name, arguments}`',
  },
  {
    upstreams: ['baidu'],
    features: ['image'],
    reason: 'Messages are texts.',
    source: 'ERNIE chat API: `messages[].content` is a string',
    loss: 'image_url',
  },
  {
    upstreams: ['baidu'],
    features: ['thinking'],
    reason: 'No field asks for reasoning and no field of an answer has them.',
    source: 'ERNIE chat API: fields of the body and of the answer',
    loss: 'reasoning_effort',
  },
  {
    upstreams: ['dify', 'coze'],
    features: ['tools', 'parallel', 'long-names', 'reasoning-loop', 'search', 'namespace', 'cache-share'],
    reason: 'Applications and bots have their own tools; callers cannot bring any.',
    source: 'Dify `/chat-messages` and Coze `/v3/chat`: fields of the body',
    loss: 'tools',
  },
  {
    upstreams: ['dify', 'coze'],
    features: ['structured'],
    clients: ['ai-anthropic'],
    reason: 'The library wants JSON by a forced tool, and callers cannot bring any.',
    source: 'Dify `/chat-messages` and Coze `/v3/chat`: fields of the body',
    loss: 'tools',
  },
  {
    upstreams: ['dify', 'coze'],
    features: ['thinking'],
    reason: 'The application or the bot decides whether it thinks.',
    source: 'Dify `/chat-messages` and Coze `/v3/chat`: fields of the body',
    loss: 'reasoning_effort',
  },
  {
    upstreams: ['ollama-native'],
    features: ['structured'],
    clients: ['ai-anthropic'],
    reason: 'The library wants JSON by a forced tool, and the call cannot force one.',
    source: 'Ollama `/api/chat`: fields of the request, no `tool_choice`',
    loss: 'tool_choice',
  },
  {
    clients: ['ai-openai-chat'],
    features: ['thinking'],
    reason: 'The library reads no reasoning in chat completions.',
    source: '`@ai-sdk/openai`: `reasoning_content` is none of the fields its chat model reads',
  },
  {
    clients: ['ai-openai-chat'],
    upstreams: provenUpstreams,
    features: ['reasoning-loop'],
    reason: 'The library keeps no proofs of reasoning in chat completions.',
    source: '`@ai-sdk/openai`: `reasoning_details` is none of the fields its chat model reads',
  },
]

export const limitOf = (client: ClientId, upstream: UpstreamId, feature: FeatureId): Limit | undefined =>
  limits.find(
    (limit) =>
      limit.features.includes(feature) &&
      (limit.upstreams?.includes(upstream) ?? true) &&
      (limit.clients?.includes(client) ?? true),
  )
