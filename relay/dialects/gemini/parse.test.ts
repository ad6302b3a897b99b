import { describe, expect, it } from 'vitest'
import { refusalOf } from '../testing/refusal.ts'
import { gemini } from './index.ts'

const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
const parse = (body: object) => gemini.parse({ contents, ...body }, { model: 'm', stream: true })
const refusal = (body: unknown, path = { model: 'm' }) => refusalOf(gemini, body, path)

describe('generateContent request', () => {
  it.each([
    [{}, 'contents is required'],
    [{ contents: [] }, 'contents is required'],
    [{ contents: [5] }, 'contents[0] is invalid'],
    [{ contents: [{ role: 'robot', parts: [] }] }, 'contents[0].role is invalid'],
    [{ contents, generationConfig: { maxOutputTokens: -1 } }, 'maxOutputTokens is invalid'],
    [{ contents, generationConfig: { maxOutputTokens: 2 ** 63 } }, 'maxOutputTokens is invalid'],
    [{ contents, generationConfig: { candidateCount: 0 } }, 'candidateCount is invalid'],
    [{ contents, generationConfig: { candidateCount: 1e9 } }, 'candidateCount is invalid'],
    [{ contents, generation_config: { top_p: 'x' } }, 'topP is invalid'],
    [{ contents, tools: 5 }, 'tools is invalid'],
  ])('refuses %j', (body, message) => {
    expect(refusal(body)).toBe(`invalid_gemini_request: ${message}`)
  })

  it('takes model and streaming from the path', () => {
    expect(parse({})).toMatchObject({ model: 'm', stream: true, includeUsage: true })
    expect(refusal({ contents }, { model: '' })).toBe('invalid_gemini_request: model is required')
  })

  const camel = {
    systemInstruction: { parts: [{ text: 'be kind' }] },
    generationConfig: {
      maxOutputTokens: 10,
      topP: 0.5,
      topK: 4,
      candidateCount: 2,
      stopSequences: ['END'],
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      responseLogprobs: true,
      logprobs: 3,
      responseMimeType: 'application/json',
      thinkingConfig: { thinkingBudget: 0, includeThoughts: false },
      responseModalities: ['TEXT', 'IMAGE'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      mediaResolution: 'LOW',
    },
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    safetySettings: [],
    labels: { a: 'b' },
  }
  const snake = {
    system_instruction: 'be kind',
    generation_config: {
      max_output_tokens: 10,
      top_p: 0.5,
      top_k: 4,
      candidate_count: 2,
      stop_sequences: ['END'],
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      response_logprobs: true,
      logprobs: 3,
      response_mime_type: 'application/json',
      thinking_config: { thinking_budget: 0, include_thoughts: false },
      response_modalities: ['TEXT', 'IMAGE'],
      speech_config: { voice_config: { prebuilt_voice_config: { voice_name: 'Kore' } } },
      mediaResolution: 'LOW',
    },
    tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['f'] } },
    safety_settings: [],
    labels: { a: 'b' },
  }

  it('reads camelCase and snake_case alike', () => {
    expect(parse(snake)).toEqual(parse(camel))
    expect(parse(camel)).toMatchObject({
      messages: [{ role: 'system', content: [{ type: 'text', text: 'be kind' }] }, { role: 'user' }],
      maxTokens: 10,
      topP: 0.5,
      topK: 4,
      choiceCount: 2,
      stop: ['END'],
      logprobs: true,
      topLogprobs: 3,
      responseFormat: { type: 'json' },
      reasoning: { mode: 'disabled', effort: 'none', budgetTokens: 0, includeThoughts: false },
      modalities: ['text', 'image'],
      audio: { voice: 'Kore' },
      toolChoice: { type: 'tool', name: 'f' },
      extra: {
        dialect: 'gemini',
        fields: { safetySettings: [], labels: { a: 'b' }, generationConfig: { mediaResolution: 'LOW' } },
      },
    })
  })

  it('makes up ids for calls and pairs results by name and order', () => {
    const { messages } = parse({
      contents: [
        { role: 'user', parts: [{ text: 'go' }] },
        {
          role: 'model',
          parts: [
            { functionCall: { name: 'f', args: { n: 1 } }, thoughtSignature: 'sig' },
            { functionCall: { name: 'f', args: { n: 2 } } },
            { functionCall: { name: 'g', id: 'given' } },
          ],
        },
        {
          role: 'user',
          parts: [
            { text: 'here' },
            { functionResponse: { name: 'g', response: { output: 'from g' } } },
            { function_response: { name: 'f', response: { result: 'first' } } },
            { functionResponse: { name: 'f', response: { error: 'second failed' } } },
          ],
        },
      ],
    })
    expect(messages[1]?.content).toEqual([
      {
        type: 'tool-call',
        id: 'call_1_0',
        name: 'f',
        arguments: '{"n":1}',
        signature: { dialect: 'gemini', value: 'sig' },
      },
      { type: 'tool-call', id: 'call_1_1', name: 'f', arguments: '{"n":2}' },
      { type: 'tool-call', id: 'given', name: 'g', arguments: '{}' },
    ])
    expect(messages[2]?.content).toEqual([
      { type: 'tool-result', callId: 'given', name: 'g', content: [{ type: 'text', text: 'from g' }] },
      { type: 'tool-result', callId: 'call_1_0', name: 'f', content: [{ type: 'text', text: 'first' }] },
      {
        type: 'tool-result',
        callId: 'call_1_1',
        name: 'f',
        content: [{ type: 'text', text: 'second failed' }],
        isError: true,
      },
      { type: 'text', text: 'here' },
    ])
  })

  it('joins a reasoning part that was streamed in parts with its signature', () => {
    const { messages } = parse({
      contents: [
        {
          role: 'model',
          parts: [
            { text: 'one ', thought: true },
            { text: 'thought', thought: true },
            { text: '', thought: true, thoughtSignature: 's' },
            { text: 'said' },
          ],
        },
      ],
    })
    expect(messages[0]?.content).toEqual([
      { type: 'reasoning', text: 'one thought', signature: { dialect: 'gemini', value: 's' } },
      { type: 'text', text: 'said' },
    ])
  })

  it('reads media by their type and keeps parts it does not know', () => {
    const { messages } = parse({
      contents: {
        parts: [
          { inlineData: { mimeType: 'image/png', data: 'AA' } },
          { inline_data: { mime_type: 'audio/mpeg', data: 'BB' } },
          { inlineData: { mimeType: 'application/pdf', data: 'CC', displayName: 'c.pdf' } },
          { fileData: { fileUri: 'https://a.test/x.png', mimeType: 'image/png' } },
          { executableCode: { code: '1' } },
        ],
      },
    })
    expect(messages[0]?.content).toEqual([
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AA' } },
      { type: 'audio', source: { kind: 'base64', mediaType: 'audio/mpeg', data: 'BB' }, format: 'mp3' },
      { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'CC' }, filename: 'c.pdf' },
      { type: 'image', source: { kind: 'url', url: 'https://a.test/x.png', mediaType: 'image/png' } },
      { type: 'vendor', dialect: 'gemini', value: { executableCode: { code: '1' } } },
    ])
  })

  it('allows null beside alternatives and listed values too', () => {
    const parameters = {
      type: 'OBJECT',
      properties: {
        either: { any_of: [{ type: 'STRING' }, { type: 'INTEGER' }], nullable: true },
        listed: { type: 'STRING', enum: ['a'], nullable: true },
        untyped: { enum: ['a'], nullable: true },
        free: { nullable: true },
      },
    }
    expect(parse({ tools: [{ functionDeclarations: [{ name: 'f', parameters }] }] }).tools).toMatchObject([
      {
        parameters: {
          properties: {
            either: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
            listed: { type: ['string', 'null'], enum: ['a', null] },
            untyped: { enum: ['a', null] },
            free: {},
          },
        },
      },
    ])
  })

  it('turns its own schemas into JSON Schema without touching properties that look like keywords', () => {
    const parameters = {
      type: 'OBJECT',
      properties: {
        type: { type: 'STRING', nullable: true },
        list: { type: 'ARRAY', items: { type: 'INTEGER' }, minItems: '1' },
        min_items: { any_of: [{ type: 'STRING', min_length: 2 }, { type: 'INTEGER' }] },
      },
      property_ordering: ['type', 'list'],
    }
    const raw = { type: 'object', properties: { a: { type: ['string', 'null'] } } }
    const { tools } = parse({
      tools: [
        {
          functionDeclarations: [
            { name: 'f', description: 'd', parameters },
            { name: 'g', parametersJsonSchema: raw },
          ],
          codeExecution: {},
        },
        { google_search: {} },
      ],
    })
    expect(tools).toEqual([
      {
        type: 'function',
        name: 'f',
        description: 'd',
        parameters: {
          type: 'object',
          properties: {
            type: { type: ['string', 'null'] },
            list: { type: 'array', items: { type: 'integer' }, minItems: 1 },
            min_items: { anyOf: [{ type: 'string', minLength: 2 }, { type: 'integer' }] },
          },
        },
      },
      { type: 'function', name: 'g', parameters: raw },
      { type: 'vendor', dialect: 'gemini', value: { codeExecution: {} } },
      { type: 'web-search' },
    ])
  })
})

