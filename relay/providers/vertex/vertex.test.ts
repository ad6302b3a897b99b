import { createVerify, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { UpstreamRefusal } from '../types.ts'
import { callWith, readJson } from '../conformance/fixtures.ts'
import { requestWith, toolConversation } from '../conformance/requests.ts'
import { assertionOf, readKey } from './key.ts'
import { vertex } from './index.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const account = {
  client_email: 'relay@my-project.iam.gserviceaccount.com',
  private_key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })).replaceAll('\n', '\\n'),
  private_key_id: 'kid1',
  project_id: 'my-project',
}
const key = JSON.stringify(account)

type Changes = Parameters<typeof callWith>[0]
const call = (changes: Changes = {}) =>
  callWith({
    model: 'gemini-2.5-flash',
    token: 'tok',
    ...changes,
    channel: { type: 41, baseUrl: '', key, ...changes?.channel },
  })
const write = (changes: Changes, request = requestWith()) => vertex.chat.request(request, call(changes))

describe('the key', () => {
  test('is exchanged by a claim that its private key signed', () => {
    const { ambient, channel } = call()
    const exchange = vertex.exchange!(channel, ambient)!
    expect(exchange.request()).toMatchObject({ method: 'POST', url: 'https://oauth2.googleapis.com/token' })
    const form = new URLSearchParams(String(exchange.request().body))
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    expect(createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url')).toBe(true)
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'kid1' })
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      iss: account.client_email,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: 'https://oauth2.googleapis.com/token',
      iat: 1767323045,
      exp: 1767326645,
    })
    expect(exchange.cacheKey).not.toContain('my-project')
  })

  test('signs nothing as long as its token is kept', () => {
    const unreadable = JSON.stringify({ type: 'service_account', private_key: 'none', client_email: 'a@b.c' })
    const exchange = vertex.exchange!({ ...call().channel, key: unreadable }, call().ambient)!
    expect(exchange.cacheKey).not.toBe('')
    expect(() => exchange.request()).toThrow(UpstreamRefusal)
  })

  test('gives a token that is kept shorter than it lives', () => {
    const { ambient, channel } = call()
    const { read } = vertex.exchange!(channel, ambient)!
    expect(read({ access_token: 't', expires_in: 3599 })).toEqual({ token: 't', ttlSeconds: 3000 })
    expect(read({ access_token: 't', expires_in: 400 })).toEqual({ token: 't', ttlSeconds: 100 })
    expect(() => read({ error: 'invalid_grant', error_description: 'x' })).toThrow(UpstreamRefusal)
  })

  test('of the express mode is used as it is', () => {
    const changes = { channel: { key: 'AIza' } }
    expect(vertex.exchange!(call(changes).channel, call().ambient)).toBeUndefined()
    expect(write(changes)).toMatchObject({
      url: 'https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash:generateContent',
      headers: { 'x-goog-api-key': 'AIza' },
    })
    expect(() => write({ ...changes, model: 'claude-opus-4-6' })).toThrow(
      expect.objectContaining({ code: 'unsupported.plain_key' }),
    )
  })

  test('signs with line feeds however they were stored', () => {
    const read = readKey(key)
    expect(read.kind === 'account' && assertionOf(read, new Date(0)).split('.')).toHaveLength(3)
  })
})

test.each([
  ['', 'https://aiplatform.googleapis.com/v1/projects/my-project/locations/global/'],
  ['us-east5', 'https://us-east5-aiplatform.googleapis.com/v1/projects/my-project/locations/us-east5/'],
  ['eu', 'https://aiplatform.eu.rep.googleapis.com/v1/projects/my-project/locations/eu/'],
  ['{"default":"us-central1","mine":"asia-east1"}', 'https://asia-east1-aiplatform.googleapis.com/v1/'],
  ['{"default":"us-central1"}', 'https://us-central1-aiplatform.googleapis.com/v1/'],
])('region %s', (other, start) => {
  expect(write({ originalModel: 'mine', channel: { other } }).url.startsWith(start)).toBe(true)
})

test.each([
  ['claude-3-5-sonnet-20241022', 'claude-3-5-sonnet-v2@20241022'],
  ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5@20250929'],
  ['claude-opus-4-6', 'claude-opus-4-6'],
])('%s is called %s', (model, name) => {
  const sent = write({ model, stream: true, callerHeaders: { 'anthropic-beta': 'web-search-2025-03-05' } })
  expect(sent.url).toMatch(new RegExp(`/publishers/anthropic/models/${name}:streamRawPredict$`))
  expect(sent.headers).toMatchObject({ authorization: 'Bearer tok', 'anthropic-beta': 'web-search-2025-03-05' })
  expect(sent.body).toMatchObject({ anthropic_version: 'vertex-2023-10-16', stream: true })
  expect(sent.body).not.toHaveProperty('model')
})

