import { describe, expect, test } from 'vitest'
import { processorMs } from '#server/processor-time.ts'
import type { ChatRequest } from '#relay/chat/request.ts'
import { defaultOptions } from '../conformance/fixtures.ts'
import { imageRequest, requestWriter, toolConversation, weatherTool } from '../conformance/requests.ts'
import { gemini } from './index.ts'

const { write, body } = requestWriter(gemini, {
  model: 'gemini-2.5-flash',
  type: 24,
  baseUrl: 'https://generativelanguage.googleapis.com',
})
const config = (...given: Parameters<typeof body>) => body(...given)['generationConfig'] as Record<string, unknown>

test('a plain question becomes the smallest body that asks it', () => {
  expect(write()).toEqual({
    method: 'POST',
    url: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent',
    headers: { 'content-type': 'application/json', accept: 'application/json', 'x-goog-api-key': 'sk-test' },
    body: {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      safetySettings: [
        { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' },
        { category: 'HARM_CATEGORY_HATE_SPEECH', threshold: 'BLOCK_NONE' },
        { category: 'HARM_CATEGORY_SEXUALLY_EXPLICIT', threshold: 'BLOCK_NONE' },
        { category: 'HARM_CATEGORY_DANGEROUS_CONTENT', threshold: 'BLOCK_NONE' },
      ],
      generationConfig: {},
    },
    losses: [],
  })
})

test('a stream has its own operation, the version is the channel’s or the model’s', () => {
  expect(write({}, { stream: true }).url).toMatch(/v1beta\/models\/gemini-2.5-flash:streamGenerateContent\?alt=sse$/)
  expect(write({}, { channel: { other: 'v1' } }).url).toContain('/v1/models/')
  const options = { 'gemini.version_settings': { default: 'v1beta', mine: 'v1alpha' } }
  expect(write({}, { originalModel: 'mine', options }).url).toContain('/v1alpha/models/')
})

test('a name cannot lead out of its place in the address', () => {
  expect(write({}, { model: '../files?x=' }).url).toContain('/models/..%2Ffiles%3Fx%3D:generateContent')
})

test('a hundred thousand neighbours, and as many responses as calls, take no longer than a few seconds', () => {
  const count = 100_000
  const many = Array.from({ length: count }, (_, index) => String(index))
  const started = processorMs()
  const contents = (messages: ChatRequest['messages']) => body({ messages })['contents']
  const spoken = many.map((text) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] }))
  expect(contents(spoken)).toMatchObject([{ parts: { length: count } }])
  const calls = many.map((id) => ({ type: 'tool-call' as const, id, name: `f${id}`, arguments: '{}' }))
  const results = many.toReversed().map((id) => ({
    type: 'tool-result' as const,
    callId: id,
    name: `f${id}`,
    content: [{ type: 'text' as const, text: id }],
  }))
  const answered = contents([
    ...spoken.slice(0, 1),
    { role: 'assistant', content: calls },
    { role: 'user', content: results },
  ]) as { parts: { functionResponse: { name: string } }[] }[]
  expect(answered[2]?.parts.slice(0, 2).map(({ functionResponse }) => functionResponse.name)).toEqual(['f0', 'f1'])
  expect(processorMs() - started).toBeLessThan(10_000)
})

test('calls and responses are paired in one turn, in the order of the calls', () => {
  expect(body(toolConversation())).toMatchObject({
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: weatherTool.parameters }] }],
    contents: [
      { role: 'user' },
      {
        role: 'model',
        parts: [
          { text: 'I will look.' },
          { functionCall: { id: 'call_1', name: 'get_weather', args: { city: 'Paris' } } },
          { functionCall: { id: 'call_2', name: 'get_weather', args: { city: 'Rome' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'call_1', name: 'get_weather', response: { output: 'sunny-18' } } },
          { functionResponse: { id: 'call_2', name: 'get_weather', response: { error: 'no-such-station' } } },
          { text: 'And tomorrow?' },
        ],
      },
    ],
  })
})

test('missing responses are made up, stray ones go', () => {
  const sent = body({
    messages: [
      { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'f', arguments: '' }] },
      { role: 'user', content: [{ type: 'tool-result', callId: 'x', content: [{ type: 'text', text: 'stray' }] }] },
    ],
  })
  expect(sent['contents']).toEqual([
    { role: 'user', parts: [{ text: ' ' }] },
    { role: 'model', parts: [{ functionCall: { id: 'a', name: 'f', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'f', response: { error: 'no result' } } }] },
  ])
})

