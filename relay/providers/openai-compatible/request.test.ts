import { expect, test } from 'vitest'
import { dialects } from '#relay/dialects/registry.ts'
import { callWith } from '../conformance/fixtures.ts'
import { imageRequest, requestWith, toolConversation, weatherTool } from '../conformance/requests.ts'
import { toResponsesBody } from '../openai-responses/request.ts'
import { openai } from './vendors/openai.ts'
import { openrouter } from './vendors/openrouter.ts'

const write = (request = requestWith(), call = callWith()) => openai.chat.request(request, call)
const body = (request = requestWith(), call = callWith()) => write(request, call).body as Record<string, unknown>

test('a plain question becomes the smallest body that asks it', () => {
  expect(write()).toEqual({
    method: 'POST',
    url: 'https://api.openai.com/v1/chat/completions',
    headers: { 'content-type': 'application/json', accept: 'application/json', authorization: 'Bearer sk-test' },
    body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] },
    losses: [],
  })
})

test('a stream always asks for usage', () => {
  const sent = write(requestWith({ stream: true, includeUsage: false }), callWith({ stream: true }))
  expect(sent.headers['accept']).toBe('text/event-stream')
  expect(sent.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
})

test('tool results come first and in order, failures are marked, the rest follows as one user message', () => {
  expect(body(toolConversation())['messages']).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Weather in Paris and Rome?' },
    {
      role: 'assistant',
      content: 'I will look.',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
        { id: 'call_2', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'sunny-18' },
    { role: 'tool', tool_call_id: 'call_2', content: 'Error: no-such-station' },
    { role: 'user', content: 'And tomorrow?' },
  ])
})

test('proofs of calls go back to Google’s models where they read them, and are named as lost towards others', () => {
  const signature = { dialect: 'gemini' as const, value: 's' }
  const calls = ['a', 'b'].map((id) => ({ type: 'tool-call' as const, id, name: 'f', arguments: '{}' }))
  const proofs = (model: string, isProven: boolean, provider = openai) => {
    const content = calls.map((each, index) => (isProven && index === 0 ? { ...each, signature } : each))
    const request = requestWith({ messages: [{ role: 'assistant', content }] })
    const { body: sent, losses } = provider.chat.request(request, callWith({ model }))
    const [message] = (sent as { messages: { tool_calls: Record<string, unknown>[] }[] }).messages
    return { of: message?.tool_calls.map((each) => each['extra_content']), losses }
  }
  const extra = (value: string) => ({ google: { thought_signature: value } })
  expect(proofs('gemini-3-pro-preview', true)).toEqual({ of: [extra('s'), undefined], losses: [] })
  for (const model of ['gemini-3-pro-preview', 'google/gemini-3-pro-preview'])
    expect(proofs(model, false).of).toEqual([extra('skip_thought_signature_validator'), undefined])
  expect(proofs('gemini-2.5-pro', true)).toEqual({ of: [extra('s'), undefined], losses: [] })
  expect(proofs('gemini-2.5-pro', false).of).toEqual([undefined, undefined])
  expect(proofs('gpt-4o', true)).toEqual({ of: [undefined, undefined], losses: ['thoughtSignature'] })
  expect(proofs('google/gemini-3-pro-preview', true, openrouter).losses).toEqual(['thoughtSignature'])
})

test('images inside a tool result move to a user message behind the results', () => {
  const image = { type: 'image' as const, source: { kind: 'url' as const, url: 'https://example.com/a.png' } }
  const request = requestWith({
    messages: [
      {
        role: 'assistant',
        content: [{ type: 'tool-call', id: 'c1', name: 'shoot', arguments: '' }],
      },
      {
        role: 'user',
        content: [{ type: 'tool-result', callId: 'c1', content: [{ type: 'text', text: 'done' }, image] }],
      },
    ],
  })
  expect(body(request)['messages']).toEqual([
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'shoot', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'done' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] },
  ])
})

test('an image given as bytes travels as a data address', () => {
  const [message] = body(imageRequest())['messages'] as { content: { image_url?: { url: string } }[] }[]
  expect(message?.content[1]?.image_url?.url).toMatch(/^data:image\/png;base64,iVBOR/)
})

test('fields of the same dialect that the hub does not know are carried on, others are named as lost', () => {
  const fields = { verbosity: 'low', logit_bias: { '50256': -100 }, stream_options: { include_usage: false } }
  expect(body(requestWith({ extra: { dialect: 'openai-chat', fields } }))).toMatchObject({
    verbosity: 'low',
    logit_bias: { '50256': -100 },
  })
  const foreign = write(requestWith({ topK: 5, extra: { dialect: 'claude', fields: { container: 'x' } } }))
  expect(foreign.losses).toEqual(['container', 'top_k'])
  expect(foreign.body).not.toHaveProperty('container')
})