it('reads enumerations that are written as numbers, as Google’s older libraries for Python do', () => {
  const schema = (names: boolean) => ({
    type: names ? 'OBJECT' : 6,
    properties: {
      a: { type: names ? 'ARRAY' : 5, items: { type: names ? 'STRING' : 1 } },
      type: { anyOf: [{ type: names ? 'NUMBER' : 2 }, { type: names ? 'INTEGER' : 3 }] },
      b: { type: names ? 'BOOLEAN' : 4, nullable: true },
      c: { type: names ? 'NULL' : 7, example: 6 },
    },
  })
  const body = (names: boolean, mode: [word: string, number: number]) => ({
    tools: [{ functionDeclarations: [{ name: 'f', parameters: schema(names) }] }],
    toolConfig: { functionCallingConfig: { mode: mode[names ? 0 : 1] } },
    generationConfig: {
      responseSchema: schema(names),
      responseModalities: names ? ['TEXT', 'IMAGE', 'AUDIO'] : [1, 2, 3],
    },
  })
  const modes = ['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED']
  for (const mode of modes.map((word, number): [string, number] => [word, number])) {
    expect(parse(body(false, mode))).toEqual(parse(body(true, mode)))
  }
  expect(() => parse(body(false, ['', 9]))).toThrow('toolConfig.functionCallingConfig.mode is invalid')
  const { reasoning, losses } = parse({ generationConfig: { thinkingConfig: { thinkingLevel: 1 } } })
  expect([reasoning, losses]).toEqual([undefined, ['thinkingConfig.thinkingLevel']])
})

