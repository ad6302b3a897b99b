import { describe, expect, it } from 'vitest'
import { lossesTowards } from '#relay/chat/losses.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { cheapPromptTokens } from '#relay/counting/cheap-count.ts'
import { refusalOf } from '../testing/refusal.ts'
import { openAiResponses } from './index.ts'

const parse = (body: object) => openAiResponses.parse({ model: 'm', input: 'hi', ...body }, {})
const refusal = (body: unknown) => refusalOf(openAiResponses, body)

describe('responses request', () => {
  it.each([
    [{ input: 'hi' }, 'model is required'],
    [{ model: 'm' }, 'input is required'],
    [{ model: 'm', input: [] }, 'input is required'],
    [{ model: 'm', input: 'hi', max_output_tokens: -1 }, 'max_output_tokens is invalid'],
    [{ model: 'm', input: [{ role: 'robot', content: 'x' }] }, 'input[0].role is invalid'],
    [{ model: 'm', input: [{ type: 'function_call', name: 'f' }] }, 'input[0].call_id is required'],
    [{ model: 'm', input: 'hi', reasoning: { effort: 'as much as it takes' } }, 'reasoning.effort is invalid'],
    [{ model: 'm', input: 'hi', tools: [{ name: 'f' }] }, 'tools[0].type is required'],
  ])('refuses %j', (body, message) => {
    expect(refusal(body)).toBe(`invalid_responses_request: ${message}`)
  })

  it('reads audio as the chat form does, also from a data address', () => {
    const { messages } = parse({
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
            { type: 'input_audio', input_audio: { data: 'data:audio/wav;base64,BBBB', format: 'wav' } },
          ],
        },
      ],
    })
    expect(messages[0]?.content).toEqual([
      { type: 'audio', source: { kind: 'base64', mediaType: 'audio/mp3', data: 'AAAA' }, format: 'mp3' },
      { type: 'audio', source: { kind: 'base64', mediaType: 'audio/wav', data: 'BBBB' }, format: 'wav' },
    ])
  })

  it('loses nothing where fields say nothing', () => {
    const silent = { include: [], user: null, metadata: null, prompt_cache_key: '', safety_identifier: null }
    const tool = { type: 'function', name: 'f', parameters: {}, defer_loading: null, allowed_callers: [] }
    const body = { ...silent, reasoning: { mode: null, context: null, summary: null }, text: { verbosity: null } }
    expect(lossesTowards(parse({ ...body, tools: [tool] }), 'claude')).toEqual([])
    // An empty object may switch something on.
    expect(lossesTowards(parse({ include: ['x'], context_management: {} }), 'claude')).toEqual([
      'include',
      'context_management',
    ])
  })

  it('joins reasoning, words and calls of one turn and puts results before what the user says', () => {
    const { messages } = parse({
      instructions: 'be kind',
      input: [
        { role: 'user', content: 'go' },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'dark' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'calling', annotations: [] }] },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' },
        { type: 'custom_tool_call', call_id: 'b', name: 'g', input: 'free' },
        { type: 'function_call_output', call_id: 'a', output: 'one' },
        { type: 'custom_tool_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'two' }] },
        { role: 'user', content: [{ type: 'input_text', text: 'and?' }] },
        { role: 'developer', content: 'later rule' },
      ],
    })
    expect(messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'be kind' }] },
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', encrypted: { dialect: 'openai-responses', data: 'dark' } },
          { type: 'text', text: 'calling' },
          { type: 'tool-call', id: 'a', name: 'f', arguments: '{"x":1}' },
          { type: 'tool-call', id: 'b', name: 'g', arguments: 'free', kind: 'custom' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool-result', callId: 'a', name: 'f', content: [{ type: 'text', text: 'one' }] },
          { type: 'tool-result', callId: 'b', name: 'g', content: [{ type: 'text', text: 'two' }] },
          { type: 'text', text: 'and?' },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: 'later rule' }] },
    ])
  })

  it('reads settings into the words of the hub and carries the rest along', () => {
    const request = parse({
      max_output_tokens: 5,
      top_logprobs: 2,
      text: { format: { type: 'json_schema', name: 's', schema: { type: 'object' }, strict: true }, verbosity: 'low' },
      reasoning: { effort: 'minimal', summary: 'auto' },
      tools: [
        { type: 'function', name: 'f', parameters: { type: 'object' }, strict: false },
        { type: 'web_search', search_context_size: 'low', user_location: { type: 'approximate', city: 'Bern' } },
        { type: 'file_search', vector_store_ids: ['v'] },
      ],
      tool_choice: { type: 'file_search' },
      previous_response_id: 'resp_1',
      store: true,
    })
    expect(request).toMatchObject({
      maxTokens: 5,
      logprobs: true,
      topLogprobs: 2,
      responseFormat: { type: 'json-schema', name: 's', schema: { type: 'object' }, strict: true },
      reasoning: { effort: 'minimal', includeThoughts: true },
      tools: [
        { type: 'function', name: 'f', parameters: { type: 'object' }, strict: false },
        { type: 'web-search', contextSize: 'low', maxUses: 1, userLocation: { city: 'Bern' } },
        { type: 'vendor', dialect: 'openai-responses' },
      ],
      extra: {
        dialect: 'openai-responses',
        fields: { previous_response_id: 'resp_1', store: true, text: { verbosity: 'low' } },
      },
      losses: ['tool_choice'],
    })
  })

  it('reads no effort from a vendor’s own word, and names it', () => {
    const request = parse({ reasoning: { effort: 'default', summary: 'auto' } })
    expect(request.reasoning).toEqual({ includeThoughts: true })
    expect(request.losses).toEqual(['reasoning.effort'])
    expect(parse({ reasoning: { effort: 'low' } }).losses).toEqual([])
  })

  it('reads images, files and audio, and keeps items it does not know', () => {
    const { messages } = parse({
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url: 'https://a.test/x.png', detail: 'original' },
            { type: 'input_image', file_id: 'f1' },
            { type: 'input_file', file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf' },
            { type: 'input_file', file_url: 'https://a.test/a.pdf' },
          ],
        },
        { type: 'item_reference', id: 'msg_1' },
      ],
    })
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image', source: { kind: 'url', url: 'https://a.test/x.png' }, detail: 'high' },
          { type: 'image', source: { kind: 'file-id', id: 'f1' } },
          { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AA' }, filename: 'a.pdf' },
          { type: 'file', source: { kind: 'url', url: 'https://a.test/a.pdf' } },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'vendor', dialect: 'openai-responses', value: { type: 'item_reference', id: 'msg_1' } }],
      },
    ])
  })
})