test('a reasoning model gets its own limit field, the developer role and no sampling', () => {
  const request = requestWith({
    maxTokens: 500,
    temperature: 0.3,
    topP: 0.9,
    frequencyPenalty: 1,
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ],
  })
  const sent = write(request, callWith({ model: 'o3-mini-high' }))
  expect(sent.body).toEqual({
    model: 'o3-mini',
    messages: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ],
    max_completion_tokens: 500,
    reasoning_effort: 'high',
  })
  expect(sent.losses).toEqual(['temperature', 'top_p', 'frequency_penalty'])
})

test('the earliest reasoning models take instructions from the user only', () => {
  const request = requestWith({
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ],
  })
  expect(body(request, callWith({ model: 'o1-mini' }))['messages']).toMatchObject([{ role: 'user' }, { role: 'user' }])
})

test('an effort suffix of a real model name stays', () => {
  expect(body(requestWith(), callWith({ model: 'gpt-5.1-codex-max' }))['model']).toBe('gpt-5.1-codex-max')
  expect(body(requestWith(), callWith({ model: 'gpt-5.2-xhigh' }))).toMatchObject({
    model: 'gpt-5.2',
    reasoning_effort: 'xhigh',
  })
})

test.each([
  ['o3', { effort: 'max' as const }, 'high'],
  ['gpt-5', { mode: 'disabled' as const }, 'minimal'],
  ['gpt-5.1', { effort: 'minimal' as const }, 'none'],
  ['gpt-5.2', { mode: 'enabled' as const, budgetTokens: 2000 }, 'low'],
  ['gpt-5.2', { mode: 'enabled' as const, budgetTokens: 32000 }, 'high'],
  ['gpt-6-astra', { effort: 'none' as const }, 'low'],
  ['gpt-6.2-astra', { mode: 'disabled' as const }, 'low'],
  ['gpt-6.2-sol', { mode: 'disabled' as const }, 'low'],
  ['gpt-6.1-terra', { effort: 'none' as const }, 'none'],
  ['gpt-4o', { mode: 'enabled' as const, budgetTokens: 2000 }, undefined],
])('%s is asked for an effort it knows', (model, reasoning, expected) => {
  const request = requestWith({ reasoning, extra: { dialect: 'claude', fields: {} } })
  expect(body(request, callWith({ model }))['reasoning_effort']).toBe(expected)
})

test('an effort that the model does not know is named where another is asked for', () => {
  const lossesOf = (model: string, effort: 'high' | 'max') =>
    openai.chat.request(
      requestWith({ reasoning: { effort }, extra: { dialect: 'claude', fields: {} } }),
      callWith({ model }),
    ).losses
  expect(lossesOf('gpt-5.2', 'max')).toEqual(['reasoning_effort'])
  expect(lossesOf('gpt-5.2', 'high')).toEqual([])
})

test('a tool choice goes only where tools go', () => {
  expect(body(requestWith({ toolChoice: { type: 'required' }, parallelToolCalls: false }))).not.toHaveProperty(
    'tool_choice',
  )
  expect(body(requestWith({ tools: [weatherTool], toolChoice: { type: 'tool', name: 'get_weather' } }))).toMatchObject({
    tool_choice: { type: 'function', function: { name: 'get_weather' } },
  })
})

test('free-text tools and allowed tools go to the original as they are, elsewhere as what everybody knows', () => {
  const request = requestWith({
    tools: [weatherTool, { type: 'custom', name: 'patch', description: 'Apply a patch' }],
    toolChoice: { type: 'allowed', mode: 'required', names: ['patch'] },
  })
  const tools = [{ type: 'custom', custom: { name: 'patch' } }]
  expect(body(request)).toMatchObject({
    tools: [{ type: 'function' }, ...tools],
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools } },
  })
  const elsewhere = body(request, callWith({ channel: { baseUrl: 'http://localhost:8000' } }))
  expect(elsewhere).toMatchObject({ tool_choice: 'required' })
  expect(elsewhere['tools']).toEqual([
    {
      type: 'function',
      function: expect.objectContaining({
        name: 'patch',
        parameters: expect.objectContaining({ required: ['input'] }),
      }),
    },
  ])
})

test('a grammar of a free-text tool reaches either form of the vendor’s calls in its own place, whichever form it came in', () => {
  const grammar = { syntax: 'lark', definition: 'start: "patch"' }
  const nested = { type: 'grammar', grammar }
  const flat = { type: 'grammar', ...grammar }
  const [chat, responses] = [dialects['openai-chat'], dialects['openai-responses']]
  const ofChat = { type: 'custom', custom: { name: 'patch', format: nested } }
  const ofResponses = { type: 'custom', name: 'patch', format: flat }
  const callers = [
    chat.parse({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools: [ofChat] }, {}),
    responses.parse({ model: 'm', input: 'Hi', tools: [ofResponses] }, {}),
  ]
  for (const request of callers) {
    expect(body(request)['tools']).toEqual([ofChat])
    expect(toResponsesBody(request, callWith({ model: 'gpt-5.4' })).body['tools']).toEqual([ofResponses])
  }
})