test.each([
  ['{"a":1}', { a: 1 }],
  ['[1,2]', { result: [1, 2] }],
  ['42', { output: '42' }],
  ['plain', { output: 'plain' }],
])('a result %s is sent as an object', (text, response) => {
  const sent = body({
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'q' }] },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }] },
      { role: 'user', content: [{ type: 'tool-result', callId: 'a', content: [{ type: 'text', text }] }] },
    ],
  })
  expect(sent['contents']).toMatchObject([{}, {}, { parts: [{ functionResponse: { response } }] }])
})

test('newer models get the signature of a call’s reasoning, or the word that stands for an unknown one', () => {
  const conversation = (signature?: { dialect: 'gemini' | 'claude'; value: string }): Partial<ChatRequest> => ({
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'q' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', id: 'a', name: 'f', arguments: '{}', ...(signature ? { signature } : {}) }],
      },
    ],
  })
  const first = (request: Partial<ChatRequest>, model: string) =>
    (body(request, { model })['contents'] as { parts: Record<string, unknown>[] }[])[1]?.parts[0]?.['thoughtSignature']
  expect(first(conversation({ dialect: 'gemini', value: 's' }), 'gemini-3-pro-preview')).toBe('s')
  expect(first(conversation({ dialect: 'claude', value: 'c' }), 'gemini-3-pro-preview')).toBe(
    'skip_thought_signature_validator',
  )
  expect(first(conversation(), 'gemini-2.5-pro')).toBeUndefined()
})

test('a signature without shown reasoning goes back on what stood behind it', () => {
  const sent = body({
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'q' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: '', signature: { dialect: 'gemini', value: 's' } },
          { type: 'text', text: 'answer' },
        ],
      },
    ],
  })
  expect(sent['contents']).toMatchObject([{}, { parts: [{ text: 'answer', thoughtSignature: 's' }] }])
})

test('media travel inline; addresses the vendor reads itself stay', () => {
  expect(body(imageRequest())['contents']).toMatchObject([
    { parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png' } }] },
  ])
  const video = { type: 'file' as const, source: { kind: 'url' as const, url: 'https://www.youtube.com/watch?v=1' } }
  expect(gemini.chat.keepsAddress?.(video)).toBe(true)
  expect(gemini.chat.keepsAddress?.({ ...video, source: { kind: 'url', url: 'https://evil.test/youtube.com/' } })).toBe(
    false,
  )
  expect(body({ messages: [{ role: 'user', content: [video] }] })['contents']).toMatchObject([
    { parts: [{ fileData: { fileUri: 'https://www.youtube.com/watch?v=1' } }] },
  ])
  const stored = { type: 'image' as const, source: { kind: 'file-id' as const, id: 'f' } }
  expect(() => write({ messages: [{ role: 'user', content: [stored] }] })).toThrow(
    expect.objectContaining({ code: 'unsupported.file_id' }),
  )
})

test('images shown inside an earlier answer become images again', () => {
  const text = 'Here: ![image](data:image/png;base64,AAAA) done'
  const messages: ChatRequest['messages'] = [
    { role: 'user', content: [{ type: 'text', text: 'draw' }] },
    { role: 'assistant', content: [{ type: 'text', text }] },
  ]
  expect(body({ messages })['contents']).toMatchObject([
    {},
    { parts: [{ text: 'Here: ' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }, { text: ' done' }] },
  ])
})

test('models that draw from the third generation on get every image of an answer with its signature, or the word for an unknown one', () => {
  const text = 'Here: ![image](data:image/jpg;base64,AAAA)'
  const conversation = (signatures: string[]): Partial<ChatRequest> => ({
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'draw' }] },
      {
        role: 'assistant',
        content: [
          ...signatures.map((value) => ({
            type: 'reasoning' as const,
            text: '',
            signature: { dialect: 'gemini' as const, value },
          })),
          { type: 'text', text },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'in black' }] },
    ],
  })
  const signed = (model: string, signatures: string[] = []) =>
    (body(conversation(signatures), { model })['contents'] as { parts: Record<string, unknown>[] }[])[1]?.parts.map(
      (part) => part['thoughtSignature'],
    )
  const unknown = 'skip_thought_signature_validator'
  expect(signed('gemini-3-pro-image-preview')).toEqual([unknown, unknown])
  expect(signed('gemini-nano-banana-2.1')).toEqual([unknown, unknown])
  expect(signed('gemini-3-pro-preview')).toEqual([undefined, unknown])
  expect(signed('gemini-2.5-flash-image')).toEqual([undefined, undefined])
  expect(signed('gemini-3-pro-image-preview', ['a', 'b'])).toEqual(['a', 'b'])
  expect(signed('gemini-3-pro-image-preview', ['a', 'b', 'c'])).toEqual(['b', 'c'])
})

