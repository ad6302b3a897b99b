import { describe, expect, test } from 'vitest'
import type { ChatRequest } from '#relay/chat/request.ts'
import { callWith } from '../../conformance/fixtures.ts'
import { onePixel, requestWith, toolConversation, weatherTool } from '../../conformance/requests.ts'
import { providerFor } from '../../registry.ts'
import { UpstreamRefusal } from '../../types.ts'

type Changes = Parameters<typeof callWith>[0]

function write(type: number, request: Partial<ChatRequest> = {}, changes: Changes = {}) {
  const call = callWith({ ...changes, channel: { type, baseUrl: 'https://u.test', ...changes?.channel } })
  const sent = providerFor(type).chat.request(requestWith(request), call)
  return { ...sent, json: sent.body as Record<string, unknown> }
}

describe('addresses', () => {
  test.each([
    [1, {}, 'https://u.test/v1/chat/completions'],
    [4, {}, 'https://u.test/v1/chat/completions'],
    [8, { channel: { baseUrl: 'https://c.test/run/{model}?x=1' }, model: 'm' }, 'https://c.test/run/m?x=1'],
    [8, { channel: { baseUrl: 'https://c.test/{model}/x' }, model: '@cf/a/b:7b' }, 'https://c.test/@cf/a/b:7b/x'],
    [8, { channel: { baseUrl: 'https://c.test/{model}' }, model: 'a/../../f?b#c' }, 'https://c.test/a/f%3Fb%23c'],
    [17, {}, 'https://u.test/compatible-mode/v1/chat/completions'],
    [20, { channel: { baseUrl: 'https://openrouter.ai/api' } }, 'https://openrouter.ai/api/v1/chat/completions'],
    [26, {}, 'https://u.test/api/paas/v4/chat/completions'],
    [
      26,
      { channel: { baseUrl: 'https://u.test/api/coding/paas/v4' } },
      'https://u.test/api/coding/paas/v4/chat/completions',
    ],
    [27, {}, 'https://u.test/chat/completions'],
    [39, { channel: { other: 'acc' } }, 'https://u.test/client/v4/accounts/acc/ai/v1/chat/completions'],
    [39, { channel: { key: 'acc|tok' } }, 'https://u.test/client/v4/accounts/acc/ai/v1/chat/completions'],
    [43, {}, 'https://u.test/v1/chat/completions'],
    [45, {}, 'https://u.test/api/v3/chat/completions'],
    [45, { model: 'bot-123' }, 'https://u.test/api/v3/bots/chat/completions'],
    [46, {}, 'https://u.test/v2/chat/completions'],
    [9999, {}, 'https://u.test/v1/chat/completions'],
  ])('type %i %j', (type, changes: Changes, url) => {
    expect(write(type, {}, changes).url).toBe(url)
  })

  test.each([
    [3, 'https://u.test/openai/models?api-version=2025-04-01-preview'],
    [4, 'https://u.test/api/tags'],
    [8, 'https://u.test'],
    [39, 'https://u.test/client/v4/accounts/acc/ai/models/search'],
    [43, 'https://u.test/models'],
    [46, 'https://u.test/v2/models'],
  ])('the model list of type %i', (type, url) => {
    const { channel } = callWith({ channel: { type, baseUrl: 'https://u.test', other: type === 39 ? 'acc' : '' } })
    expect(providerFor(type).models.request(channel).url).toBe(url)
  })
})

describe('credentials', () => {
  test.each([
    [3, 'k', { 'api-key': 'k' }],
    [39, 'acc|tok', { authorization: 'Bearer tok' }],
    [46, 'k|app', { authorization: 'Bearer k', appid: 'app' }],
    [22, 'APP-CHAT', { authorization: 'Bearer APP-CHAT' }],
  ])('type %i', (type, key, headers) => {
    expect(write(type, {}, { channel: { key } }).headers).toMatchObject(headers)
  })

  test('no key, no header', () => {
    expect(write(47, {}, { channel: { key: '' } }).headers).not.toHaveProperty('authorization')
  })
})