test('web search goes to search models and, at the vendor itself, to the form that has it; elsewhere it is named as lost', () => {
  const request = requestWith({ tools: [{ type: 'web-search', maxUses: 1 }], extra: { dialect: 'claude', fields: {} } })
  expect(body(request, callWith({ model: 'gpt-4o-search-preview' }))).toMatchObject({
    web_search_options: { search_context_size: 'low' },
  })
  for (const model of ['gpt-4o', 'gpt-4.1-mini-2025-04-14', 'o3', 'gpt-5', 'gpt-5.4-mini']) {
    expect(write(request, callWith({ model }))).toMatchObject({
      url: 'https://api.openai.com/v1/responses',
      body: { tools: [{ type: 'web_search' }] },
      losses: [],
    })
  }
  for (const call of [callWith({ model: 'gpt-4.1-nano' }), callWith({ channel: { baseUrl: 'https://example.com' } })]) {
    expect(write(request, call).losses).toEqual(['web_search'])
  }
})

test('what cannot be sent is refused in the caller’s terms', () => {
  const file = { type: 'file' as const, source: { kind: 'url' as const, url: 'https://example.com/a.pdf' } }
  expect(() => write(requestWith({ messages: [{ role: 'user', content: [file] }] }))).toThrow(
    expect.objectContaining({ code: 'unsupported.file_address' }),
  )
})

test('a base with a version gets no second one, and a routed base none', () => {
  const url = (baseUrl: string) => write(requestWith(), callWith({ channel: { baseUrl } })).url
  expect(url('https://example.com/v1')).toBe('https://example.com/v1/chat/completions')
  expect(url('https://gateway.ai.cloudflare.com/v1/acc/gw/openai')).toBe(
    'https://gateway.ai.cloudflare.com/v1/acc/gw/openai/chat/completions',
  )
})

test('the organisation of the channel is named', () => {
  expect(write(requestWith(), callWith({ channel: { organization: 'org-1' } })).headers).toMatchObject({
    'openai-organization': 'org-1',
  })
})

test('what the responses form says goes where the original has a word for it, and is named elsewhere', () => {
  const fields = { metadata: { a: '1' }, prompt_cache_key: 'k', store: true, text: { verbosity: 'low' } }
  const request = requestWith({ extra: { dialect: 'openai-responses', fields } })
  const { text, ...carried } = fields
  expect(write(request)).toMatchObject({ body: { ...carried, verbosity: text.verbosity }, losses: [] })
  const elsewhere = callWith({ channel: { baseUrl: 'https://other.example' } })
  expect(body(request, elsewhere)).not.toHaveProperty('metadata')
  expect(write(request, elsewhere).losses).toEqual(expect.arrayContaining(['metadata', 'prompt_cache_key', 'text']))
})

test.each([
  ['video/mp4', { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AA==' } }],
  [
    'application/json5',
    { type: 'file', file: { filename: 'document.json5', file_data: 'data:application/json5;base64,AA==' } },
  ],
  [
    'application/pdf',
    { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,AA==' } },
  ],
])('a file of %s without a name is no PDF unless it is one', (mediaType, part) => {
  const source = { kind: 'base64' as const, mediaType, data: 'AA==' }
  const request = requestWith({ messages: [{ role: 'user', content: [{ type: 'file', source }] }] })
  expect(body(request)['messages']).toMatchObject([{ content: [part] }])
})

test('a limit that leaves a model that thinks no word is raised to the least, by name, unless chat callers wrote it', () => {
  const limit = (maxTokens: number, model: string, dialect: 'claude' | 'openai-chat' = 'claude') => {
    const sent = write(requestWith({ maxTokens, extra: { dialect, fields: {} } }), callWith({ model }))
    const { max_tokens, max_completion_tokens } = sent.body as Record<string, unknown>
    return [max_tokens ?? max_completion_tokens, ...(sent.losses ?? [])]
  }
  expect(limit(1, 'gpt-5.2')).toEqual([16, 'max_tokens'])
  expect(limit(0, 'gpt-5.2')).toEqual([16, 'max_tokens'])
  expect(limit(17, 'gpt-5.2')).toEqual([17])
  expect(limit(1, 'gpt-4.1')).toEqual([1])
  expect(limit(0, 'gpt-4.1')).toEqual([1])
  expect(limit(1, 'gpt-5.2', 'openai-chat')).toEqual([1])
})