test('the type that many programs write for a JPEG is sent as the registered one', () => {
  const source = { kind: 'url' as const, url: 'data:image/jpg;base64,AAAA' }
  const messages: ChatRequest['messages'] = [
    { role: 'user', content: [{ type: 'image', source }] },
    { role: 'assistant', content: [{ type: 'text', text: `![image](${source.url})` }] },
    { role: 'user', content: [{ type: 'image', source: { kind: 'base64', mediaType: 'image/jpg', data: 'AAAA' } }] },
  ]
  const inlineData = { mimeType: 'image/jpeg', data: 'AAAA' }
  expect(body({ messages })['contents']).toMatchObject([1, 2, 3].map(() => ({ parts: [{ inlineData }] })))
})

test('penalties go to the models that take them, and are named as lost towards the others', () => {
  const penalties = { frequencyPenalty: 0.5, presencePenalty: 0.25 }
  expect(config(penalties, { model: 'gemini-2.0-flash' })).toEqual(penalties)
  expect(write(penalties, { model: 'gemini-2.0-flash' }).losses).toEqual([])
  for (const model of ['gemini-2.5-flash', 'gemini-3.5-flash']) {
    expect(config(penalties, { model })).toEqual({})
    expect(write(penalties, { model }).losses).toEqual(['frequency_penalty', 'presence_penalty'])
    expect(write({ frequencyPenalty: 0, presencePenalty: 0 }, { model }).losses).toEqual([])
  }
})

describe('thinking', () => {
  test.each([
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
    ['gemini-2.5-flash', 'medium', { thinkingBudget: 8192, includeThoughts: true }],
    ['gemini-2.5-flash', 'max', { thinkingBudget: 24_576, includeThoughts: true }],
    ['gemini-3-pro-preview', 'medium', { thinkingLevel: 'HIGH', includeThoughts: true }],
    ['gemini-3.1-pro-preview', 'medium', { thinkingLevel: 'MEDIUM', includeThoughts: true }],
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'MINIMAL' }],
    ['gemini-3.6-flash', 'minimal', { thinkingLevel: 'MINIMAL', includeThoughts: true }],
    ['gemini-3.7-flash', 'none', { thinkingLevel: 'LOW' }],
    ['gemini-3.8-flash', 'minimal', { thinkingLevel: 'LOW', includeThoughts: true }],
    ['gemini-flash-latest', 'none', { thinkingLevel: 'LOW' }],
    ['gemini-3.8-flash-lite', 'none', { thinkingLevel: 'MINIMAL' }],
    ['gemini-flash-lite-latest', 'none', { thinkingLevel: 'MINIMAL' }],
    ['gemini-2.0-flash', 'high', undefined],
  ] as const)('%s with effort %s', (model, effort, expected) => {
    expect(config({ reasoning: { effort } }, { model })['thinkingConfig']).toEqual(expected)
  })

  test('a caller of the same dialect keeps the budget they set, reasoning hidden or not', () => {
    const own = { extra: { dialect: 'gemini' as const, fields: {} } }
    const reasoning = { mode: 'enabled' as const, budgetTokens: 2000 }
    expect(config({ reasoning, ...own }, { model: 'gemini-3-pro-preview' })['thinkingConfig']).toEqual({
      thinkingBudget: 2000,
    })
  })

  test('the suffix counts only when the adapter is on', () => {
    const options = { 'gemini.thinking_adapter_enabled': true }
    const named = (model: string, maxTokens?: number) => {
      const sent = write(maxTokens === undefined ? {} : { maxTokens }, { model, options })
      const { thinkingConfig } = (sent.body as { generationConfig: Record<string, unknown> }).generationConfig
      return { model: sent.url.match(/models\/([^:]+):/)?.[1], thinkingConfig }
    }
    expect(write({}, { model: 'gemini-2.5-flash-thinking' }).url).toContain('gemini-2.5-flash-thinking:')
    expect(named('gemini-2.5-flash-thinking', 10_000)).toEqual({
      model: 'gemini-2.5-flash',
      thinkingConfig: { thinkingBudget: 6000, includeThoughts: true },
    })
    expect(named('gemini-2.5-flash-thinking').thinkingConfig).toMatchObject({ thinkingBudget: 24_576 })
    expect(named('gemini-2.5-pro-thinking-99999').thinkingConfig).toMatchObject({ thinkingBudget: 32_768 })
    expect(named('gemini-2.5-pro-nothinking')).toEqual({
      model: 'gemini-2.5-pro',
      thinkingConfig: { thinkingBudget: 128 },
    })
    expect(named('gemini-3-flash-preview-low').thinkingConfig).toMatchObject({ thinkingLevel: 'LOW' })
    expect(named('gemini-2.0-flash-thinking-exp').model).toBe('gemini-2.0-flash-thinking-exp')
  })

  test('how much of the limit is for thinking, and which models draw and show reasoning, is for the operator to say', () => {
    const generation = (model: string, options: object) =>
      (write({ maxTokens: 10_000 }, { model, originalModel: model, options }).body as { generationConfig: object })
        .generationConfig
    const adapter = { 'gemini.thinking_adapter_enabled': true }
    const half = { ...adapter, 'gemini.thinking_adapter_budget_tokens_percentage': 0.5 }
    expect(generation('gemini-2.5-flash-thinking', half)).toMatchObject({ thinkingConfig: { thinkingBudget: 5000 } })
    expect(generation('painter', { 'gemini.supported_imagine_models': ['painter'] })).toMatchObject({
      responseModalities: ['TEXT', 'IMAGE'],
    })
    expect(generation('painter', { 'gemini.supported_imagine_models': [] })).not.toHaveProperty('responseModalities')
    expect(generation('thinker', { 'gemini.models_supported_thinking_budget': ['thinker'] })).toMatchObject({
      thinkingConfig: { includeThoughts: true },
    })
  })

  test('models named by the option show their reasoning', () => {
    const changes = { originalModel: 'gemini-2.5-flash-preview-05-20' }
    expect(config({}, changes)['thinkingConfig']).toEqual({ includeThoughts: true })
  })
})

