import { createGoogle } from '@ai-sdk/google'
import { ApiError } from '@google/genai'
import { embed as embedOne, embedMany } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { embed } from '#test/simulator/embedding.ts'
import { serviceAccount } from '#test/simulator/vertex/account.ts'
import { setOptions } from '#test/relay/serve.ts'
import { startApp } from '#test/support/app.ts'
import type { TestToken } from '#test/support/factories.ts'
import { thrownBy } from './clients/client.ts'
import { googleLibrary } from './clients/google.ts'

const seen = new Set<string>()

const app = await startApp()
afterAll(() => app[Symbol.asyncDispose]())
const token = await app.make.token(await app.make.user({ quota: 100_000_000 }))
await app.make.channel({ type: 24, models: 'native', modelMapping: '{"native":"gemini-embedding-001"}' })
await app.make.channel({ type: 24, models: 'counted', baseUrl: app.upstream.withDirectives('usage=12:0') })
for (const [models, baseUrl] of [
  ['heard', app.upstream.withDirectives('usage=2010:2000')],
  ['heard-uncounted', app.upstream.url],
])
  await app.make.channel({ type: 24, models, baseUrl, modelMapping: `{"${models}":"gemini-embedding-2"}` })
await app.make.channel({ type: 1, models: 'translated', modelMapping: '{"translated":"text-embedding-3-small"}' })
await app.make.channel({ type: 34, models: 'at-cohere', modelMapping: '{"at-cohere":"embed-v4.0"}' })
await app.make.channel({
  type: 41,
  models: 'at-vertex',
  modelMapping: '{"at-vertex":"text-embedding-005"}',
  key: serviceAccount(app.upstream.url),
})
await app.make.channel({
  type: 41,
  models: 'newer-at-vertex',
  modelMapping: '{"newer-at-vertex":"gemini-embedding-2"}',
  key: serviceAccount(app.upstream.url),
})
await app.make.channel({ type: 24, models: 'failing', baseUrl: app.upstream.withDirectives('status=400') })
await app.make.channel({ type: 1, models: 'failing-too', baseUrl: app.upstream.withDirectives('status=400') })
await app.make.channel({ type: 37, models: 'no-embeddings' })
await app.make.channel({ type: 24, models: 'imagen-here', modelMapping: '{"imagen-here":"imagen-4.0-generate-001"}' })
await app.make.channel({ type: 1, models: 'dall-e-3,gpt-image-1' })
await setOptions(app, {
  RetryTimes: '0',
  ModelPrice: JSON.stringify({ 'imagen-4.0-generate-001': 0.04 }),
  ModelRatio: JSON.stringify({
    'gemini-embedding-001': 20,
    counted: 20,
    'text-embedding-3-small': 10,
    'embed-v4.0': 10,
    'text-embedding-005': 10,
    'gemini-embedding-2': 10,
    failing: 1,
    'failing-too': 1,
    'no-embeddings': 1,
    'dall-e-3': 20,
    'gpt-image-1': 2.5,
  }),
})
await app.settled()
const library = googleLibrary(app.url, token.key)
beforeEach(() => newRows())

/** What was charged since the last look; rows of failures are written when there is time. */
async function newRows() {
  const fresh = (await app.logs()).filter(({ id, type }) => type === 2 && !seen.has(id))
  for (const { id } of fresh) seen.add(id)
  return fresh
}

const lastRequest = () => app.upstream.requests.at(-1)
const valuesOf = (embeddings: { values?: number[] }[] | undefined) => embeddings?.map(({ values }) => values)

