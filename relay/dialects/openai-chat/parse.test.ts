import { describe, expect, it } from 'vitest'
import { lossesTowards } from '#relay/chat/losses.ts'
import { refusalOf } from '../testing/refusal.ts'
import { openAiChat } from './index.ts'

const hello = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const parse = (body: unknown) => openAiChat.parse(body, {})
const refusal = (body: unknown) => refusalOf(openAiChat, body)
const messagesOf = (messages: unknown[]) => parse({ model: 'm', messages }).messages

describe('chat completion request', () => {
  it.each([
    [{ messages: hello.messages }, 'model is required'],
    [{ ...hello, model: '' }, 'model is required'],
    [{ model: 'm' }, 'messages is required'],
    [{ model: 'm', messages: [] }, 'messages is required'],
    [{ ...hello, max_tokens: -1 }, 'max_tokens is invalid'],
    [{ ...hello, max_tokens: 2 ** 63 }, 'max_tokens is invalid'],
    [{ ...hello, max_tokens: 1073741824 }, 'max_tokens is invalid'],
    [{ ...hello, max_tokens: 1.5 }, 'max_tokens is invalid'],
    [{ ...hello, max_tokens: '5' }, 'max_tokens is invalid'],
    [{ ...hello, max_completion_tokens: -1 }, 'max_completion_tokens is invalid'],
    [{ ...hello, n: 0 }, 'n is invalid'],
    [{ ...hello, n: -1 }, 'n is invalid'],
    [{ ...hello, n: 1e9 }, 'n is invalid'],
    [{ ...hello, n: 129 }, 'n is invalid'],
    [{ ...hello, temperature: Infinity }, 'temperature is invalid'],
    [{ ...hello, stream: 'yes' }, 'stream is invalid'],
    [{ ...hello, stop: [1] }, 'stop is invalid'],
    [{ ...hello, tools: {} }, 'tools is invalid'],
    [{ ...hello, tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name is required'],
    [{ ...hello, reasoning_effort: 'as much as it takes' }, 'reasoning_effort is invalid'],
    [{ model: 'm', messages: ['hi'] }, 'messages[0] is invalid'],
    [{ model: 'm', messages: [{ role: 'robot', content: '' }] }, 'messages[0].role is invalid'],
    [{ model: 'm', messages: [{ role: 'user', content: 5 }] }, 'messages[0].content is invalid'],
    [{ model: 'm', messages: [{ role: 'tool', content: '' }] }, 'messages[0].tool_call_id is required'],
    ['text', 'request body must be a JSON object'],
    [null, 'request body must be a JSON object'],
    [[], 'request body must be a JSON object'],
  ])('refuses %j', (body, message) => {
    expect(refusal(body)).toBe(`invalid_text_request: ${message}`)
  })

  it('complains about the output limit before it looks for a model', () => {
    expect(refusal({ max_tokens: -1 })).toBe('invalid_text_request: max_tokens is invalid')
  })

  it('refuses a body nested a hundred thousand levels deep instead of overflowing', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    expect(refusal({ ...hello, metadata: deep })).toBe('invalid_text_request: request body is nested too deeply')
    const tool = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)
    expect(refusal({ ...hello, tools: [tool] })).toBe('invalid_text_request: request body is nested too deeply')
  })

  it('treats __proto__ and constructor as names without power', () => {
    const hostile = JSON.parse(
      '{"model":"m","__proto__":{"stream":true,"polluted":1},"constructor":{"prototype":{"polluted":1}},' +
        '"messages":[{"role":"user","content":"hi","__proto__":{"role":"system"}}],' +
        '"tools":[{"type":"function","function":{"name":"__proto__","parameters":{"__proto__":{"polluted":1}}}}]}',
    )
    const request = parse(hostile)
    expect(request.stream).toBe(false)
    expect(request.messages[0]?.role).toBe('user')
    expect(Object.getPrototypeOf(request.extra.fields)).toBe(Object.prototype)
    expect(Object.keys(request.extra.fields)).toEqual(['constructor'])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('reads sampling, limits and reasoning settings, and keeps what it does not know', () => {
    const request = parse({
      ...hello,
      max_tokens: 10,
      max_completion_tokens: 20,
      temperature: 0,
      top_p: 0.5,
      top_k: 3,
      stop: 'END',
      seed: -5,
      n: 2,
      logprobs: true,
      top_logprobs: 4,
      user: 'u',
      stream: true,
      stream_options: { include_usage: true },
      reasoning_effort: 'low',
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' }, strict: true } },
      web_search_options: {
        search_context_size: 'high',
        user_location: { type: 'approximate', approximate: { city: 'Bern' } },
      },
      logit_bias: { '5': 1 },
      prediction: null,
    })
    expect(request).toMatchObject({
      maxTokens: 20,
      temperature: 0,
      topP: 0.5,
      topK: 3,
      stop: ['END'],
      seed: -5,
      choiceCount: 2,
      logprobs: true,
      topLogprobs: 4,
      user: 'u',
      stream: true,
      includeUsage: true,
      parallelToolCalls: false,
      reasoning: { effort: 'low' },
      responseFormat: { type: 'json-schema', name: 's', schema: { type: 'object' }, strict: true },
      tools: [{ type: 'web-search', contextSize: 'high', maxUses: 10, userLocation: { city: 'Bern' } }],
      extra: { dialect: 'openai-chat', fields: { logit_bias: { '5': 1 }, prediction: null } },
    })
  })

  it('counts a limit of zero as no limit', () => {
    expect(parse({ ...hello, max_tokens: 0 }).maxTokens).toBeUndefined()
  })

  it('puts tool results in front of what the user says next, with the names of the tools', () => {
    const messages = messagesOf([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'first', arguments: '{"x":1}' } },
          { id: 'b', type: 'custom', custom: { name: 'second', input: 'free text' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'two' }] },
      { role: 'user', content: 'go on' },
    ])
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', id: 'a', name: 'first', arguments: '{"x":1}' },
          { type: 'tool-call', id: 'b', name: 'second', arguments: 'free text', kind: 'custom' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool-result', callId: 'a', name: 'first', content: [{ type: 'text', text: 'one' }] },
          { type: 'tool-result', callId: 'b', name: 'second', content: [{ type: 'text', text: 'two' }] },
          { type: 'text', text: 'go on' },
        ],
      },
    ])
  })

  it('pairs legacy function results with the call of their name', () => {
    const messages = messagesOf([
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'done' },
    ])
    expect(messages[0]?.content[0]).toMatchObject({ id: 'call_0_0', name: 'f' })
    expect(messages[1]?.content[0]).toMatchObject({ callId: 'call_0_0', name: 'f' })
  })

  it('reads images, audio and files, and keeps parts it does not know', () => {
    const [message] = messagesOf([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/PNG;base64,AAAA', detail: 'low' } },
          { type: 'image_url', image_url: 'https://pictures.test/a.png' },
          { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,CCCC' } },
          { type: 'file', file: { file_id: 'file-1' } },
          { type: 'video_url', video_url: { url: 'https://v.test' } },
        ],
      },
    ])
    expect(message?.content).toEqual([
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' }, detail: 'low' },
      { type: 'image', source: { kind: 'url', url: 'https://pictures.test/a.png' } },
      { type: 'audio', source: { kind: 'base64', mediaType: 'audio/mp3', data: 'BBBB' }, format: 'mp3' },
      { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'CCCC' }, filename: 'a.pdf' },
      { type: 'file', source: { kind: 'file-id', id: 'file-1' } },
      {
        type: 'vendor',
        dialect: 'openai-chat',
        value: { type: 'video_url', video_url: { url: 'https://v.test' } },
      },
    ])
  })

  it('keeps cache markers on the block they mark', () => {
    const cacheControl = { type: 'ephemeral', ttl: '1h' }
    const request = parse({
      model: 'm',
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'be kind', cache_control: cacheControl }] },
        { role: 'user', content: 'hi', cache_control: { type: 'ephemeral' } },
      ],
      tools: [{ type: 'function', function: { name: 'f' }, cache_control: cacheControl }],
    })
    expect(request.messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'be kind', cacheControl }] },
      { role: 'user', content: [{ type: 'text', text: 'hi', cacheControl: { type: 'ephemeral' } }] },
    ])
    expect(request.tools).toEqual([{ type: 'function', name: 'f', cacheControl }])
  })

  it('gives signed reasoning, hidden reasoning and call signatures back as they came', () => {
    const [message] = messagesOf([
      {
        role: 'assistant',
        content: 'answer',
        reasoning_content: 'visible thought',
        reasoning_details: [
          { type: 'reasoning.text', text: 'visible thought', signature: 's1', format: 'anthropic-claude-v1', index: 0 },
          { type: 'reasoning.encrypted', data: 'd2', format: 'anthropic-claude-v1', index: 1 },
        ],
        tool_calls: [
          {
            id: 'c',
            type: 'function',
            function: { name: 'f', arguments: '' },
            extra_content: { google: { thought_signature: 's3' } },
          },
        ],
      },
    ])
    expect(message?.content).toEqual([
      { type: 'reasoning', text: 'visible thought', signature: { dialect: 'claude', value: 's1' } },
      { type: 'reasoning', text: '', encrypted: { dialect: 'claude', data: 'd2' } },
      { type: 'text', text: 'answer' },
      { type: 'tool-call', id: 'c', name: 'f', arguments: '', signature: { dialect: 'gemini', value: 's3' } },
    ])
  })

  it('joins text and signature of one reasoning part when a caller gathered them apart', () => {
    const [split, plain] = messagesOf([
      {
        role: 'assistant',
        content: 'a',
        reasoning_details: [
          { type: 'reasoning.text', text: 'thought', index: 0 },
          { type: 'reasoning.text', signature: 's', index: 0 },
        ],
      },
      { role: 'assistant', content: 'a', reasoning_content: 'thought', reasoning_signature: 's' },
    ])
    const joined = { type: 'reasoning', text: 'thought', signature: { dialect: 'claude', value: 's' } }
    expect(split?.content[0]).toEqual(joined)
    expect(plain?.content[0]).toEqual(joined)
  })

  it.each([
    [{ reasoning_details: 'thought' }, 'thought'],
    [{ reasoning_details: 'thought', reasoning_content: '' }, 'thought'],
    [{ reasoning_details: 'other', reasoning: 'thought' }, 'thought'],
    [{ reasoning_details: '', reasoning_content: 'thought' }, 'thought'],
    [{ reasoning_details: 'thought', reasoning: { effort: 'low' } }, 'thought'],
    [{ reasoning_details: '' }, undefined],
    [{ reasoning: { effort: 'low' } }, undefined],
  ])('reads reasoning wherever agents put its text: %j', (fields, text) => {
    const [message] = messagesOf([{ role: 'assistant', content: 'a', ...fields }])
    const reasoning = text === undefined ? [] : [{ type: 'reasoning', text }]
    expect(message?.content).toEqual([...reasoning, { type: 'text', text: 'a' }])
  })

  it.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'required' }],
    ['any', { type: 'required' }],
    [
      { type: 'function', function: { name: 'f' } },
      { type: 'tool', name: 'f' },
    ],
    [
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
      { type: 'allowed', mode: 'required', names: ['f'] },
    ],
  ])('reads the tool choice %j', (given, expected) => {
    expect(parse({ ...hello, tool_choice: given }).toolChoice).toEqual(expected)
  })

  it('sees the thinking switches of other vendors and still carries them along', () => {
    const request = parse({ ...hello, thinking: { type: 'enabled', budget_tokens: 2000 } })
    expect(request.reasoning).toEqual({ mode: 'enabled', budgetTokens: 2000 })
    expect(request.extra.fields).toHaveProperty('thinking')
  })

  it('carries an effort in a vendor’s own word along, and reads none from it', () => {
    const request = parse({ ...hello, reasoning_effort: 'default' })
    expect(request.reasoning).toBeUndefined()
    expect(request.extra.fields).toEqual({ reasoning_effort: 'default' })
    expect(lossesTowards(request, 'claude')).toEqual(['reasoning_effort'])
    expect(parse({ ...hello, reasoning_effort: 'low' }).extra.fields).toEqual({})
  })

  it.each([
    [{ thinking_budget: 0 }, { mode: 'disabled', effort: 'none', budgetTokens: 0 }],
    [
      { thinking_budget: -1, include_thoughts: true },
      { mode: 'enabled', budgetTokens: -1, includeThoughts: true },
    ],
    [
      { thinkingBudget: 800, includeThoughts: false },
      { mode: 'enabled', budgetTokens: 800, includeThoughts: false },
    ],
    [{ thinking_level: 'LOW' }, { effort: 'low' }],
    [{ include_thoughts: true }, { includeThoughts: true }],
    [{ thinking_level: 'huge', thinking_budget: 'much' }, undefined],
  ])('reads Google’s own words for thinking: %j', (thinking, expected) => {
    const request = parse({ ...hello, extra_body: { google: { thinking_config: thinking } } })
    expect(request.reasoning).toEqual(expected)
    expect(request.extra.fields).toHaveProperty('extra_body')
  })
})
