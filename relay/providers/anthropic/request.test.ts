import { describe, expect, test } from 'vitest'
import { processorMs } from '#server/processor-time.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { requestWriter, toolConversation, weatherTool } from '../conformance/requests.ts'
import { anthropic } from './index.ts'

const { write, body } = requestWriter(anthropic, {
  model: 'claude-sonnet-4-5',
  type: 14,
  baseUrl: 'https://api.anthropic.com',
})

test('a plain question becomes the smallest body that asks it', () => {
  expect(write()).toEqual({
    method: 'POST',
    url: 'https://api.anthropic.com/v1/messages',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'x-api-key': 'sk-test',
      'anthropic-version': '2023-06-01',
    },
    body: { model: 'claude-sonnet-4-5', max_tokens: 64_000, messages: [{ role: 'user', content: 'Hi' }] },
    losses: [],
  })
})

test('calls and results are paired, results first', () => {
  expect(body(toolConversation())).toMatchObject({
    system: 'Be brief.',
    tools: [{ name: 'get_weather', input_schema: weatherTool.parameters }],
    messages: [
      { role: 'user', content: 'Weather in Paris and Rome?' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I will look.' },
          { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Paris' } },
          { type: 'tool_use', id: 'call_2', name: 'get_weather', input: { city: 'Rome' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: 'sunny-18' },
          { type: 'tool_result', tool_use_id: 'call_2', content: 'no-such-station', is_error: true },
          { type: 'text', text: 'And tomorrow?' },
        ],
      },
    ],
  })
})

describe('message repair', () => {
  const text = (role: 'user' | 'assistant', value: string) => ({
    role,
    content: [{ type: 'text' as const, text: value }],
  })
  const messages = (list: ChatRequest['messages'], model = 'claude-sonnet-4-5') =>
    body({ messages: list }, { model })['messages']

  test('an empty user text becomes dots, an empty assistant message goes', () => {
    expect(messages([text('user', ''), text('assistant', ''), text('user', 'a')])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: '...' },
          { type: 'text', text: 'a' },
        ],
      },
    ])
  })

  test('neighbours of one role are joined', () => {
    expect(messages([text('user', 'a'), text('user', 'b'), text('assistant', 'c'), text('user', 'd')])).toHaveLength(3)
  })

  test('a hundred thousand neighbours, and as many results as calls, take no longer than a few seconds', () => {
    const count = 100_000
    const many = Array.from({ length: count }, (_, index) => String(index))
    const started = processorMs()
    expect(messages(many.map((value) => text('user', value)))).toMatchObject([{ content: { length: count } }])
    const calls = many.map((id) => ({ type: 'tool-call' as const, id, name: 'f', arguments: '{}' }))
    const results = many
      .toReversed()
      .map((callId) => ({ type: 'tool-result' as const, callId, content: [{ type: 'text' as const, text: 'r' }] }))
    const asked: ChatRequest['messages'] = [text('user', 'a'), { role: 'assistant', content: calls }]
    expect(messages([...asked, { role: 'user', content: results }])).toHaveLength(3)
    expect(processorMs() - started).toBeLessThan(10_000)
  })

  test('the user speaks first', () => {
    expect(messages([text('assistant', 'a'), text('user', 'b')])).toMatchObject([
      { role: 'user', content: '...' },
      {},
      {},
    ])
  })

  test('a begun answer loses its trailing space, and newer models are asked to go on instead', () => {
    const begun = [text('user', 'a'), text('assistant', 'Once \n')]
    expect(messages(begun)).toEqual([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'Once' },
    ])
    expect(messages(begun, 'claude-opus-4-6')).toMatchObject([{}, {}, { role: 'user', content: 'Continue.' }])
  })

  test('an unanswered call gets a failed result, an answer without its call goes', () => {
    const calling = {
      role: 'assistant' as const,
      content: [{ type: 'tool-call' as const, id: 'a b', name: 'f', arguments: 'not json' }],
    }
    const stray = {
      role: 'user' as const,
      content: [{ type: 'tool-result' as const, callId: 'x', content: [] }],
    }
    expect(messages([text('user', 'q'), calling, stray])).toEqual([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a_b', name: 'f', input: { _raw: 'not json' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a_b', content: '', is_error: true }] },
    ])
    expect(messages([text('user', 'q'), calling])).toHaveLength(3)
  })
})