describe.each([
  // "hello" and "world" are a token each, counted here: 2 × 20.
  { model: 'native', price: 40, prompt: 2, path: '/v1beta/models/gemini-embedding-001:batchEmbedContents' },
  // The upstream counts 12: 12 × 20.
  { model: 'counted', price: 240, prompt: 12, path: '/v1beta/models/counted:batchEmbedContents' },
  // Ten characters are three tokens there: 3 × 10.
  { model: 'translated', price: 30, prompt: 3, path: '/v1/embeddings' },
  { model: 'at-cohere', price: 30, prompt: 3, path: '/v2/embed' },
  // Each word by itself is two tokens there: 4 × 10.
  {
    model: 'at-vertex',
    price: 40,
    prompt: 4,
    path: '/v1/projects/simulated-project/locations/global/publishers/google/models/text-embedding-005:predict',
  },
  // The same, each word a call.
  {
    model: 'newer-at-vertex',
    price: 40,
    prompt: 4,
    path: '/v1/projects/simulated-project/locations/global/publishers/google/models/gemini-embedding-2:embedContent',
  },
])('the @google/genai library embeds through $model', ({ model, price, prompt, path }) => {
  test('several texts at once, charged and logged as embeddings are', async () => {
    const answer = await library.models.embedContent({ model, contents: ['hello', 'world'] })
    expect(valuesOf(answer.embeddings)).toEqual([embed('hello', 8), embed('world', 8)])
    expect(lastRequest()?.path).toBe(path)
    const rows = await newRows()
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ type: 2, quota: price, prompt_tokens: prompt, model_name: model, is_stream: false })
    expect(rows[0]?.other).toMatchObject({ operation: 'embeddings' })
  })

  test('vectors have the wanted length, one text alone too', async () => {
    const answer = await library.models.embedContent({
      model,
      contents: 'hello',
      config: { outputDimensionality: 3 },
    })
    expect(valuesOf(answer.embeddings)).toEqual([embed('hello', 3)])
  })

  test('the ai package embeds one text and many', async () => {
    const provider = createGoogle({ apiKey: `sk-${token.key}`, baseURL: `${app.url}/v1beta` })
    const one = await embedOne({ model: provider.embedding(model), value: 'hello' })
    expect(one.embedding).toEqual(embed('hello', 8))
    const many = await embedMany({ model: provider.embedding(model), values: ['hello', 'world'] })
    expect(many.embeddings).toEqual([embed('hello', 8), embed('world', 8)])
    expect(await newRows()).toHaveLength(2)
  })

  test('one content alone has one vector in its answer, under both versions of the path', async () => {
    for (const version of ['v1beta', 'v1']) {
      const body = { model: `models/${model}`, content: { parts: [{ text: 'hello' }] } }
      const reply = await app.relay(token, `/${version}/models/${model}:embedContent`, body)
      expect(await reply.json()).toMatchObject({ embedding: { values: embed('hello', 8) } })
    }
  })
})

test('what the upstream counted is reported to the caller', async () => {
  const ask = (model: string) =>
    app.relay(token, `/v1beta/models/${model}:embedContent`, { content: { parts: [{ text: 'hello' }] } })
  expect(await (await ask('counted')).json()).toMatchObject({ usageMetadata: { promptTokenCount: 12 } })
  expect(await (await ask('translated')).json()).toMatchObject({ usageMetadata: { promptTokenCount: 2 } })
})

test('fields go through to a Google channel, and are named as lost on the way to another', async () => {
  const body = {
    requests: [
      { model: 'models/native', content: { parts: [{ text: 'hello' }] }, taskType: 'RETRIEVAL_DOCUMENT', title: 'T' },
    ],
  }
  const native = await app.relay(token, '/v1beta/models/native:batchEmbedContents', body)
  expect(native.headers.get('x-translation-loss')).toBeNull()
  expect(lastRequest()?.body).toEqual({ requests: [{ ...body.requests[0], model: 'models/gemini-embedding-001' }] })
  const translated = await app.relay(token, '/v1beta/models/translated:batchEmbedContents', body)
  expect(translated.headers.get('x-translation-loss')).toBe('taskType,title')
  expect(lastRequest()?.body).toEqual({ model: 'text-embedding-3-small', input: ['hello'] })
})