describe('Azure', () => {
  const url = (changes: Changes) => write(3, {}, { model: 'gpt-4.1', ...changes }).url
  const old = new Date('2025-05-09T23:59:59Z')

  test('the version is the caller’s, else the channel’s, else the newest dated one', () => {
    expect(url({})).toBe('https://u.test/openai/deployments/gpt-4.1/chat/completions?api-version=2025-04-01-preview')
    expect(url({ channel: { other: '2024-10-21' } })).toContain('?api-version=2024-10-21')
    expect(url({ channel: { other: '2024-10-21' }, query: { 'api-version': '2024-12-01-preview' } })).toContain(
      '?api-version=2024-12-01-preview',
    )
  })

  test('deployments of old channels have no dots', () => {
    expect(url({ channel: { createdAt: old } })).toContain('/deployments/gpt-41/')
  })

  test('the undated surface names the deployment in the body', () => {
    const sent = write(3, {}, { model: 'gpt-4.1', channel: { other: 'v1', createdAt: old } })
    expect(sent.url).toBe('https://u.test/openai/v1/chat/completions')
    expect(sent.json['model']).toBe('gpt-41')
  })

  test('a routed base names no deployments', () => {
    const baseUrl = 'https://gateway.ai.cloudflare.com/v1/a/g/azure-openai/res'
    expect(url({ channel: { baseUrl } })).toBe(`${baseUrl}/gpt-4.1/chat/completions?api-version=2025-04-01-preview`)
  })

  test('models that have no chat go to responses, as calls do that newer ones refuse there', () => {
    const responses = 'https://u.test/openai/v1/responses?api-version=preview'
    const tool = { type: 'function' as const, name: 'w' }
    for (const model of ['gpt-5-codex', 'gpt-5.1-codex-max', 'o3-pro', 'codex-mini-latest'])
      expect(url({ model })).toBe(responses)
    expect(write(3, { tools: [tool] }, { model: 'gpt-5.4' }).url).toBe(responses)
    expect(write(3, { tools: [tool] }, { model: 'gpt-5-mini' }).url).toContain('/chat/completions')
  })

  test('fields that older versions refuse stay away', () => {
    const changes = { model: 'o3-mini', stream: true, channel: { other: '2024-06-01' } }
    const { json } = write(3, { maxTokens: 5 }, changes)
    expect(json).not.toHaveProperty('stream_options')
    expect(json).toMatchObject({ max_tokens: 5 })
  })

  test('a filtered prompt keeps its code', () => {
    const body = { error: { code: 'content_filter', message: 'filtered', param: 'prompt', status: 400 } }
    expect(providerFor(3).error(400, JSON.stringify(body))).toMatchObject({ status: 400, code: 'content_filter' })
  })
})

describe('OpenRouter', () => {
  test('the suffix and the effort become fields of reasoning', () => {
    expect(write(20, {}, { model: 'z-ai/b-thinking' }).json).toMatchObject({
      model: 'z-ai/b',
      reasoning: { enabled: true },
    })
    expect(write(20, { reasoning: { effort: 'low' } }, { model: 'a/b:free' }).json).toMatchObject({
      model: 'a/b:free',
      reasoning: { effort: 'low' },
    })
    const budget = { mode: 'enabled' as const, budgetTokens: 3000 }
    const claude = { dialect: 'claude' as const, fields: {} }
    expect(write(20, { reasoning: budget, extra: claude }).json).toMatchObject({ reasoning: { max_tokens: 3000 } })
  })

  test('the site is named', () => {
    const site = { name: 'My site', url: 'https://site.test' }
    expect(write(20, {}, { site }).headers).toMatchObject({ 'http-referer': 'https://site.test', 'x-title': 'My site' })
  })

  test('reasoning and cache marks go back', () => {
    const signature = { dialect: 'claude' as const, value: 's' }
    const { json, losses } = write(20, {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'a', cacheControl: { type: 'ephemeral' } }] },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 't', signature },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    })
    expect(json['messages']).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] },
      {
        role: 'assistant',
        content: 'b',
        reasoning_details: [
          { type: 'reasoning.text', text: 't', signature: 's', format: 'anthropic-claude-v1', index: 0 },
        ],
      },
    ])
    expect(losses).toEqual([])
  })

  test('an error with HTTP 200 is a refusal with the status it names', () => {
    const read = () => providerFor(20).chat.response({ error: { code: 402, message: 'no credits' } }, callWith())
    expect(read).toThrow(UpstreamRefusal)
    expect(read).toThrow('no credits')
  })
})

describe('DashScope', () => {
  test('top_p is kept inside its bounds', () => {
    expect(write(17, { topP: 1 }).json['top_p']).toBe(0.999)
    expect(write(17, { topP: 0 }).json['top_p']).toBe(0.001)
  })

  test('open-weight models do not think in complete answers', () => {
    expect(write(17, {}, { model: 'qwen3-32b' }).json['enable_thinking']).toBe(false)
    expect(write(17, {}, { model: 'qwen3-32b', stream: true }).json).not.toHaveProperty('enable_thinking')
    expect(write(17, {}, { model: 'qwen-plus' }).json).not.toHaveProperty('enable_thinking')
  })

  test('thinking is switched as the caller asks', () => {
    const reasoning = { mode: 'enabled' as const, budgetTokens: 500 }
    expect(write(17, { reasoning }, { model: 'qwen-plus' }).json).toMatchObject({
      enable_thinking: true,
      thinking_budget: 500,
    })
  })

  test('the plug-in of the channel is named', () => {
    expect(write(17, {}, { channel: { other: 'p' } }).headers['x-dashscope-plugin']).toBe('p')
  })
})

