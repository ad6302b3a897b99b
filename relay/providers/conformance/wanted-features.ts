import type { AssistantPart, ChatRequest, DialectId, UserPart, WebSearchTool } from '#relay/chat/request.ts'
import { dialects } from '#relay/dialects/registry.ts'
import { anthropic } from '../anthropic/index.ts'
import { gemini } from '../gemini/index.ts'
import { openai } from '../openai-compatible/vendors/openai.ts'
import type { Provider, ProviderCall } from '../types.ts'
import { callWith } from './fixtures.ts'
import { weatherTool } from './requests.ts'

/** An upstream of each dialect, without quirks of its own. */
export type Target = { name: string; dialect: DialectId; provider: Provider; call: ProviderCall }

const official = { type: 1, baseUrl: 'https://api.openai.com' }
export const targets: Target[] = [
  {
    name: 'chat completions',
    dialect: 'openai-chat',
    provider: openai,
    call: callWith({ model: 'gpt-4o', channel: official }),
  },
  {
    name: 'responses',
    dialect: 'openai-responses',
    provider: openai,
    call: callWith({ model: 'gpt-5-codex', channel: official }),
  },
  {
    name: 'messages',
    dialect: 'claude',
    provider: anthropic,
    call: callWith({ model: 'claude-sonnet-4-5', channel: { type: 14 } }),
  },
  {
    name: 'generateContent',
    dialect: 'gemini',
    provider: gemini,
    call: callWith({ model: 'gemini-2.5-flash', channel: { type: 24 } }),
  },
]

/** Something a request may want, how to find it again, and the names by which its loss may be reported. */
export type Feature = { want: Partial<ChatRequest>; find: (request: ChatRequest) => unknown; named: string[] }

const user = (...content: UserPart[]): Partial<ChatRequest> => ({ messages: [{ role: 'user', content }] })
const history = (...content: AssistantPart[]): Partial<ChatRequest> => ({
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    { role: 'assistant', content },
    { role: 'user', content: [{ type: 'text', text: 'go on' }] },
  ],
})
const partsOf = (request: ChatRequest, type: string) =>
  request.messages.flatMap((message) => (message.content as { type: string }[]).filter((part) => part.type === type))
const data = { kind: 'base64' as const, mediaType: 'image/png', data: 'iVBORw0KGgo=' }
const pdf = { kind: 'base64' as const, mediaType: 'application/pdf', data: 'JVBERi0=' }
const mark = { type: 'ephemeral' as const }
const text = { type: 'text' as const, text: 'hi' }

const search = (given: Partial<WebSearchTool>, name: string): Feature => ({
  want: { tools: [{ type: 'web-search', ...given }] },
  find: ({ tools }) =>
    tools.map((tool) => Object.keys(given).map((key) => (tool as Partial<WebSearchTool>)[key as keyof WebSearchTool])),
  named: [name, 'web_search'],
})

const field = <Name extends keyof ChatRequest>(name: Name, value: ChatRequest[Name], ...named: string[]): Feature => ({
  want: { [name]: value },
  find: (request) => request[name],
  named,
})