describe('thinking', () => {
  test('the suffix of an older model sets a budget from the limit of the answer', () => {
    const sent = body({ temperature: 0.2, topP: 0.99, topK: 3 }, { model: 'claude-3-7-sonnet-20250219-thinking' })
    expect(sent).toMatchObject({
      model: 'claude-3-7-sonnet-20250219',
      max_tokens: 64_000,
      thinking: { type: 'enabled', budget_tokens: 6553 },
      temperature: 1,
    })
    expect(sent).not.toHaveProperty('top_p')
    expect(sent).not.toHaveProperty('top_k')
  })

  test('a limit too small to think in is raised', () => {
    expect(body({ maxTokens: 100 }, { model: 'claude-sonnet-4-5-thinking' })).toMatchObject({
      max_tokens: 1280,
      thinking: { budget_tokens: 1024 },
    })
  })

  test('how much of the limit is for thinking is for the operator to say', () => {
    const options = { 'claude.thinking_adapter_budget_tokens_percentage': 0.25 }
    expect(body({ maxTokens: 8000 }, { model: 'claude-sonnet-4-5-thinking', options })).toMatchObject({
      thinking: { budget_tokens: 2000 },
    })
  })

  test('a name that ends so is sent as it is when the adapter is off', () => {
    const options = { 'claude.thinking_adapter_enabled': false }
    expect(body({}, { model: 'claude-sonnet-4-5-thinking', options })['model']).toBe('claude-sonnet-4-5-thinking')
  })

  test('newer models decide for themselves and take an effort', () => {
    expect(body({}, { model: 'claude-opus-4-7-thinking' })).toMatchObject({
      model: 'claude-opus-4-7',
      thinking: { type: 'adaptive', display: 'summarized' },
    })
    expect(body({}, { model: 'claude-opus-4-6-high' })).toMatchObject({
      model: 'claude-opus-4-6',
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    })
  })

  test.each([
    ['claude-sonnet-4-5', 'low', { thinking: { type: 'enabled', budget_tokens: 1280 } }],
    ['claude-sonnet-4-5', 'high', { thinking: { type: 'enabled', budget_tokens: 4096 } }],
    ['claude-opus-4-6', 'minimal', { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }],
    ['claude-sonnet-5', 'none', { thinking: { type: 'disabled' } }],
    ['claude-sonnet-5-5', 'none', { thinking: { type: 'between_tools' } }],
    ['claude-fable-5', 'none', { output_config: { effort: 'low' } }],
  ] as const)('%s with effort %s', (model, effort, expected) => {
    expect(body({ reasoning: { effort } }, { model })).toMatchObject(expected)
  })

  test('a caller of the same dialect gets exactly the thinking they ask for', () => {
    const own = { extra: { dialect: 'claude' as const, fields: {} } }
    const asked = { reasoning: { mode: 'enabled' as const, budgetTokens: 10_000 }, maxTokens: 12_000, ...own }
    expect(body(asked)).toMatchObject({ max_tokens: 12_000, thinking: { type: 'enabled', budget_tokens: 10_000 } })
    const effort = body({ reasoning: { effort: 'high' }, ...own }, { model: 'claude-opus-4-6' })
    expect(effort).toMatchObject({ output_config: { effort: 'high' } })
    expect(effort).not.toHaveProperty('thinking')
  })

  test('an older model does not think on in a round of tools that lost its reasoning', () => {
    const request = { ...toolConversation(), reasoning: { effort: 'high' as const } }
    expect(body(request)).toMatchObject({ thinking: { type: 'disabled' } })
  })

  test('nor where a caller of another dialect writes the thinking in this one’s words', () => {
    const fields = { thinking: { type: 'enabled', budget_tokens: 4000 } }
    const request = { ...toolConversation(), temperature: 0.5, extra: { dialect: 'openai-chat' as const, fields } }
    expect(write(request)).toMatchObject({
      body: { thinking: { type: 'disabled' }, temperature: 0.5 },
      losses: ['thinking'],
    })
    const asked = { extra: request.extra, temperature: 0.5, toolChoice: { type: 'required' as const } }
    expect(body(asked)['thinking']).toEqual(fields.thinking)
  })

  test('thinking forbids sampling fields and forced tools', () => {
    const sent = write({
      reasoning: { effort: 'high' },
      temperature: 0.5,
      tools: [weatherTool],
      toolChoice: { type: 'required' },
    })
    expect(sent.body).toMatchObject({ tool_choice: { type: 'auto' } })
    expect(sent.body).not.toHaveProperty('temperature')
    expect(sent.losses).toEqual(['tool_choice', 'temperature'])
  })
})