test('the model decides the form of call and answer', () => {
  const maas = { model: 'meta/llama-4-maverick-17b-128e-instruct-maas' }
  expect(write(maas).url).toMatch(/\/endpoints\/openapi\/chat\/completions$/)
  const read = (folder: string, model: string) =>
    vertex.chat.response(readJson(new URL(`../${folder}/__fixtures__/`, import.meta.url), 'text.json'), call({ model }))
  for (const [folder, model] of [
    ['openai-compatible', maas.model],
    ['anthropic', 'claude-opus-4-6'],
    ['gemini', 'gemini-2.5-pro'],
  ] as const) {
    expect(read(folder, model).choices[0]?.parts).toEqual([{ type: 'text', text: 'Hello from upstream' }])
  }
})

test('Grok is called in OpenAI’s form, without an effort or what it refuses while it thinks, and its reasoning is counted', () => {
  const model = 'xai/grok-4.1-fast-reasoning'
  const asked = { reasoning: { effort: 'high' as const }, stop: ['END'], maxTokens: 9 }
  const { url, body, losses } = write({ model }, requestWith(asked))
  expect(url).toMatch(/\/endpoints\/openapi\/chat\/completions$/)
  expect(body).toEqual({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 })
  expect(losses?.toSorted()).toEqual(['reasoning_effort', 'stop'])
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 2,
    total_tokens: 42,
    completion_tokens_details: { reasoning_tokens: 30 },
  }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
  const answer = vertex.chat.response({ choices, usage }, call({ model }))
  expect(answer.usage).toMatchObject({ promptTokens: 10, completionTokens: 32 })
})

test('older models get no ids of calls', () => {
  expect(JSON.stringify(write({}, toolConversation()).body)).not.toContain('"call_1"')
  expect(JSON.stringify(write({ model: 'gemini-3-pro-preview' }, toolConversation()).body)).toContain('"call_1"')
})

test('results of parallel calls of one function reach their calls where models take no ids, in whatever order they came', () => {
  const cities = ['Paris', 'London', 'Rome']
  const calls = cities.map((city) => ({ id: city, name: 'weather', args: { city } }))
  const results = [2, 0, 1].map((index) => cities[index] ?? '')
  const ordered = cities.map((city) => ({ functionResponse: { name: 'weather', response: { of: city } } }))
  const request = requestWith({
    messages: [
      {
        role: 'assistant',
        content: calls.map(({ id, name, args }) => ({
          type: 'tool-call' as const,
          id,
          name,
          arguments: JSON.stringify(args),
        })),
      },
      {
        role: 'user',
        content: results.map((city) => ({
          type: 'tool-result' as const,
          callId: city,
          content: [{ type: 'text' as const, text: JSON.stringify({ of: city }) }],
        })),
      },
    ],
  })
  expect(write({}, request).body).toMatchObject({ contents: [{}, {}, { parts: ordered }] })
  const contents = [
    { role: 'model', parts: calls.map((functionCall) => ({ functionCall })) },
    {
      role: 'user',
      parts: [
        ...results.map((id) => ({ functionResponse: { id, name: 'weather', response: { of: id } } })),
        { text: 'so?' },
      ],
    },
  ]
  const native = vertex.native.gemini!.request(
    { json: { contents }, bytes: Buffer.from(JSON.stringify({ contents })) },
    call(),
  )
  expect(JSON.parse(String(native.body)).contents[1].parts).toEqual([...ordered, { text: 'so?' }])
})

test('ids of calls that a caller of the same form wrote are kept from older models', () => {
  const contents = [
    { role: 'model', parts: [{ functionCall: { id: 'a', name: 'f', args: { id: 'kept' } } }, { text: 'x' }] },
    { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'f', response: { output: '1' } } }] },
  ]
  const ask = (model: string) => {
    const json = { contents }
    const sent = vertex.native.gemini!.request({ json, bytes: Buffer.from(JSON.stringify(json)) }, call({ model }))
    return JSON.parse(Buffer.from(sent.body as Uint8Array).toString()) as { contents: unknown }
  }
  expect(ask('gemini-2.5-flash').contents).toEqual([
    { role: 'model', parts: [{ functionCall: { name: 'f', args: { id: 'kept' } } }, { text: 'x' }] },
    { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: '1' } } }] },
  ])
  // A call without proof is marked as one besides.
  expect(ask('gemini-3-pro-preview').contents).toMatchObject(contents)
  expect(contents[0]?.parts[0]).toHaveProperty('functionCall.id', 'a')
})
