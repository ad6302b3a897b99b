import { describe, expect, it } from 'vitest'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import { testContext } from '../testing/stream-text.ts'
import { openAiChat } from './index.ts'
import { chatBodyOf } from './other-forms.ts'

const grammar = { syntax: 'lark', definition: 'start: begin_patch hunk end_patch' }
const patch = '*** Begin Patch\n*** Add File: a\n+b\n*** End Patch'
const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const readFile = { type: 'function', function: { name: 'ReadFile', description: 'Reads.', parameters: schema } }
const applyPatch = {
  type: 'custom',
  custom: { name: 'ApplyPatch', description: 'Edits.', format: { type: 'grammar', grammar } },
}
const flatPatch = {
  type: 'custom',
  name: 'ApplyPatch',
  description: 'Edits.',
  format: { type: 'grammar', ...grammar },
}
const patchCall = { id: 'call_2', type: 'custom', custom: { name: 'ApplyPatch', input: patch } }
const readCall = { id: 'call_1', type: 'function', function: { name: 'ReadFile', arguments: '{"path":"a"}' } }

describe('a body of responses at the path of chat completions', () => {
  it('is the chat completion that it means: conversation, tools, reasoning and forms of answers', () => {
    const made = chatBodyOf({
      model: 'm',
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'You edit code.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Fix a' },
            { type: 'input_image', image_url: 'https://i' },
          ],
        },
        { type: 'reasoning', summary: [], encrypted_content: 'x' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'ReadFile', arguments: '{"path":"a"}' },
        { type: 'function_call', call_id: 'call_2', name: 'ApplyPatch', arguments: patch },
        { type: 'function_call_output', call_id: 'call_1', output: 'b' },
        { type: 'custom_tool_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'Done!' }] },
        { type: 'custom_tool_call', call_id: 'call_2', name: 'ApplyPatch', input: patch },
      ],
      tools: [{ ...readFile.function, type: 'function', strict: false }, flatPatch, { type: 'web_search' }],
      tool_choice: { type: 'custom', name: 'ApplyPatch' },
      parallel_tool_calls: false,
      reasoning: { effort: 'medium', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      text: { verbosity: 'low', format: { type: 'json_schema', name: 'n', schema } },
      max_output_tokens: 1000,
      prompt_cache_key: 'k',
      previous_response_id: null,
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(made).toEqual({
      body: {
        model: 'm',
        prompt_cache_key: 'k',
        stream: true,
        stream_options: { include_usage: true },
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'developer', content: 'You edit code.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Fix a' },
              { type: 'image_url', image_url: { url: 'https://i' } },
            ],
          },
          { role: 'assistant', content: 'I look.', tool_calls: [readCall, patchCall] },
          { role: 'tool', tool_call_id: 'call_1', content: 'b' },
          { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'Done!' }] },
          { role: 'assistant', content: null, tool_calls: [patchCall] },
        ],
        tools: [{ ...readFile, function: { ...readFile.function, strict: false } }, applyPatch],
        tool_choice: { type: 'custom', custom: { name: 'ApplyPatch' } },
        parallel_tool_calls: false,
        max_completion_tokens: 1000,
        reasoning_effort: 'medium',
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
        verbosity: 'low',
      },
      losses: ['include', 'reasoning', 'tools.web_search'],
      freeText: new Set(['ApplyPatch']),
    })
  })

  it('says nothing of tools where it has none that can be called', () => {
    const about = { tools: [{ type: 'web_search' }], tool_choice: 'auto', parallel_tool_calls: true }
    expect(chatBodyOf({ model: 'm', input: 'hi', ...about })).toEqual({
      body: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
      losses: ['tools.web_search'],
      freeText: new Set(),
    })
  })

  it('shows what tools show in a message of the user’s behind their results', () => {
    const input = [
      { type: 'function_call', call_id: 'call_1', name: 'ReadFile', arguments: '{"path":"a"}' },
      {
        type: 'function_call_output',
        call_id: 'call_1',
        output: [
          { type: 'input_text', text: 'seen' },
          { type: 'input_image', image_url: 'https://i' },
        ],
      },
      { type: 'function_call_output', call_id: 'call_2', output: [{ type: 'input_image', image_url: 'https://j' }] },
      { role: 'assistant', content: 'I see.' },
      { type: 'function_call_output', call_id: 'call_3', output: [{ type: 'input_image', image_url: 'https://k' }] },
    ]
    const shown = (...urls: string[]) => ({
      role: 'user',
      content: urls.map((url) => ({ type: 'image_url', image_url: { url } })),
    })
    expect(chatBodyOf({ model: 'm', input })?.body['messages']).toEqual([
      { role: 'assistant', content: null, tool_calls: [readCall] },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'seen' }] },
      { role: 'tool', tool_call_id: 'call_2', content: '' },
      shown('https://i', 'https://j'),
      { role: 'assistant', content: 'I see.' },
      { role: 'tool', tool_call_id: 'call_3', content: '' },
      shown('https://k'),
    ])
  })

  it('names a choice of what the vendor runs itself as lost', () => {
    const tools = [{ ...readFile.function, type: 'function' }, { type: 'web_search' }]
    const made = chatBodyOf({ model: 'm', input: 'hi', tools, tool_choice: { type: 'web_search' } })
    expect(made?.body).toEqual({ model: 'm', messages: [{ role: 'user', content: 'hi' }], tools: [readFile] })
    expect(made?.losses).toEqual(['tools.web_search', 'tool_choice'])
  })

  it('keeps what the model says in one turn together, as text and as parts', () => {
    const says = (...content: object[]) => ({ role: 'assistant', content })
    const text = { type: 'output_text', text: 'a' }
    const refusal = { type: 'refusal', refusal: 'no' }
    const messagesOf = (...input: object[]) => chatBodyOf({ model: 'm', input })?.body['messages']
    expect(messagesOf(says(text), says(text))).toEqual([{ role: 'assistant', content: 'aa' }])
    const part = { type: 'text', text: 'a' }
    expect(messagesOf(says(text), says(refusal), says(text))).toEqual([
      { role: 'assistant', content: [part, refusal, part] },
    ])
  })

  it.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: { id: 'conv_1' } }, 'conversation'],
    [{ background: true }, 'background'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'item_reference'],
  ])('is refused where %j names what an upstream keeps or runs on with', (more, name) => {
    const ask = () => chatBodyOf({ model: 'm', input: 'hi', ...more })
    expect(ask).toThrow(InvalidRequest)
    expect(ask).toThrow(`${name} is not supported`)
  })
})