export const features: Record<string, Feature> = {
  temperature: field('temperature', 0.5, 'temperature'),
  top_p: field('topP', 0.5, 'top_p'),
  top_k: field('topK', 5, 'top_k'),
  seed: field('seed', 7, 'seed'),
  stop: field('stop', ['a', 'b'], 'stop'),
  'many stops': field('stop', ['a', 'b', 'c', 'd', 'e', 'f'], 'stop'),
  frequency_penalty: field('frequencyPenalty', 0.5, 'frequency_penalty'),
  presence_penalty: field('presencePenalty', 0.5, 'presence_penalty'),
  logprobs: field('logprobs', true, 'logprobs'),
  top_logprobs: { ...field('topLogprobs', 3, 'logprobs', 'top_logprobs'), want: { logprobs: true, topLogprobs: 3 } },
  // A model that thinks is given room for it.
  'limit of the answer': { ...field('maxTokens', 100, 'max_tokens'), find: ({ maxTokens }) => maxTokens !== undefined },
  'several answers': field('choiceCount', 2, 'n'),
  user: field('user', 'someone', 'user'),
  'service tier': field('serviceTier', 'flex', 'service_tier'),
  modalities: field('modalities', ['text', 'audio'], 'modalities'),
  voice: {
    want: { audio: { voice: 'alloy', format: 'wav' }, modalities: ['text', 'audio'] },
    find: (request) => request.audio?.voice,
    named: ['audio'],
  },
  'format of audio': {
    // Others are made of what a model speaks in.
    want: { audio: { voice: 'alloy', format: 'mp3' } },
    find: (request) => request.audio?.format,
    named: ['audio', 'audio.format'],
  },
  JSON: {
    ...field('responseFormat', { type: 'json' }, 'response_format'),
    find: ({ responseFormat, messages }) =>
      responseFormat?.type === 'json' || JSON.stringify(messages).includes('JSON'),
  },
  'a schema': {
    want: {
      responseFormat: {
        type: 'json-schema',
        name: 'output',
        schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
        strict: true,
      },
    },
    find: ({ responseFormat }) => responseFormat?.type,
    // What is not kept to strictly is asked for in words.
    named: ['response_format', 'response_format.strict'],
  },
  effort: {
    ...field('reasoning', { effort: 'high' }, 'reasoning_effort'),
    find: ({ reasoning }) => reasoning !== undefined,
  },
  tools: {
    ...field('tools', [weatherTool], 'tools'),
    find: ({ tools }) => tools.map((tool) => 'name' in tool && tool.name),
  },
  'a strict tool': {
    want: { tools: [{ ...weatherTool, strict: true }] },
    find: ({ tools }) => (tools[0] as { strict?: boolean } | undefined)?.strict,
    named: ['tools.strict', 'strict'],
  },
  'a tool of free text': {
    want: { tools: [{ type: 'custom', name: 'write' }] },
    find: ({ tools }) => (tools[0] as { name?: string } | undefined)?.name,
    named: ['tools.custom'],
  },
  'a web search': {
    want: { tools: [{ type: 'web-search', contextSize: 'low', maxUses: 1 }] },
    find: ({ tools }) => tools[0]?.type,
    named: ['web_search'],
  },
  'a search of some sites': search({ allowedDomains: ['a.test'] }, 'allowed_domains'),
  'a search without some sites': search({ blockedDomains: ['a.test'] }, 'blocked_domains'),
  'a search near a place': search({ userLocation: { country: 'DE' } }, 'user_location'),
  'a choice of tools': {
    ...field('toolChoice', { type: 'required' }, 'tool_choice'),
    want: { tools: [weatherTool], toolChoice: { type: 'required' } },
  },
  'one call at a time': {
    ...field('parallelToolCalls', false, 'parallel_tool_calls'),
    want: { tools: [weatherTool], parallelToolCalls: false },
  },
  image: {
    want: user(text, { type: 'image', source: data }),
    find: (request) => partsOf(request, 'image').length,
    named: ['image'],
  },
  'detail of an image': {
    want: user(text, { type: 'image', source: data, detail: 'low' }),
    find: (request) => (partsOf(request, 'image')[0] as { detail?: string } | undefined)?.detail,
    named: ['detail', 'image.detail'],
  },
  'audio file': {
    want: user(text, { type: 'audio', source: { ...data, mediaType: 'audio/wav' }, format: 'wav' }),
    find: (request) => partsOf(request, 'audio').length,
    named: ['audio', 'input_audio'],
  },
  file: {
    want: user(text, { type: 'file', source: pdf, filename: 'a.pdf' }),
    find: (request) => partsOf(request, 'file').length,
    named: ['file'],
  },
  'name of a file': {
    want: user(text, { type: 'file', source: pdf, filename: 'a.pdf' }),
    find: (request) => (partsOf(request, 'file')[0] as { filename?: string } | undefined)?.filename,
    named: ['filename', 'file.filename'],
  },
  'a cache mark': {
    want: user({ ...text, cacheControl: mark }),
    find: (request) => JSON.stringify(request.messages).includes('cacheControl'),
    named: ['cache_control'],
  },
  'a cache mark of instructions': {
    want: {
      messages: [
        { role: 'system', content: [{ ...text, cacheControl: mark }] },
        { role: 'user', content: [text] },
      ],
    },
    find: (request) => JSON.stringify(request.messages).includes('cacheControl'),
    named: ['cache_control'],
  },
  'a cache mark of a tool': {
    want: { tools: [{ ...weatherTool, cacheControl: mark }] },
    find: ({ tools }) => JSON.stringify(tools).includes('cacheControl'),
    named: ['cache_control'],
  },
  'a refusal': {
    want: history({ type: 'refusal', text: 'never' }),
    find: (request) => JSON.stringify(request.messages).includes('never'),
    named: ['refusal'],
  },
  'reasoning text': {
    want: history({ type: 'reasoning', text: 'hm' }, text),
    find: (request) => partsOf(request, 'reasoning').length,
    named: ['reasoning_content'],
  },
  'signature of reasoning': {
    want: history({ type: 'reasoning', text: 'hm', signature: { dialect: 'claude', value: 'c2ln' } }, text),
    find: (request) => JSON.stringify(request.messages).includes('c2ln'),
    named: ['reasoning_content'],
  },
  'encrypted reasoning': {
    want: history({ type: 'reasoning', text: '', encrypted: { dialect: 'openai-responses', data: 'c2VhbA' } }, text),
    find: (request) => JSON.stringify(request.messages).includes('c2VhbA'),
    named: ['reasoning_content'],
  },
  'an image in an answer': {
    want: history(text, { type: 'image', source: data }),
    find: (request) => partsOf(request, 'image').length,
    named: ['image'],
  },
  'a failed call': {
    want: {
      messages: [
        { role: 'user', content: [text] },
        { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'get_weather', arguments: '{}' }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool-result',
              callId: 'c',
              name: 'get_weather',
              content: [{ type: 'text', text: 'broke' }],
              isError: true,
            },
          ],
        },
      ],
      tools: [weatherTool],
    },
    find: (request) => /"isError":true|Error: broke/.test(JSON.stringify(request.messages)),
    named: ['is_error'],
  },
  'name of the speaker': {
    want: { messages: [{ role: 'user', content: [text], name: 'bob' }] },
    find: ({ messages }) => (messages[0] as { name?: string }).name,
    named: ['name', 'messages.name'],
  },
}

/** From a caller of a dialect that is none of these, so that nothing passes as its own. */
export const callers: DialectId[] = ['openai-chat', 'openai-responses', 'claude', 'gemini']

/** What an upstream would read of a request, and the losses that were reported. */
export function sendAndRead({ provider, call, dialect }: Target, request: ChatRequest) {
  const { body, losses = [] } = provider.chat.request(request, call)
  return { read: dialects[dialect].parse(JSON.parse(JSON.stringify(body)), { model: call.model }), losses }
}

export const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right)