it('names what is said of parts, results and the streaming of calls, which no other dialect has words for', () => {
  const parts = [
    { text: 'hi', partMetadata: { a: 1 } },
    { functionResponse: { name: 'f', response: {}, scheduling: 'SILENT' } },
  ]
  const toolConfig = { functionCallingConfig: { mode: 'AUTO', streamFunctionCallArguments: true } }
  expect(parse({ contents: [{ role: 'user', parts }], toolConfig }).losses.toSorted()).toEqual([
    'functionCallingConfig.streamFunctionCallArguments',
    'functionResponse.scheduling',
    'partMetadata',
  ])
})

it('reads the form of the answer in the place that Google’s reference names now, and carries other media’s along', () => {
  const schema = { type: 'object', properties: { x: { type: 'integer' } } }
  const read = (generationConfig: object) => {
    const { responseFormat, extra, losses } = parse({ generationConfig })
    return { responseFormat, fields: extra.fields, losses }
  }
  const structured = { responseFormat: { type: 'json-schema', name: 'output', schema }, fields: {}, losses: [] }
  for (const mimeType of ['APPLICATION_JSON', 'application/json']) {
    expect(read({ responseFormat: { text: { mimeType, schema } } })).toEqual(structured)
    expect(read({ response_format: { text: { mime_type: mimeType, schema } } })).toEqual(structured)
    expect(read({ responseFormat: { text: { mimeType } } }).responseFormat).toEqual({ type: 'json' })
  }
  const text = { mimeType: 'APPLICATION_JSON', schema }
  const image = { imageSize: '2K' }
  const carrying = (responseFormat: unknown) => ({ ...structured, fields: { generationConfig: { responseFormat } } })
  expect(read({ responseFormat: { text, image } })).toEqual(carrying({ image }))
  expect(read({ responseFormat: [{ text }, { image }] })).toEqual(carrying([{ image }]))
  expect(read({ responseFormat: { text: { mimeType: 'TEXT_PLAIN' } } })).toEqual({ fields: {}, losses: [] })
  expect(read({ responseFormat: { text: { mimeType: 'TEXT_XML' } } }).losses).toEqual([
    'generationConfig.responseMimeType',
  ])
})