it('names what is said of messages, files and reasoning, which no other dialect has words for', () => {
  const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==', detail: 'high' }
  const input = [
    { type: 'message', role: 'user', content: [file] },
    { type: 'message', role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'yes' }] },
  ]
  const reasoning = { effort: 'low', mode: 'pro', context: 'all', summary: 'detailed' }
  expect(parse({ input, reasoning }).losses.toSorted()).toEqual([
    'input_file.detail',
    'message.phase',
    'reasoning.context',
    'reasoning.mode',
    'reasoning.summary',
  ])
  expect(parse({ reasoning: { effort: 'low', summary: 'auto' } }).losses).toEqual([])
})

it('leaves a search of what is stored to the one vendor that has it, by name', () => {
  const stored = parse({ tools: [{ type: 'web_search', external_web_access: false }] })
  expect(lossesTowards(stored, 'claude')).toEqual(['tools.web_search'])
  expect(lossesTowards(stored, 'openai-responses')).toEqual([])
  const live = parse({ tools: [{ type: 'web_search', external_web_access: true }] })
  expect(live.tools).toEqual([{ type: 'web-search' }])
})

describe('tools that stand in a conversation', () => {
  const words = (name: string) => `${name} `.repeat(4000)
  const tool = (name: string, about = name) => ({ type: 'function', name, description: words(about), parameters: {} })
  const found = (tools: object[], more: object = { execution: 'client' }) => ({
    type: 'tool_search_output',
    call_id: 'c',
    status: 'completed',
    tools,
    ...more,
  })
  const added = (...tools: object[]) => ({ type: 'additional_tools', role: 'developer', tools })
  const parseWith = (tools: object[], ...items: object[]) =>
    openAiResponses.parse({ model: 'm', tools, input: [{ role: 'user', content: 'hi' }, ...items] }, {})
  // Four characters are a token, and each of these words is one.
  const timesIn = (request: ChatRequest) => Math.round(cheapPromptTokens(request).promptTokens / 4000)

  it.each([
    ['found twenty times', 20, parseWith([], ...Array.from({ length: 20 }, () => found([tool('one')])))],
    ['that take the place of longer ones', 2, parseWith([tool('one')], added({ ...tool('two'), name: 'one' }))],
    [
      'that shorter ones take the place of',
      1,
      parseWith([], added(tool('one')), found([{ type: 'function', name: 'one' }])),
    ],
    ['that the vendor has found, beside what they are found in', 2, parseWith([tool('one')], found([tool('one')], {}))],
    [
      'that a shorter item says the vendor has found',
      1,
      parseWith([tool('one')], found([{ type: 'function', name: 'one' }], { execution: 'server' })),
    ],
    [
      'in groups that are described',
      2,
      parseWith([{ type: 'namespace', name: 'n', description: words('all'), tools: [tool('one')] }]),
    ],
  ])('count as they go out in this form: %s', (_, times, request) => {
    expect(timesIn(request)).toBe(times)
    expect(request.tools).toHaveLength(1)
  })

  it('count as skills of a shell do', () => {
    const environment = { type: 'local', skills: [{ name: 'a', description: words('one'), path: '/a' }] }
    expect(timesIn(parseWith([{ type: 'shell', environment }]))).toBe(1)
  })
})