test('models that refuse sampling fields get none', () => {
  const sent = write({ temperature: 0.5, topP: 0.9 }, { model: 'claude-opus-4-8' })
  expect(sent.body).not.toHaveProperty('temperature')
  expect(sent.losses).toEqual(['temperature', 'top_p'])
})

test('a sampling field forces the version that takes it; without one the caller’s version stands', () => {
  const callerHeaders = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'b1' }
  expect(write({ temperature: 1.7 }, { callerHeaders })).toMatchObject({
    headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'b1' },
    body: { temperature: 1 },
  })
  expect(write({}, { callerHeaders }).headers['anthropic-version']).toBe('2026-10-21')
})

test('headers and limits configured for a model are those of the name the caller used', () => {
  const options = {
    'claude.model_headers_settings': { mine: { 'Anthropic-Beta': ['a', 'b'] } },
    'claude.default_max_tokens': { default: 8192, mine: 4000 },
  }
  const sent = write({}, { originalModel: 'mine', callerHeaders: { 'anthropic-beta': 'c' }, options })
  expect(sent.headers['anthropic-beta']).toBe('a,b')
  expect(sent.body).toMatchObject({ max_tokens: 4000 })
})

test('without a limit the model may write as much as it can, and as much as the option says where that is not known', () => {
  const limit = (model: string, options = {}) => body({}, { model, originalModel: model, options })['max_tokens']
  expect(limit('claude-opus-4-8')).toBe(128_000)
  expect(limit('claude-3-5-haiku-20241022')).toBe(8192)
  expect(limit('glm-5')).toBe(8192)
  expect(limit('claude-opus-4-8', { 'claude.default_max_tokens': { default: 2000 } })).toBe(2000)
  expect(limit('claude-opus-4-1', { 'claude.default_max_tokens': { default: 99_000 } })).toBe(32_000)
})

test('tool choices are translated, and running tools at once can be forbidden', () => {
  const tools = { tools: [weatherTool] }
  expect(body({ ...tools, toolChoice: { type: 'tool', name: 'get_weather' } })['tool_choice']).toEqual({
    type: 'tool',
    name: 'get_weather',
  })
  expect(body({ ...tools, parallelToolCalls: false })['tool_choice']).toEqual({
    type: 'auto',
    disable_parallel_tool_use: true,
  })
  expect(body({ ...tools, toolChoice: { type: 'none' }, parallelToolCalls: false })['tool_choice']).toEqual({
    type: 'none',
  })
  expect(body({ toolChoice: { type: 'required' } })).not.toHaveProperty('tool_choice')
})

test('a schema is enforced where the model can and asked for where it cannot', () => {
  const schema = { type: 'object', properties: { a: { type: 'object', properties: {} } } }
  const responseFormat = { type: 'json-schema' as const, name: 'x', schema }
  expect(body({ responseFormat })['output_config']).toEqual({
    format: {
      type: 'json_schema',
      schema: {
        type: 'object',
        additionalProperties: false,
        properties: { a: { type: 'object', properties: {}, additionalProperties: false } },
      },
    },
  })
  expect(body({ responseFormat }, { model: 'claude-3-haiku-20240307' })['system']).toMatch(/follows this JSON schema/)
  expect(body({ responseFormat: { type: 'json' } })['system']).toMatch(/JSON object/)
})

