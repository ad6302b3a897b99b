import { describe, expect, test } from 'vitest'
import { fitRequest } from '#relay/chat/fit/fit-request.ts'
import { openAiProfile } from '#relay/chat/fit/profile.ts'
import type { ChatRequest, FunctionTool, Message, ToolResultPart } from '#relay/chat/request.ts'
import { callWith } from './conformance/fixtures.ts'
import { providerFor } from './registry.ts'

type Target = { type: number; model: string }

/** What is sent to a vendor, fitted as the gateway fits it, and what it is said to lose. */
function sendTo({ type, model }: Target, changes: Partial<ChatRequest>) {
  const given: ChatRequest = {
    model: 'm',
    messages: [say('user', 'q')],
    tools: [],
    stop: [],
    stream: false,
    includeUsage: false,
    extra: { dialect: 'gemini', fields: {} },
    losses: [],
    ...changes,
  }
  const provider = providerFor(type)
  const call = callWith({ model, channel: { type } })
  const fitted = fitRequest(given, provider.chat.profile?.(call) ?? openAiProfile)
  const made = provider.chat.request(fitted.request, call)
  return {
    body: JSON.parse(JSON.stringify(made.body)) as Record<string, unknown>,
    losses: [...fitted.losses, ...(made.losses ?? [])],
  }
}

const say = (role: 'user' | 'assistant' | 'system', text: string): Message => ({
  role,
  content: [{ type: 'text', text }],
})
const asked: Message = {
  role: 'assistant',
  content: [{ type: 'tool-call', id: 'callabcde', name: 'f', arguments: '{"a":' }],
}
const answered = (...content: ToolResultPart['content']): ToolResultPart => ({
  type: 'tool-result',
  callId: 'callabcde',
  name: 'f',
  content,
})
const loop = (result: ToolResultPart, ...rest: Message[]): Message[] => [
  say('user', 'q'),
  asked,
  { role: 'user', content: [result] },
  ...rest,
]
const f: FunctionTool = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }
const image = { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } } as const
const done = { type: 'text', text: 'r' } as const

const claude = { type: 14, model: 'claude-sonnet-4-5-20250929' }
const openAi = { type: 1, model: 'gpt-4o' }
const gemini = { type: 24, model: 'gemini-2.5-flash' }
const deepSeek = { type: 43, model: 'deepseek-v4' }

describe('Claude', () => {
  test('is sent the images of a failed call behind its result, which may hold text only', () => {
    const { body } = sendTo(claude, { messages: loop({ ...answered(done, image), isError: true }), tools: [f] })
    expect(body['messages']).toMatchObject([
      {},
      {},
      { content: [{ type: 'tool_result', content: 'r', is_error: true }, { type: 'image' }] },
    ])
  })

  test('is sent no text of blanks alone', () => {
    const { body } = sendTo(claude, {
      messages: [say('system', ' '), say('user', 'q'), say('assistant', '\n'), say('user', ' ')],
    })
    expect(body).not.toHaveProperty('system')
    expect(JSON.stringify(body['messages'])).not.toMatch(/"(text|content)":"(\s|\\n)*"/)
  })

  test('thinks no further in a round of tools whose reasoning is gone, though a blank answer stands behind it', () => {
    const messages = loop(answered(done), say('assistant', ' '), say('user', 'more'))
    const { body } = sendTo(claude, { messages, tools: [f], reasoning: { mode: 'enabled', budgetTokens: 2000 } })
    expect(body['thinking']).toEqual({ type: 'disabled' })
  })

  test('is held to as many schemas as it compiles, the answer’s before those of tools', () => {
    const optional = (count: number) => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { type: 'string' }])),
      additionalProperties: false,
    })
    const tools = [10, 10, 10, 4].map((count, at): FunctionTool => ({
      ...f,
      name: `t${at}`,
      strict: true,
      parameters: optional(count),
    }))
    const strictIn = (body: Record<string, unknown>) =>
      (body['tools'] as { strict?: boolean }[]).map((each) => each.strict)
    const { body, losses } = sendTo(claude, { tools })
    expect(strictIn(body)).toEqual([true, true, undefined, true])
    expect(losses).toContain('tools.strict')
    const many = Array.from({ length: 22 }, (_, at): FunctionTool => ({
      ...f,
      name: `t${at}`,
      strict: true,
      parameters: optional(0),
    }))
    expect(strictIn(sendTo(claude, { tools: many }).body).filter(Boolean)).toHaveLength(20)
    const answer = { type: 'json-schema', name: 'x', schema: optional(25), strict: true } as const
    const refused = sendTo(claude, { responseFormat: answer })
    expect(refused.body).not.toHaveProperty('output_config')
    expect(JSON.stringify(refused.body['system'])).toContain('p24')
    expect(refused.losses).toContain('response_format.strict')
  })
})