test('a DashScope account that has not paid is no malformed call, so that another channel is tried', () => {
  const message = 'Access denied, please make sure your account is in good standing.'
  const compatible = { error: { message, type: 'Arrearage', param: null, code: 'Arrearage' }, request_id: 'r' }
  const native = { code: 'Arrearage', message, request_id: 'r' }
  for (const body of [compatible, native])
    expect(providerFor(17).error(400, JSON.stringify(body))).toMatchObject({ status: 402, message })
  const malformed = { error: { message: 'x', type: 'invalid_request_error', code: 'invalid_parameter_error' } }
  expect(providerFor(17).error(400, JSON.stringify(malformed))).toMatchObject({ status: 400 })
})

describe('Zhipu', () => {
  test('what the vendor refuses is renamed, bounded or left out', () => {
    const { json, losses } = write(26, {
      maxTokens: 5,
      temperature: 0,
      topP: 1,
      stop: ['x'],
      frequencyPenalty: 1,
      user: 'user-1234',
      tools: [{ ...weatherTool, strict: true }],
      toolChoice: { type: 'required' },
    })
    expect(json).toMatchObject({ max_tokens: 5, do_sample: false, top_p: 0.99, stop: ['x'], user_id: 'user-1234' })
    for (const name of ['temperature', 'frequency_penalty', 'user', 'tool_choice'])
      expect(json).not.toHaveProperty(name)
    expect(JSON.stringify(json['tools'])).not.toContain('strict')
    expect(losses).toEqual(['frequency_penalty', 'tools.strict', 'tool_choice'])
  })

  test('a choice of no tool takes the tools away', () => {
    expect(write(26, { tools: [weatherTool], toolChoice: { type: 'none' } }).json).not.toHaveProperty('tools')
  })

  test('the oldest image models get bare bytes', () => {
    const image = {
      type: 'image' as const,
      source: { kind: 'base64' as const, mediaType: 'image/png', data: onePixel },
    }
    const messages: ChatRequest['messages'] = [{ role: 'user', content: [image] }]
    expect(JSON.stringify(write(26, { messages }, { model: 'glm-4v' }).json)).not.toContain('data:')
    expect(JSON.stringify(write(26, { messages }, { model: 'glm-4.6v' }).json)).toContain('data:')
  })

  test.each([
    ['1002', 401],
    ['1113', 402],
    ['1301', 400],
    ['1302', 429],
  ])('code %s means status %i', (code, status) => {
    const body = { error: { code, message: 'x' } }
    const { chat, error, native } = providerFor(26)
    expect(error(500, JSON.stringify(body)).status).toBe(status)
    // So it does with HTTP 200 and inside a stream.
    expect(() => chat.response(body, callWith())).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ status }) }),
    )
    expect(chat.stream(callWith()).push({ data: JSON.stringify(body) })).toMatchObject([
      { type: 'error', error: { status } },
    ])
    const listener = native['openai-chat']!.listen({ includeUsage: true })
    expect(listener.push({ data: JSON.stringify(body) })).toBe('failed')
    expect(listener.failure).toMatchObject({ status })
  })
})