test('what a caller of another dialect writes into the output’s settings stands beside what is translated', () => {
  const schema = { type: 'object', additionalProperties: false }
  const responseFormat = { type: 'json-schema' as const, name: 'x', schema }
  const send = (output_config: object, request: Partial<ChatRequest>) =>
    write({ ...request, extra: { dialect: 'openai-chat', fields: { output_config } } }, { model: 'claude-opus-4-6' })
  expect(send({ effort: 'low' }, { responseFormat })).toMatchObject({
    body: { output_config: { effort: 'low', format: { type: 'json_schema', schema } } },
    losses: [],
  })
  const task_budget = { type: 'tokens', total: 50_000 }
  expect(send({ task_budget }, { reasoning: { effort: 'high' } })).toMatchObject({
    body: { output_config: { effort: 'high', task_budget } },
    losses: [],
  })
})

test('at most four cache marks go out, the last ones', () => {
  const marked = (text: string) => ({ type: 'text' as const, text, cacheControl: { type: 'ephemeral' as const } })
  const sent = write({
    messages: [
      { role: 'system', content: [marked('s1'), marked('s2')] },
      { role: 'user', content: [marked('u1'), marked('u2'), marked('u3')] },
    ],
  })
  expect(JSON.stringify(sent.body).match(/cache_control/g)).toHaveLength(4)
  expect((sent.body as { system: unknown[] }).system[0]).toEqual({ type: 'text', text: 's1' })
  expect(sent.losses).toEqual(['cache_control'])
})

test('images and documents keep their kind', () => {
  const sent = body({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { kind: 'base64', mediaType: 'image/jpg', data: 'AA' } },
          { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
          { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'BB' }, filename: 'a.pdf' },
          { type: 'file', source: { kind: 'base64', mediaType: 'text/plain', data: 'aGk=' } },
        ],
      },
    ],
  })
  expect(sent['messages']).toEqual([
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AA' } },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'BB' }, title: 'a.pdf' },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' } },
      ],
    },
  ])
})

test('what cannot be said at all is refused, what can be left out is named', () => {
  const audio = { type: 'audio' as const, source: { kind: 'base64' as const, mediaType: 'audio/wav', data: 'AA' } }
  expect(() => write({ messages: [{ role: 'user', content: [audio] }] })).toThrow(
    expect.objectContaining({ code: 'unsupported.audio' }),
  )
  expect(() => write({ choiceCount: 2 })).toThrow(expect.objectContaining({ code: 'unsupported.answers' }))
  const fields = { verbosity: 'low', container: 'c' }
  const sent = write({ seed: 1, extra: { dialect: 'openai-chat', fields } })
  expect(sent.losses).toEqual(['verbosity', 'seed'])
  expect(sent.body).toMatchObject({ container: 'c' })
})

test('reasoning goes back only with this vendor’s proof', () => {
  const sent = write({
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'mine', signature: { dialect: 'claude', value: 's' } },
          { type: 'reasoning', text: 'foreign', signature: { dialect: 'gemini', value: 'g' } },
          { type: 'reasoning', text: '', encrypted: { dialect: 'claude', data: 'd' } },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'c' }] },
    ],
  })
  expect((sent.body as { messages: unknown[] }).messages[1]).toEqual({
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'mine', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'text', text: 'b' },
    ],
  })
  expect(sent.losses).toEqual(['reasoning_content'])
})

test('a field of responses that has the name of one of Claude’s is none of them', () => {
  const context_management = [{ type: 'compaction', compact_threshold: 200_000 }]
  const send = (dialect: 'openai-responses' | 'openai-chat') =>
    write({ extra: { dialect, fields: { context_management } } }, { model: 'claude-sonnet-4-6' })
  expect(send('openai-responses').body).not.toHaveProperty('context_management')
  expect(send('openai-responses').losses).toEqual(['context_management'])
  expect(send('openai-chat')).toMatchObject({ body: { context_management }, losses: [] })
})
