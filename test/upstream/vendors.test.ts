import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { awsKey } from '#test/simulator/aws/signature.ts'
import { startUpstream, type Upstream } from '#test/simulator/index.ts'
import { pixel } from '#test/simulator/media.ts'
import { serviceAccount } from '#test/simulator/vertex/account.ts'
import { assertionOf, readKey } from '#relay/providers/vertex/key.ts'
import { signV4 } from '#relay/providers/aws/sign-v4.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
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
    ['a wish to stream in the body', { ...body, stream: true }],
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
    const stranger = { authorization: 'Bearer ya29.made-up' }
    expect(await post(path('simulated-project'), { headers: stranger, body })).toMatchObject({ status: 401 })
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
    ['strict OpenAI an unknown field', '/~strict/v1/chat/completions', { model: 'm', messages, top_k: 1 }],
    [
      'strict OpenAI a limit of older models',
      '/~strict/v1/chat/completions',
      { model: 'gpt-5', messages, max_tokens: 9 },
    ],
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
  ])('strict Anthropic refuses %s', async (_, body) => {
    const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }
    expect(await post('/~strict/v1/messages', { headers, body })).toMatchObject({ status: 400 })
  })

  test('strict Gemini refuses a schema in other words', async () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const tools = [{ functionDeclarations: [{ name: 'f', parameters: schema }] }]
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
    const path = '/~strict/v1beta/models/gemini-2.5-flash:generateContent'
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