test('what the texts are for is sent to vendors that ask for it, and named as lost where they do not know it', async () => {
  const ask = async (model: string, more: object) => {
    const requests = ['hello', 'world'].map((text) => ({ model, content: { parts: [{ text }] }, ...more }))
    const reply = await app.relay(token, `/v1beta/models/${model}:batchEmbedContents`, { requests })
    return { losses: reply.headers.get('x-translation-loss'), body: lastRequest()?.body }
  }
  const query = { taskType: 'RETRIEVAL_QUERY' }
  expect(await ask('at-cohere', query)).toMatchObject({ losses: null, body: { input_type: 'search_query' } })
  expect(await ask('at-cohere', { taskType: 'CODE_RETRIEVAL_QUERY' })).toMatchObject({
    losses: 'taskType',
    body: { input_type: 'search_document' },
  })
  const instance = { task_type: 'RETRIEVAL_QUERY', title: 'T' }
  expect(await ask('at-vertex', { ...query, title: 'T' })).toMatchObject({
    losses: null,
    body: { instances: [{ content: 'hello', ...instance }, instance] },
  })
})

test('an image goes through to a Google channel and is refused where it cannot be said', async () => {
  const parts = [{ text: 'a cat' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }]
  const native = await app.relay(token, '/v1beta/models/native:embedContent', { content: { parts } })
  expect(native.status).toBe(200)
  expect(lastRequest()?.body).toMatchObject({ content: { parts } })
  const refused = await app.relay(token, '/v1beta/models/translated:embedContent', { content: { parts } })
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({
    error: { code: 400, status: 'INVALID_ARGUMENT', message: expect.stringContaining('不支持 inlineData') },
  })
})

test('embedded sound costs what the vendor lists for it, counted there or, where nothing is reported, here', async () => {
  const parts = [
    { text: 'hello' },
    { inlineData: { mimeType: 'audio/mpeg', data: Buffer.alloc(5000).toString('base64') } },
  ]
  for (const model of ['heard', 'heard-uncounted'])
    await app.relay(token, `/v1beta/models/${model}:embedContent`, { content: { parts } })
  // $6.50 of sound is 0.325 times the $20 of text that a ratio of 10 is: (10 + 2000 × 0.325) × 10, and (2 + 100 × 0.325) × 10.
  expect(await newRows()).toMatchObject([
    { quota: 6600, prompt_tokens: 2010, other: { audio_input: 2000 } },
    { quota: 345, prompt_tokens: 102, other: { usage_source: 'estimated' } },
  ])
})

test('an OpenAI caller receives the usage that a Google channel does not report', async () => {
  const client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: `sk-${token.key}`, maxRetries: 0 })
  const answer = await client.embeddings.create({ model: 'native', input: ['hello', 'world'] })
  expect(answer.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 })
  expect((await newRows()).map((row) => row.quota)).toEqual([40])
})

test('lists of tokens that stand for no text are refused by a Google channel', async () => {
  for (const input of [[100_257], [[1, 2], [100_257]]]) {
    const reply = await app.relay(token, '/v1/embeddings', { model: 'native', input })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: { message: expect.stringContaining('只接受文本') } })
  }
  expect(await newRows()).toEqual([])
})

test('more texts than one call takes are embedded in several, in their order, and charged together', async () => {
  const input = Array.from({ length: 150 }, (_, index) => `text ${index}`)
  const from = app.upstream.requests.length
  const reply = await app.relay(token, '/v1/embeddings', { model: 'counted', input })
  const { data } = (await reply.json()) as { data: { index: number; embedding: number[] }[] }
  expect(data.map(({ index }) => index)).toEqual(input.map((_, index) => index))
  expect(data[149]?.embedding).toEqual(embed('text 149', 8))
  expect(app.upstream.requests.slice(from)).toHaveLength(2)
  // Each of the two calls reports 12 tokens: 24 × 20.
  expect((await newRows()).map((row) => row.quota)).toEqual([480])
})