describe('Perplexity', () => {
  test('what is said of its searches arrives', () => {
    const fields = { disable_search: true, enable_search_classifier: false, last_updated_after_filter: '1/1/2026' }
    expect(write(27, { extra: { dialect: 'openai-chat', fields } })).toMatchObject({ json: fields, losses: [] })
  })

  test('only known fields go, and turns alternate without tools', () => {
    const { json, losses } = write(27, { ...toolConversation(), seed: 1, topP: 1, stop: ['x'] })
    expect(json).toEqual({
      model: 'gpt-4o',
      top_p: 0.99,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather in Paris and Rome?' },
        { role: 'assistant', content: 'I will look.' },
        { role: 'user', content: 'sunny-18\n\nError: no-such-station\n\nAnd tomorrow?' },
      ],
    })
    expect(losses).toEqual(['tools', 'stop', 'seed'])
  })

  test('reasoning and searches are counted, sources reported', () => {
    const answer = {
      choices: [{ message: { content: 'a' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 6, reasoning_tokens: 4, num_search_queries: 2 },
      search_results: [{ url: 'https://e.test', title: 'E' }],
    }
    const response = providerFor(27).chat.response(answer, callWith())
    expect(response.usage).toMatchObject({ completionTokens: 10, reasoningTokens: 4, webSearchCalls: 2 })
    expect(response.choices[0]?.parts[0]).toMatchObject({ citations: [{ url: 'https://e.test' }] })
  })
})

describe('Mistral', () => {
  test('fields are renamed or left out, never sent unknown', () => {
    const { json, losses } = write(42, { seed: 3, user: 'u', logprobs: true }, { stream: true })
    expect(json).toEqual({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      random_seed: 3,
    })
    expect(losses).toEqual(['logprobs', 'user'])
  })

  test('foreign ids of calls become nine letters or digits, the same on both sides', () => {
    const { json } = write(42, toolConversation())
    const messages = json['messages'] as { tool_calls?: { id: string }[]; tool_call_id?: string }[]
    const ids = messages.find((message) => message.tool_calls)?.tool_calls?.map((call) => call.id)
    expect(ids).toEqual(messages.flatMap((message) => message.tool_call_id ?? []))
    for (const id of ids ?? []) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
  })

  test('reasoning inside the content is read as reasoning', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'yes' },
    ]
    const response = providerFor(42).chat.response({ choices: [{ message: { content } }] }, callWith())
    expect(response.choices[0]?.parts).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'yes' },
    ])
  })

  test('what its validation says is shown', () => {
    const body = JSON.stringify({ object: 'error', message: { detail: [{ loc: ['x'], msg: 'Extra inputs' }] } })
    expect(providerFor(42).error(422, body).message).toBe('Extra inputs')
  })
})

test('MiniMax failures with HTTP 200 are refusals, in streams too', () => {
  const base_resp = { status_code: 1002, status_msg: 'rate limit' }
  expect(() => providerFor(35).chat.response({ choices: null, base_resp }, callWith())).toThrow('rate limit')
  const decoder = providerFor(35).chat.stream(callWith())
  expect(decoder.push({ data: JSON.stringify({ base_resp }) })).toMatchObject([
    { type: 'error', error: { status: 429 } },
  ])
  const listener = providerFor(35).native['openai-chat']!.listen({ includeUsage: true })
  expect(listener.push({ data: JSON.stringify({ base_resp }) })).toBe('failed')
})

test('Cloudflare failures carry the status their code stands for', () => {
  const body = { success: false, errors: [{ code: 10000, message: 'Authentication error' }], result: null }
  expect(() => providerFor(39).chat.response(body, callWith())).toThrow('Authentication error')
  expect(providerFor(39).error(400, JSON.stringify(body))).toMatchObject({ status: 401, code: 10000 })
})

test('DeepSeek gets its reasoning back, an object for a schema and its own words for thinking', () => {
  const { json, losses } = write(
    43,
    {
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'hm' },
            { type: 'text', text: 'a' },
          ],
        },
      ],
      responseFormat: { type: 'json-schema', name: 'x', schema: {} },
      reasoning: { effort: 'none' },
    },
    { model: 'deepseek-v4-pro' },
  )
  expect(json).toMatchObject({
    messages: [
      { role: 'system', content: expect.stringContaining('JSON schema') },
      { role: 'assistant', content: 'a', reasoning_content: 'hm' },
    ],
    response_format: { type: 'json_object' },
    thinking: { type: 'disabled' },
  })
  expect(losses).toEqual(['response_format.json_schema'])
})

test('xAI suffixes set the effort, thinking models lose what they refuse, live search is refused', () => {
  const { json, losses } = write(48, { stop: ['x'], presencePenalty: 1 }, { model: 'grok-3-mini-high' })
  expect(json).toMatchObject({ model: 'grok-3-mini', reasoning_effort: 'high' })
  expect(losses).toEqual(['presence_penalty', 'stop'])
  expect(() => write(48, {}, { model: 'grok-4-search' })).toThrow(
    expect.objectContaining({ code: 'unsupported.live_search' }),
  )
})

test('Volcengine and Baidu suffixes become fields', () => {
  expect(write(45, {}, { model: 'deepseek-v3-thinking' }).json).toMatchObject({
    model: 'deepseek-v3',
    thinking: { type: 'enabled' },
  })
  expect(write(46, {}, { model: 'ernie-5.0-search' }).json).toMatchObject({
    model: 'ernie-5.0',
    web_search: { enable: true },
  })
})