it('flat tools among nested ones are nested, and calls of free-text tools in the conversation are theirs', () => {
  const call = { id: 'call_2', type: 'function', function: { name: 'ApplyPatch', arguments: patch } }
  const messages = [
    { role: 'user', content: 'Fix a' },
    { role: 'assistant', content: null, tool_calls: [readCall, call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'b' },
  ]
  const made = chatBodyOf({ model: 'm', messages, tools: [readFile, flatPatch], of_2027: 1 })
  expect(made).toEqual({
    body: {
      model: 'm',
      of_2027: 1,
      messages: [messages[0], { ...messages[1], tool_calls: [readCall, patchCall] }, messages[2]],
      tools: [readFile, applyPatch],
    },
    losses: [],
    freeText: new Set(['ApplyPatch']),
  })
})

it('calls of free-text tools are those of functions to who describes them flat, and of free text to who nests them', () => {
  const nested = { type: 'custom', custom: { name: 'Note' } }
  const messages = [{ role: 'user', content: 'Fix a' }]
  const made = openAiChat.fromOtherForm?.({ model: 'm', messages, tools: [flatPatch, nested] })
  const call = { type: 'tool-call' as const, arguments: patch, kind: 'custom' as const }
  const parts = [
    { ...call, id: 'call_2', name: 'ApplyPatch' },
    { ...call, id: 'call_3', name: 'Note' },
  ]
  const answer = { id: 'a', model: 'm', choices: [{ parts, finish: 'tool-calls' as const }], usage: {} }
  expect(made?.dialect.encode(answer, testContext())).toMatchObject({
    choices: [{ message: { tool_calls: [{ type: 'function' }, { type: 'custom', custom: { name: 'Note' } }] } }],
  })
  const start = { type: 'tool-call-start' as const, index: 0, id: 'call_3', name: 'Note', kind: 'custom' as const }
  expect(made?.dialect.stream(testContext()).push(start)).toContain('"type":"custom"')
})

describe('tools and parts of messages at the path of chat completions', () => {
  const marker = { type: 'ephemeral' }
  const tool = { name: 'ReadFile', description: 'Reads.', input_schema: schema }
  const ask = (messages: object[], more: object = {}) => chatBodyOf({ model: 'm', messages, tools: [tool], ...more })

  it('are functions, calls and messages of tools', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } }
    const made = ask([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 't', signature: 's' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'call_1', name: 'ReadFile', input: { path: 'a' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'b' }], cache_control: marker },
          { type: 'tool_result', tool_use_id: 'call_3', content: 'gone', is_error: true },
          { type: 'text', text: 'Go on', cache_control: marker },
          image,
        ],
      },
    ])
    expect(made).toEqual({
      body: {
        model: 'm',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'assistant', content: [{ type: 'text', text: 'I look.' }], tool_calls: [readCall] },
          { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'b', cache_control: marker }] },
          { role: 'tool', tool_call_id: 'call_3', content: 'Error: gone' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Go on', cache_control: marker },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
            ],
          },
        ],
        tools: [readFile],
      },
      losses: ['thinking'],
      freeText: new Set(),
    })
  })

  it('show what tools show to the user, and keep that they failed and where to cache', () => {
    const source = { type: 'url', url: 'https://i' }
    const content = [
      { type: 'text', text: 'no page', cache_control: marker },
      { type: 'image', source },
    ]
    const odd = { type: 'search_result', source: 's' }
    const made = ask([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'ReadFile', cache_control: marker }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content, is_error: true },
          { type: 'tool_result', tool_use_id: 'call_2', content: [odd], is_error: true },
          { type: 'tool_result', tool_use_id: 'call_3', content: [{ type: 'image', source }], cache_control: marker },
          { type: 'text', text: 'Go on' },
        ],
      },
    ])
    expect(made?.body['messages']).toEqual([
      expect.objectContaining({ role: 'assistant' }),
      {
        role: 'tool',
        tool_call_id: 'call_1',
        content: [{ type: 'text', text: 'Error: no page', cache_control: marker }],
      },
      { role: 'tool', tool_call_id: 'call_2', content: [odd] },
      { role: 'tool', tool_call_id: 'call_3', content: '' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'https://i' } },
          { type: 'image_url', image_url: { url: 'https://i' } },
          { type: 'text', text: 'Go on' },
        ],
      },
    ])
    expect(made?.losses).toEqual(['cache_control', 'tool_result.is_error'])
  })

  it.each([['Be brief.'], [[{ type: 'text', text: 'Be brief.', cache_control: marker }]]])(
    'begin with what the system says beside the messages, %j, and stop where that body says',
    (system) => {
      const user = { role: 'user', content: 'hi' }
      const made = ask([user], { system, stop_sequences: ['end'] })
      const messages = [{ role: 'system', content: system }, user]
      expect(made).toMatchObject({ body: { messages, stop: ['end'] }, losses: [] })
      expect(made?.body).not.toHaveProperty('system')
      expect(made?.body).not.toHaveProperty('stop_sequences')
      expect(ask([user], { system: [], stop_sequences: null })?.body).toEqual({
        model: 'm',
        messages: [user],
        tools: [readFile],
      })
    },
  )

  it('leave out a turn that was cut while the model thought', () => {
    const user = { role: 'user', content: 'hi' }
    const made = ask([user, { role: 'assistant', content: [{ type: 'thinking', thinking: 't' }] }, user])
    expect(made).toMatchObject({ body: { messages: [user, user] }, losses: ['thinking'] })
  })

  it('call one at a time where the choice says so', () => {
    const made = ask([], { tool_choice: { type: 'auto', disable_parallel_tool_use: true } })
    expect(made?.body).toMatchObject({ tool_choice: 'auto', parallel_tool_calls: false })
  })

  it.each([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'ReadFile' },
      { type: 'function', function: { name: 'ReadFile' } },
    ],
    ['required', 'required'],
  ])('with the choice %j', (given, expected) => {
    expect(ask([], { tool_choice: given })?.body['tool_choice']).toEqual(expected)
  })
})

it.each([
  { messages: [], input: 'hi' },
  { messages: [{ role: 'user', content: [{ type: 'tool_result' }] }], tools: [readFile, applyPatch] },
  { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  { input: 5 },
])('an ordinary body, %j, is left alone', (body) => {
  expect(chatBodyOf({ model: 'm', ...body })).toBeUndefined()
})