test('errors come in Google’s form, and nothing is charged', async () => {
  const ask = (model: string, body: unknown, key: TestToken | string = token) =>
    app.relay(key, `/v1beta/models/${model}:embedContent`, body)
  const content = { parts: [{ text: 'hello' }] }
  const cases = [
    { reply: ask('native', {}), code: 400, status: 'INVALID_ARGUMENT', says: 'content is required' },
    { reply: ask('native', { content: { parts: [] } }), code: 400, status: 'INVALID_ARGUMENT', says: 'is required' },
    { reply: ask('native', { content: 7 }), code: 400, status: 'INVALID_ARGUMENT', says: 'content is invalid' },
    { reply: ask('failing', { content }), code: 400, status: 'INVALID_ARGUMENT', says: 'Simulated failure 400.' },
    { reply: ask('failing-too', { content }), code: 400, status: 'INVALID_ARGUMENT', says: 'Simulated failure 400.' },
    { reply: ask('nobodys', { content }), code: 404, status: 'NOT_FOUND', says: 'nobodys' },
    { reply: ask('native', { content }, 'x'.repeat(48)), code: 401, status: 'UNAUTHENTICATED', says: '令牌无效' },
    {
      reply: ask('native', { content: { parts: [{ text: 'test_sensitive' }] } }),
      code: 400,
      status: 'INVALID_ARGUMENT',
    },
  ]
  for (const { reply, code, status, says = '' } of cases) {
    const answer = await reply
    const body = (await answer.json()) as { error: { message: string } }
    expect(body, says).toMatchObject({ error: { code, status } })
    expect(answer.status, says).toBe(code)
    expect(body.error.message).toContain(says)
  }
  const empty = await app.relay(token, '/v1beta/models/native:batchEmbedContents', { requests: [] })
  expect(await empty.json()).toMatchObject({ error: { status: 'INVALID_ARGUMENT' } })
  const thrown = await thrownBy(() => library.models.embedContent({ model: 'failing', contents: 'hello' }))
  expect(thrown).toBeInstanceOf(ApiError)
  expect(thrown.status).toBe(400)
  const unable = await ask('no-embeddings', { content })
  expect(unable.status).toBe(400)
  expect(await newRows()).toEqual([])
})

test('after all of it the ledger balances', async () => {
  expect(await app.violations()).toEqual([])
})

/** As Google's libraries asked before their third version. */
async function predict(model: string, body: object) {
  const headers = { 'x-goog-api-key': `sk-${token.key}`, 'content-type': 'application/json' }
  const url = `${app.url}/v1beta/models/${model}:predict`
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: reply.status, json: await reply.json() }
}

const instances = [{ prompt: 'a plover' }]

test.each([
  { model: 'imagen-here', type: 24 },
  { model: 'dall-e-3', type: 1 },
  { model: 'gpt-image-1', type: 1 },
])(
  'Imagen’s calls for $model are passed through or translated, and cost as many images as are wanted',
  async (drawing) => {
    const { model, type } = drawing
    const prices: number[] = []
    for (const sampleCount of [1, 2]) {
      const answer = await predict(model, { instances, parameters: { sampleCount, aspectRatio: '16:9' } })
      const image = { mimeType: 'image/png', bytesBase64Encoded: expect.stringMatching(/^iVBOR/) }
      const predictions = Array.from({ length: sampleCount }, () => image)
      expect(answer).toMatchObject({ status: 200, json: { predictions } })
      const rows = await newRows()
      expect(rows).toHaveLength(1)
      prices.push(rows[0]?.quota ?? 0)
    }
    expect(lastRequest()?.body).toMatchObject(
      type === 24 ? { parameters: { sampleCount: 2, aspectRatio: '16:9' } } : { prompt: 'a plover', n: 2 },
    )
    // What the vendor counts in tokens is charged by them.
    if (model !== 'gpt-image-1') expect(prices[1]).toBe(2 * (prices[0] ?? 0))
    expect(prices[0]).toBeGreaterThan(0)
  },
)

test('a call to draw that says too little or too much is refused in Google’s form, and costs nothing', async () => {
  for (const body of [
    {},
    { instances: [] },
    { instances: [{}] },
    { instances: [...instances, ...instances] },
    { instances, parameters: { sampleCount: 5 } },
  ])
    expect(await predict('imagen-here', body)).toMatchObject({
      status: 400,
      json: { error: { status: 'INVALID_ARGUMENT' } },
    })
  expect(await newRows()).toEqual([])
  // Nobody said how many: the vendor's own number, which is charged.
  const { json } = await predict('imagen-here', { instances })
  expect(json).toMatchObject({ predictions: Array.from({ length: 4 }, () => ({ mimeType: 'image/png' })) })
})