test('functions by the vendor’s names are its own tools, which make room for the caller’s where both cannot be', () => {
  const tools = [weatherTool, { type: 'function' as const, name: 'googleSearch' }, { type: 'web-search' as const }]
  const older = write({ tools })
  expect(older.body).toMatchObject({ tools: [{ functionDeclarations: [{ name: 'get_weather' }] }] })
  expect(older.losses).toEqual(['web_search'])
  expect(body({ tools }, { model: 'gemini-3-pro-preview' })).toMatchObject({
    tools: [{ functionDeclarations: [{ name: 'get_weather' }] }, { googleSearch: {} }],
    toolConfig: { includeServerSideToolInvocations: true },
  })
})

test.each([
  [{ type: 'required' as const }, { mode: 'ANY' }],
  [{ type: 'none' as const }, { mode: 'NONE' }],
  [
    { type: 'tool' as const, name: 'get_weather' },
    { mode: 'ANY', allowedFunctionNames: ['get_weather'] },
  ],
])('tool choice %j', (toolChoice, functionCallingConfig) => {
  expect(body({ tools: [weatherTool], toolChoice })['toolConfig']).toEqual({ functionCallingConfig })
  expect(body({ toolChoice })).not.toHaveProperty('toolConfig')
})

test('a format is a type and the schema, cleaned where the model reads the vendor’s own words only', () => {
  const schema = { type: 'object', properties: { a: { type: ['string', 'null'] } }, additionalProperties: false }
  const responseFormat = { type: 'json-schema', name: 'x', schema } as const
  expect(config({ responseFormat })).toEqual({ responseMimeType: 'application/json', responseJsonSchema: schema })
  expect(config({ responseFormat }, { model: 'gemini-2.0-flash' })).toEqual({
    responseMimeType: 'application/json',
    responseSchema: { type: 'object', properties: { a: { type: 'string', nullable: true } } },
  })
})

test('models that draw are asked for images, models that speak for audio', () => {
  expect(config({}, { model: 'gemini-2.0-flash-exp' })['responseModalities']).toEqual(['TEXT', 'IMAGE'])
  expect(config({ audio: { voice: 'Kore' } })).toEqual({
    responseModalities: ['AUDIO'],
    speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
  })
})

test('a model without instructions is sent them in the first question', () => {
  const messages: ChatRequest['messages'] = [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
  ]
  const sent = body({ messages }, { model: 'gemma-3-27b-it' })
  expect(sent).not.toHaveProperty('systemInstruction')
  expect(sent['contents']).toEqual([{ role: 'user', parts: [{ text: 'Be brief.' }, { text: 'Hi' }] }])
})

test('cached content stands for instructions and tools', () => {
  const sent = body({ tools: [weatherTool], extra: { dialect: 'openai-chat', fields: { cached_content: 'c/1' } } })
  expect(sent).toMatchObject({ cachedContent: 'c/1' })
  expect(sent).not.toHaveProperty('tools')
  const fields = (google: object) => ({
    extra: { dialect: 'openai-chat' as const, fields: { extra_body: { google } } },
  })
  const own = fields({ cached_content: 'c/2', thinking_config: {} })
  expect(body(own)).toMatchObject({ cachedContent: 'c/2' })
  expect(write(own).losses).toEqual([])
  expect(write(fields({ safety_settings: [] })).losses).toEqual(['extra_body'])
})

test('a retired category goes only where it is set by name', () => {
  const settings = { ...defaultOptions['gemini.safety_settings'], HARM_CATEGORY_CIVIC_INTEGRITY: 'OFF' }
  expect(body({}, { options: { 'gemini.safety_settings': settings } })['safetySettings']).toHaveLength(5)
})