describe('vendors of OpenAI’s form', () => {
  test('are asked for JSON in words where nobody has said the word, and only there', () => {
    const responseFormat = { type: 'json' } as const
    for (const target of [openAi, deepSeek, { type: 17, model: 'qwen-plus' }])
      expect(sendTo(target, { responseFormat }).body['messages']).toMatchObject(
        [{ content: /JSON/ }, { content: 'q' }].map(({ content }) => ({
          content: typeof content === 'string' ? content : expect.stringMatching(content),
        })),
      )
    const named = { responseFormat, messages: [say('user', 'as json')] }
    expect(sendTo(openAi, named).body['messages']).toHaveLength(1)
    const codex = sendTo({ type: 1, model: 'gpt-5-codex' }, { responseFormat })
    expect(codex.body['input']).toMatchObject([{ role: 'developer', content: expect.stringContaining('JSON') }, {}])
  })

  test('are asked for no more tokens than their model writes', () => {
    expect(sendTo(openAi, { maxTokens: 32_000 })).toMatchObject({
      body: { max_tokens: 16_384 },
      losses: expect.arrayContaining(['max_tokens']),
    })
    expect(sendTo(openAi, { maxTokens: 16_000 }).body).toMatchObject({ max_tokens: 16_000 })
    expect(sendTo({ type: 24, model: 'gemini-2.0-flash' }, { maxTokens: 9000 }).body).toMatchObject({
      generationConfig: { maxOutputTokens: 8192 },
    })
    expect(sendTo(deepSeek, { maxTokens: 200_000 }).body).toMatchObject({ max_tokens: 200_000 })
  })

  test('are offered 128 tools at most, those in use among them', () => {
    const tools = Array.from({ length: 200 }, (_, at): FunctionTool => ({ ...f, name: at === 199 ? 'f' : `t${at}` }))
    const { body, losses } = sendTo(openAi, { tools, messages: loop(answered(done)) })
    const names = (body['tools'] as { function: { name: string } }[]).map((each) => each.function.name)
    expect(names).toHaveLength(128)
    expect(names.at(-1)).toBe('f')
    expect(losses).toContain('tools')
    const toolChoice = { type: 'allowed', mode: 'auto', names: ['t150', 't0'] } as const
    const chosen = sendTo(openAi, { tools, toolChoice: { ...toolChoice, names: [...toolChoice.names] } })
    expect(JSON.stringify(chosen.body['tools'])).toContain('"t150"')
  })

  test('are given a name of the format in their alphabet', () => {
    const responseFormat = {
      type: 'json-schema',
      name: 'An answer!',
      schema: { type: 'object', properties: {} },
    } as const
    const { body } = sendTo(openAi, { responseFormat })
    expect(body['response_format']).toMatchObject({
      json_schema: { name: expect.stringMatching(/^An_answer__[0-9a-f]{12}$/) },
    })
  })

  test('take reasoning alone for no conversation', () => {
    const messages: Message[] = [{ role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }] }]
    expect(sendTo({ type: 1, model: 'gpt-5-codex' }, { messages }).body['input']).toMatchObject([{ role: 'user' }])
  })
})

