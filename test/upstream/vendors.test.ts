import { afterAll, describe, expect, test } from 'vitest'
import { awsKey } from '#test/simulator/aws/signature.ts'
import { startUpstream } from '#test/simulator/index.ts'
import { pixel } from '#test/simulator/media.ts'
import { serviceAccount } from '#test/simulator/vertex/account.ts'
import { assertionOf, readKey } from '#relay/providers/vertex/key.ts'
import { signV4 } from '#relay/providers/aws/sign-v4.ts'

const upstream = await startUpstream()
afterAll(() => upstream.close())

type Sent = { headers?: Record<string, string>; body?: unknown; form?: Record<string, string> }

async function post(path: string, { headers = {}, body, form }: Sent) {
  const reply = await fetch(upstream.url + path, {
    method: 'POST',
    headers: { ...(form ? {} : { 'content-type': 'application/json' }), ...headers },
    body: form ? new URLSearchParams(form) : JSON.stringify(body),
  })
  const text = await reply.text()
  return { status: reply.status, text }
}

const messages = [{ role: 'user', content: 'hi' }]

describe('Azure', () => {
  const path = '/openai/deployments/mine/chat/completions'
  const headers = { 'api-key': 'k' }

  test('wants the version in the query and the key in its own header', async () => {
    const versioned = `${path}?api-version=2025-04-01-preview`
    expect(await post(versioned, { headers, body: { messages } })).toMatchObject({ status: 200 })
    expect(await post(path, { headers, body: { messages } })).toMatchObject({ status: 404 })
    expect(await post(versioned, { headers: { authorization: 'Bearer k' }, body: { messages } })).toMatchObject({
      status: 401,
    })
  })
})

describe('Bedrock', () => {
  const path = '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke'
  const body = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 10, messages }
  const signed = (given: object, secretAccessKey = awsKey.secretAccessKey, now = new Date()) => {
    const headers = { 'content-type': 'application/json' }
    const url = upstream.url + path
    const input = { method: 'POST', url, headers, body: JSON.stringify(given), service: 'bedrock', now }
    return signV4(input, { ...awsKey, secretAccessKey })
  }

  test('takes what is signed by its key over this very body, now', async () => {
    expect(await post(path, { headers: signed(body), body })).toMatchObject({ status: 200 })
    const other = await post(path, { headers: signed({ ...body, max_tokens: 11 }), body })
    expect(other).toMatchObject({ status: 403, text: expect.stringContaining('does not match') })
    expect(await post(path, { headers: signed(body, 'another'), body })).toMatchObject({ status: 403 })
    const old = signed(body, awsKey.secretAccessKey, new Date(Date.now() - 600_000))
    expect(await post(path, { headers: old, body })).toMatchObject({
      status: 403,
      text: expect.stringContaining('expired'),
    })
    expect(await post(path, { body })).toMatchObject({ status: 403 })
  })

  test.each([
    ['a model in the body', { ...body, model: 'x' }],
    ['a request to stream in the body', { ...body, stream: true }],
    ['no version', { max_tokens: 10, messages }],
  ])('refuses %s', async (_, given) => {
    expect(await post(path, { headers: signed(given), body: given })).toMatchObject({ status: 400 })
  })
})

describe('Vertex', () => {
  const path = (project: string) =>
    `/v1/projects/${project}/locations/global/publishers/google/models/gemini-2.5-flash:generateContent`
  const body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
  const login = async (assertion: string) => {
    const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    return post('/token', { form: { grant_type, assertion } })
  }
  const assertion = (now: Date) => {
    const key = readKey(serviceAccount(upstream.url))
    if (key.kind !== 'account') throw new Error('no account')
    return assertionOf(key, now)
  }

  test('gives a token for a claim that its account signed just now, and serves its own project for it', async () => {
    const granted = await login(assertion(new Date()))
    const { access_token: token } = JSON.parse(granted.text) as { access_token: string }
    const headers = { authorization: `Bearer ${token}` }
    expect(await post(path('simulated-project'), { headers, body })).toMatchObject({ status: 200 })
    expect(await post(path('another'), { headers, body })).toMatchObject({ status: 403 })
    const wrongToken = { authorization: 'Bearer ya29.made-up' }
    expect(await post(path('simulated-project'), { headers: wrongToken, body })).toMatchObject({ status: 401 })
  })

  test('refuses claims that are old or not signed by the account', async () => {
    expect(await login(assertion(new Date(Date.now() - 7_200_000)))).toMatchObject({ status: 400 })
    const [head, claims] = assertion(new Date()).split('.')
    expect(await login(`${head}.${claims}.${Buffer.from('no').toString('base64url')}`)).toMatchObject({
      status: 400,
      text: expect.stringContaining('Invalid JWT Signature'),
    })
  })
})