describe('single vendors', () => {
  test('Mistral receives a turn of the model between a result and the user, and no instructions behind either', () => {
    const messages = loop(answered(done, image), say('system', 's'), say('assistant', 'begun'))
    // Callers of the chat form, whose instructions stay where they stand.
    const extra = { dialect: 'openai-chat' as const, fields: {} }
    const { body } = sendTo({ type: 42, model: 'mistral-large-latest' }, { messages, tools: [f], extra })
    expect((body['messages'] as { role: string }[]).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'system',
      'assistant',
    ])
    expect(body['messages']).toMatchObject({ 6: { prefix: true, content: 'begun' } })
    const later = loop(answered(done), say('system', 's'), say('user', 'go on'))
    const roles = sendTo({ type: 42, model: 'mistral-large-latest' }, { messages: later, tools: [f], extra }).body[
      'messages'
    ]
    expect((roles as { role: string }[]).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'user',
    ])
  })

  test('DashScope is sent arguments that are JSON, whatever a broken stream left of them', () => {
    const { body } = sendTo({ type: 17, model: 'qwen-plus' }, { messages: loop(answered(done)), tools: [f] })
    expect(body['messages']).toMatchObject({
      1: { tool_calls: [{ function: { name: 'f', arguments: JSON.stringify({ _raw: '{"a":' }) } }] },
    })
  })

  test('DeepSeek is sent reasoning with every answer of a conversation with tools, while it thinks', () => {
    const messages = loop(answered(done), say('assistant', 'a'), say('user', 'more'))
    expect(sendTo(deepSeek, { messages, tools: [f] }).body['messages']).toMatchObject({
      1: { reasoning_content: ' ' },
      3: { reasoning_content: ' ' },
    })
    for (const changes of [
      { messages, tools: [f], reasoning: { mode: 'disabled' } as const },
      { messages: [say('user', 'q'), say('assistant', 'a'), say('user', 'more')] },
    ])
      expect(JSON.stringify(sendTo(deepSeek, changes).body)).not.toContain('reasoning_content')
  })

  test('DeepSeek is sent a word in place of each image, in both of its forms, whoever wrote them', () => {
    const word = { type: 'text', text: '[image_url left out: this model cannot read it]' }
    const question: Message = { role: 'user', content: [done, image] }
    const { body, losses } = sendTo(deepSeek, {
      messages: loop(answered(done, image), say('assistant', 'a'), question),
    })
    expect(body['messages']).toMatchObject({
      2: { content: 'r' },
      3: { content: [word] },
      5: { content: [done, word] },
    })
    expect(losses).toContain('image_url')
    expect(sendTo(openAi, { messages: [question] }).losses).not.toContain('image_url')

    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
    const messages = [
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c', content: [done, { type: 'image', source }] }],
      },
      { role: 'user', content: 'q' },
    ]
    const json = { model: 'm', max_tokens: 9, messages }
    const native = providerFor(43).native.claude!.request(
      { json, bytes: Buffer.from(JSON.stringify(json)) },
      callWith({ model: 'deepseek-v4', channel: { type: 43 } }),
    )
    const left = { type: 'text', text: '[image left out: this model cannot read it]' }
    expect(JSON.parse(String(native.body))['messages']).toEqual([
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [done, left] }] },
      { role: 'user', content: 'q' },
    ])
    expect(native.losses).toEqual(['image'])
  })

  test('DeepSeek’s Flash sees images, in both forms, and is sent a word in place of other files', () => {
    const file = { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' } } as const
    const question: Message = { role: 'user', content: [done, image, file] }
    const { body, losses } = sendTo({ type: 43, model: 'deepseek-flash' }, { messages: [question] })
    const word = { type: 'text', text: '[file left out: this model cannot read it]' }
    expect(body['messages']).toMatchObject([{ content: [done, { type: 'image_url' }, word] }])
    expect(losses).toEqual(['file'])
    for (const model of ['deepseek-flash', 'deepseek-v4-flash', 'deepseek-v4-flash-vision-exp']) {
      const content = [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }]
      const json = { model, max_tokens: 9, messages: [{ role: 'user', content }] }
      const native = providerFor(43).native.claude!.request(
        { json, bytes: Buffer.from(JSON.stringify(json)) },
        callWith({ model, channel: { type: 43 } }),
      )
      expect(JSON.parse(String(native.body))['messages']).toEqual(json.messages)
      expect(native.losses).toEqual([])
    }
  })

  test.each([
    ['deepseek-v4', {}, 393_216],
    ['deepseek-flash', {}, 393_216],
    ['deepseek-v4', { default: 500 }, 500],
    ['deepseek-v4', { default: 8192, 'deepseek-v4': 700 }, 700],
    ['unknown', {}, 8192],
  ])(
    'a call in the messages form of %s without a limit, where %j is configured, asks for %i tokens',
    (model, own, limit) => {
      const json = { model, messages: [{ role: 'user', content: 'q' }] }
      const call = callWith({
        model,
        channel: { type: 43 },
        options: { 'claude.default_max_tokens': { default: 8192, ...own } },
      })
      const native = providerFor(43).native.claude!.request({ json, bytes: Buffer.from(JSON.stringify(json)) }, call)
      expect(JSON.parse(String(native.body))).toMatchObject({ max_tokens: limit })
    },
  )

  test('older Geminis are asked in words for a format beside tools, newer ones are held to it', () => {
    const responseFormat = {
      type: 'json-schema',
      name: 'x',
      schema: { type: 'object', properties: { deep: {} } },
    } as const
    const older = sendTo(gemini, { responseFormat, tools: [f] })
    expect(older.body['generationConfig']).not.toHaveProperty('responseMimeType')
    expect(JSON.stringify(older.body['systemInstruction'])).toContain('deep')
    expect(older.losses).toContain('response_format.strict')
    for (const held of [
      sendTo(gemini, { responseFormat }),
      sendTo({ ...gemini, model: 'gemini-3-pro' }, { responseFormat, tools: [f] }),
    ])
      expect(held.body).toMatchObject({ generationConfig: { responseMimeType: 'application/json' } })
  })

  test('Cohere is asked about no files, which another channel may take', () => {
    const source = { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' } as const
    const messages: Message[] = [{ role: 'user', content: [{ type: 'file', source }] }]
    expect(() => sendTo({ type: 34, model: 'command-a-03-2025' }, { messages })).toThrow(
      expect.objectContaining({ code: 'unsupported.files' }),
    )
  })
})