describe('the others', () => {
  const bearer = { authorization: 'Bearer k' }

  test.each([
    ['Cohere a field of another vendor', '/v2/chat', { model: 'm', messages, top_p: 0.5 }],
    ['Cohere a choice in other words', '/v2/chat', { model: 'm', messages, tool_choice: 'auto' }],
    ['Dify a call without a user', '/v1/chat-messages', { inputs: {}, query: 'hi', response_mode: 'blocking' }],
    ['OpenAI an unknown field', '/v1/chat/completions', { model: 'm', messages, top_k: 1 }],
    ['OpenAI a limit of older models', '/v1/chat/completions', { model: 'gpt-5', messages, max_tokens: 9 }],
  ])('refuse: %s', async (_, path, body) => {
    expect(await post(path, { headers: bearer, body })).toMatchObject({ status: 400 })
  })

  test.each([
    ['a field of another vendor', { model: 'm', max_tokens: 9, messages, n: 1 }],
    [
      'a budget beyond the limit',
      { model: 'm', max_tokens: 9, messages, thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    ['an empty turn', { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: [] }] }],
    [
      'an image, as DeepSeek',
      {
        model: 'deepseek-v4',
        max_tokens: 9,
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://a.test' } }] }],
      },
    ],
  ])('Anthropic refuses %s', async (_, body) => {
    const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }
    expect(await post('/v1/messages', { headers, body })).toMatchObject({ status: 400 })
  })

  const long = 'x'.repeat(65)
  const named = (name: string) => ({ type: 'function', function: { name } })
  const strictTool = (parameters: object) => ({ type: 'function', function: { name: 'f', strict: true, parameters } })
  const called = (id: string) => [
    ...messages,
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content: 'r' },
  ]

  test.each([
    ['a long name of a tool', { tools: [named(long)] }],
    ['a name with a dot', { tools: [named('a.b')] }],
    ['a long id of a call', { messages: called('i'.repeat(41)) }],
    ['a long id of an end user', { user: long }],
    ['a list of stops for a model that reasons', { model: 'gpt-5', stop: ['x'] }],
    ['images among the modalities', { modalities: ['text', 'image'] }],
    [
      'alternatives at the root of parameters',
      { tools: [{ type: 'function', function: { name: 'f', parameters: { anyOf: [] } } }] },
    ],
    ['more tools than it counts', { tools: Array.from({ length: 129 }, (_, at) => named(`f${at}`)) }],
    ['a choice among no tools', { tool_choice: 'auto' }],
    ['an answer longer than the model writes', { model: 'gpt-4o', max_tokens: 16_385 }],
    ['JSON where nobody said the word', { model: 'gpt-4o', response_format: { type: 'json_object' } }],
    [
      'a name of the format in another alphabet',
      { response_format: { type: 'json_schema', json_schema: { name: 'a b', schema: { type: 'object' } } } },
    ],
    ['an empty list of parts', { messages: [{ role: 'user', content: [] }] }],
    ['a name with a blank', { messages: [{ role: 'user', name: 'a b', content: 'hi' }] }],
    [
      'words of the user behind a result, as Mistral',
      { model: 'mistral-large-latest', messages: [...called('abcdefghi'), ...messages] },
    ],
    ['an id of ten letters, as Mistral', { model: 'mistral-large-latest', messages: called('abcdefghij') }],
    [
      'a call without its reasoning, as DeepSeek',
      { model: 'deepseek-v4', thinking: { type: 'enabled' }, messages: called('c') },
    ],
    [
      'an image, as DeepSeek',
      {
        model: 'deepseek-v4',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.test' } }] }],
      },
    ],
    [
      'a field that may be missing from what is kept to the letter',
      { tools: [strictTool({ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false })] },
    ],
  ])('OpenAI refuses %s, and a lenient one takes it', async (_, fields) => {
    const body = { model: 'm', messages, ...fields }
    expect(await post('/v1/chat/completions', { headers: bearer, body })).toMatchObject({ status: 400 })
    expect(await post('/~lenient/v1/chat/completions', { headers: bearer, body })).toMatchObject({ status: 200 })
  })

  test.each([
    ['a limit below the least', { input: 'hi', max_output_tokens: 15 }],
    ['a result without its call', { input: [{ type: 'function_call_output', call_id: 'c', output: 'r' }] }],
    ['a call without its result', { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }] }],
  ])('the responses call refuses %s', async (_, fields) => {
    const body = { model: 'm', ...fields }
    expect(await post('/v1/responses', { headers: bearer, body })).toMatchObject({ status: 400 })
  })

  test('what Codex, Zhipu and others send of their own is taken', async () => {
    const codex = { model: 'm', input: 'hi', client_metadata: { a: 'b' } }
    expect(await post('/v1/responses', { headers: bearer, body: codex })).toMatchObject({ status: 200 })
    const thinking = { model: 'm', messages, thinking: { type: 'enabled' }, reasoning_split: true }
    expect(await post('/v1/chat/completions', { headers: bearer, body: thinking })).toMatchObject({ status: 200 })
    const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }
    const thread = { model: 'm', max_tokens: 9, messages, thread: { type: 'create' } }
    expect(await post('/v1/messages', { headers, body: thread })).toMatchObject({ status: 200 })
  })

  test('streams of Zhipu and Mistral end with usage that nobody asked for', async () => {
    for (const [path, model] of [
      ['/api/paas/v4/chat/completions', 'glm-5'],
      ['/v1/chat/completions', 'mistral-large-latest'],
    ] as const) {
      const reply = await post(path, { headers: bearer, body: { model, messages, stream: true } })
      expect(reply.text).toMatch(/"finish_reason":"stop"[^\n]*"usage":\{"prompt_tokens"/)
    }
    const plain = await post('/v1/chat/completions', { headers: bearer, body: { model: 'm', messages, stream: true } })
    expect(plain.text).not.toContain('"usage"')
  })

  const imageOf = (type: string) => ({ type: 'image', source: { type: 'base64', media_type: type, data: 'AAAA' } })
  const looped = (result: object) => [
    ...messages,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', ...result }] },
  ]
  const closed = (name: string, optional: number) => {
    const properties = Object.fromEntries(Array.from({ length: optional }, (_, at) => [`p${at}`, { type: 'string' }]))
    return { name, strict: true, input_schema: { type: 'object', properties, additionalProperties: false } }
  }
  const tool = (changes: object) => ({ tools: [{ name: 'f', input_schema: { type: 'object' }, ...changes }] })
  test.each([
    ['a long name of a tool', tool({ name: 'x'.repeat(129) })],
    ['alternatives at the root of parameters', tool({ input_schema: { type: 'object', anyOf: [] } })],
    [
      'a least number in what the model is held to',
      tool({
        strict: true,
        input_schema: {
          type: 'object',
          properties: { a: { type: 'integer', minimum: 1 } },
          additionalProperties: false,
        },
      }),
    ],
    [
      'an id in another alphabet',
      {
        messages: [
          ...messages,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a.b', name: 'f', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a.b' }] },
        ],
      },
    ],
    ['a limit beyond the model', { model: 'claude-sonnet-4-5', max_tokens: 64_001 }],
    ['a message of blanks', { messages: [{ role: 'user', content: [{ type: 'text', text: ' \n' }] }] }],
    [
      'an image in the result of a failed call',
      { messages: looped({ is_error: true, content: [imageOf('image/png')] }) },
    ],
    ['an image of another kind', { messages: [{ role: 'user', content: [imageOf('image/bmp')] }] }],
    ['a begun answer', { model: 'claude-opus-4-8', messages: [...messages, { role: 'assistant', content: 'I' }] }],
    ['a begun answer that ends with a blank', { messages: [...messages, { role: 'assistant', content: 'I ' }] }],
    ['a warmth above 1', { temperature: 1.1 }],
    ['warmth of the newest', { model: 'claude-opus-4-8', temperature: 0.5 }],
    ['both ways of sampling', { model: 'claude-sonnet-4-5', temperature: 0.5, top_p: 0.5 }],
    ['a stop of blanks', { stop_sequences: ['\n'] }],
    [
      'thinking on in a round of tools without its reasoning',
      { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2000 }, messages: looped({ content: 'r' }) },
    ],
    ['more strict tools than it compiles', { tools: Array.from({ length: 21 }, (_, at) => closed(`t${at}`, 0)) }],
    ['more optional parameters than it compiles', { tools: [closed('t', 25)] }],
  ])('Anthropic refuses %s too', async (_, fields) => {
    const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }
    const body = { model: 'm', max_tokens: 9, messages, ...fields }
    expect(await post('/v1/messages', { headers, body })).toMatchObject({ status: 400 })
  })

  test('Gemini refuses names that begin with a digit, and reads names of fields in both spellings', async () => {
    const path = '/v1beta/models/gemini-2.5-flash:generateContent'
    const headers = { 'x-goog-api-key': 'k' }
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
    const declare = (name: string) => ({ contents, tools: [{ functionDeclarations: [{ name }] }] })
    expect(await post(path, { headers, body: declare('1st') })).toMatchObject({ status: 400 })
    expect(await post(path, { headers, body: declare('first.one') })).toMatchObject({ status: 200 })
    const snake = {
      contents: [{ role: 'user', parts: [{ text: 'hi' }, { inline_data: { mime_type: 'image/png', data: 'AAAA' } }] }],
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      generation_config: { max_output_tokens: 100, thinking_config: { include_thoughts: true } },
    }
    expect(await post(path, { headers, body: snake })).toMatchObject({
      status: 200,
      text: expect.stringContaining('"thought":true'),
    })
  })

  const call = { functionCall: { name: 'f', args: {} } }
  const response = { functionResponse: { name: 'f', response: {} } }
  const declared = (parameters?: object) => ({ tools: [{ functionDeclarations: [{ name: 'f', parameters }] }] })
  test.each([
    [
      'a format beside functions',
      'gemini-2.5-flash',
      { ...declared(), generationConfig: { responseMimeType: 'application/json' } },
    ],
    ['an answer longer than the model writes', 'gemini-2.0-flash', { generationConfig: { maxOutputTokens: 8193 } }],
    ['six stops', 'gemini-2.5-flash', { generationConfig: { stopSequences: [...'abcdef'] } }],
    [
      'a choice of a function that is not declared',
      'gemini-2.5-flash',
      { ...declared(), toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['g'] } } },
    ],
    ['a part of nothing', 'gemini-2.5-flash', { contents: [{ role: 'user', parts: [{ text: 'hi' }, {}] }] }],
    [
      'a call at the beginning',
      'gemini-2.5-flash',
      {
        contents: [
          { role: 'model', parts: [call] },
          { role: 'user', parts: [response] },
        ],
      },
    ],
    [
      'a call without its proof',
      'gemini-3-pro',
      {
        contents: [
          { role: 'user', parts: [{ text: 'q' }] },
          { role: 'model', parts: [call] },
          { role: 'user', parts: [response] },
        ],
      },
    ],
    ['an object of nothing', 'gemini-2.5-flash', declared({ type: 'object', properties: {} })],
    [
      'a required property that is not there',
      'gemini-2.5-flash',
      declared({ type: 'object', properties: { a: { type: 'string' } }, required: ['b'] }),
    ],
    ['a list of nothing', 'gemini-2.5-flash', declared({ type: 'object', properties: { a: { type: 'array' } } })],
    [
      'an empty value',
      'gemini-2.5-flash',
      declared({ type: 'object', properties: { a: { type: 'string', enum: [''] } } }),
    ],
  ])('Gemini refuses %s', async (_, model, fields) => {
    const body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], ...fields }
    const headers = { 'x-goog-api-key': 'k' }
    const path = `/v1beta/models/${model}:generateContent`
    expect(await post(path, { headers, body })).toMatchObject({ status: 400 })
    expect(await post(`/~lenient${path}`, { headers, body })).toMatchObject({ status: 200 })
  })

  test('Gemini refuses a schema in other words', async () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const tools = [{ functionDeclarations: [{ name: 'f', parameters: schema }] }]
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
    const path = '/v1beta/models/gemini-2.5-flash:generateContent'
    const reply = await post(path, { headers: { 'x-goog-api-key': 'k' }, body: { contents, tools } })
    expect(reply).toMatchObject({ status: 400, text: expect.stringContaining('additionalProperties') })
  })

  test('Tencent and Baidu report refusals with HTTP 200', async () => {
    const tencent = await post('/', { headers: { authorization: 'x', 'x-tc-action': 'ChatCompletions' }, body: {} })
    expect(tencent).toMatchObject({ status: 200, text: expect.stringContaining('AuthFailure') })
    const baidu = await post('/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/completions?access_token=no', { body: {} })
    expect(baidu).toMatchObject({ status: 200, text: expect.stringContaining('"error_code":110') })
  })

  test('an application takes a file only from the user who calls with it', async () => {
    const form = new FormData()
    form.set('user', 'one')
    form.set('file', new Blob([new Uint8Array(pixel)], { type: 'image/png' }), 'a.png')
    const sent = await fetch(`${upstream.url}/v1/files/upload`, { method: 'POST', headers: bearer, body: form })
    const { id } = (await sent.json()) as { id: string }
    const files = [{ type: 'image', transfer_method: 'local_file', upload_file_id: id }]
    const ask = (user: string) =>
      post('/v1/chat-messages', {
        headers: bearer,
        body: { inputs: {}, query: 'hi', response_mode: 'blocking', user, files },
      })
    expect(await ask('one')).toMatchObject({ status: 200, text: expect.stringContaining('Image image/png') })
    expect(await ask('two')).toMatchObject({ status: 400 })
  })
})
