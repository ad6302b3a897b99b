import { encode } from 'gpt-tokenizer/encoding/cl100k_base'
import OpenAI, { toFile } from 'openai'
import { afterAll, expect, test } from 'vitest'
import { pixel } from '#test/simulator/media.ts'
import { startApp } from '../support/app.ts'

const models = [
  'text-embedding-3-small',
  'text-embedding-004',
  'dall-e-3',
  'gpt-image-1',
  'tts-1',
  'whisper-1',
  'gpt-4o-mini-tts',
  'gpt-4o-mini-tts-2025-12-15',
  'our-speaker',
  'gpt-4o-transcribe',
  'text-moderation-latest',
  'omni-moderation-latest',
  'jina-reranker',
]

const app = await startApp()
afterAll(() => app[Symbol.asyncDispose]())
const token = await app.make.token(await app.make.user({ quota: 100_000_000 }))
await app.make.channel({ models: models.filter((model) => model !== 'text-embedding-004').join(',') })
await app.make.channel({ type: 24, models: 'text-embedding-004' })
await app.make.channel({ type: 3, models: 'at-azure', modelMapping: '{"at-azure":"gpt-everything"}' })
await app.make.option(
  'ModelRatio',
  JSON.stringify({
    'text-embedding-3-small': 0.01,
    'text-embedding-004': 0.075,
    'gpt-image-1': 2.5,
    'tts-1': 7.5,
    'whisper-1': 15,
    'gpt-4o-mini-tts': 0.3,
    'gpt-4o-mini-tts-2025-12-15': 0.3,
    'our-speaker': 0.3,
    'gpt-4o-transcribe': 1.25,
    'text-moderation-latest': 0.1,
    'omni-moderation-latest': 0.1,
    'jina-reranker': 10,
    'gpt-everything': 1,
  }),
)
// Speech has no price per call here, which would come before its ratio.
await app.make.option('ModelPrice', '{"dall-e-3":0.04}')
await app.settled()
const client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: `sk-${token.key}`, maxRetries: 0 })

const lastCharge = async () => {
  const rows = await app.logs()
  const row = rows.at(-1)
  return { quota: row?.quota, prompt: row?.prompt_tokens, model: row?.model_name, type: row?.type }
}

test('embeddings come as the library wants them, numbers and base64 alike, and cost what the upstream counted', async () => {
  const asNumbers = await client.embeddings.create({
    model: 'text-embedding-3-small',
    input: ['one', 'two'],
    encoding_format: 'float',
  })
  const byDefault = await client.embeddings.create({ model: 'text-embedding-3-small', input: ['one', 'two'] })
  expect(byDefault.data).toHaveLength(2)
  for (const [index, row] of asNumbers.data.entries()) {
    for (const [place, value] of row.embedding.entries())
      expect(byDefault.data[index]?.embedding[place]).toBeCloseTo(value, 5)
  }
  expect(await lastCharge()).toMatchObject({ type: 2, quota: 1, prompt: byDefault.usage.prompt_tokens })
})

test('a Google channel answers embeddings in the same form', async () => {
  const one = await client.embeddings.create({ model: 'text-embedding-004', input: 'hello' })
  const many = await client.embeddings.create({
    model: 'text-embedding-004',
    input: ['hello', 'world'],
    encoding_format: 'float',
  })
  expect(one.data[0]?.embedding.length).toBeGreaterThan(2)
  expect(many.data).toHaveLength(2)
  for (const [place, value] of (many.data[0]?.embedding ?? []).entries())
    expect(one.data[0]?.embedding[place]).toBeCloseTo(value, 5)
})

test('an image costs its price by size, quality and number', async () => {
  const reply = await client.images.generate({
    model: 'dall-e-3',
    prompt: 'a cat',
    size: '1024x1792',
    quality: 'hd',
    n: 2,
  })
  expect(reply.data).toHaveLength(2)
  expect(await lastCharge()).toMatchObject({ quota: 120_000, model: 'dall-e-3' })
})

test('tokens, which Python’s LangChain sends instead of texts, are texts again for an upstream that takes no others', async () => {
  const model = 'text-embedding-004'
  const texts = ['Hello, 世界 🗼', 'two']
  const charged = []
  for (const input of [texts, texts.map((text) => encode(text)), encode(texts[0] ?? '')]) {
    const reply = await app.relay(token, '/v1/embeddings', { model, input })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('x-translation-loss')).toBeNull()
    const { data } = (await reply.json()) as { data: unknown[] }
    const sent = JSON.stringify(app.upstream.requests.at(-1)?.body)
    for (const text of texts.slice(0, data.length)) expect(sent).toContain(JSON.stringify(text))
    charged.push([data.length, (await lastCharge()).prompt])
  }
  expect(charged[1]).toEqual(charged[0])
  expect(charged[2]?.[0]).toBe(1)
  // Cut within a character.
  const reply = await app.relay(token, '/v1/embeddings', { model, input: encode('🗼').slice(0, -1) })
  expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('token 列表')])
})

test('an image whose tokens are reported is charged by them, streamed or not', async () => {
  const reply = await client.images.generate({ model: 'gpt-image-1', prompt: 'a cat' })
  const input = reply.usage?.input_tokens ?? 0
  expect(await lastCharge()).toMatchObject({ quota: Math.round((input + 272 * 8) * 2.5) })
  const stream = await client.images.generate({ model: 'gpt-image-1', prompt: 'a cat', stream: true })
  const types: string[] = []
  for await (const event of stream) types.push(event.type)
  expect(types).toEqual(['image_generation.partial_image', 'image_generation.completed'])
  expect(await lastCharge()).toMatchObject({ quota: Math.round((input + 272 * 8) * 2.5) })
})

test('speech is charged by the character and arrives byte for byte', async () => {
  const input = 'x'.repeat(199) + '你'
  const reply = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input })
  expect(reply.headers.get('content-type')).toBe('audio/mpeg')
  expect(Buffer.from(await reply.arrayBuffer()).toString()).toBe(`sound of: ${input}`)
  expect(await lastCharge()).toMatchObject({ quota: 1500, prompt: 200 })
})

test('speech that reports its sound costs what its sound does, and by the character what it always did', async () => {
  const speak = async (model: string) => {
    const reply = await client.audio.speech.create({ model, voice: 'alloy', input: 'hello', stream_format: 'sse' })
    expect(await reply.text()).toContain('speech.audio.done')
    return lastCharge()
  }
  // Its sound is listed at 25 times what its texts cost: (2 + 40 × 25) × 0.3.
  for (const model of ['gpt-4o-mini-tts', 'gpt-4o-mini-tts-2025-12-15'])
    expect(await speak(model)).toMatchObject({ quota: 301, prompt: 2 })
  // That of others is not listed and costs what their text does: (2 + 40) × 0.3.
  expect(await speak('our-speaker')).toMatchObject({ quota: 13, prompt: 2 })
  expect(await speak('tts-1')).toMatchObject({ quota: 38, prompt: 5 })
})

test('a recording reaches the upstream unchanged and is charged by its length, or by reported tokens', async () => {
  const file = await toFile(Buffer.alloc(5000, 7), 'talk.mp3', { type: 'audio/mpeg' })
  const verbose = await client.audio.transcriptions.create({
    model: 'whisper-1',
    file,
    response_format: 'verbose_json',
  })
  expect(verbose.text).toContain('heard talk.mp3 of 5000 bytes')
  expect(await lastCharge()).toMatchObject({ quota: 22_755 })
  const text = await client.audio.transcriptions.create({ model: 'whisper-1', file, response_format: 'text' })
  expect(String(text)).toContain('heard talk.mp3')
  expect(await lastCharge()).toMatchObject({ quota: 15_000 })
  const stream = await client.audio.transcriptions.create({ model: 'gpt-4o-transcribe', file, stream: true })
  const types: string[] = []
  for await (const event of stream) types.push(event.type)
  expect(types).toEqual(['transcript.text.delta', 'transcript.text.done'])
  // Sound is listed at 2.4 times what text costs: (30 × 2.4 + 12 × 4) × 1.25.
  expect(await lastCharge()).toMatchObject({ quota: 150 })
})

test('an image is edited: the image reaches the upstream unchanged, charged by tokens, streamed or not', async () => {
  const image = await toFile(pixel, 'cat.png', { type: 'image/png' })
  const reply = await client.images.edit({ model: 'gpt-image-1', image, prompt: 'a dog' })
  expect(reply.data?.[0]?.b64_json).toBeDefined()
  const input = reply.usage?.input_tokens ?? 0
  expect(input).toBeGreaterThan(0)
  const charge = { quota: Math.round((input + 272 * 8) * 2.5), model: 'gpt-image-1' }
  expect(await lastCharge()).toMatchObject(charge)
  expect(app.upstream.requests.at(-1)).toMatchObject({
    path: '/v1/images/edits',
    body: {
      model: 'gpt-image-1',
      prompt: 'a dog',
      image: { filename: 'cat.png', type: 'image/png', bytes: pixel.length },
    },
  })
  const stream = await client.images.edit({ model: 'gpt-image-1', image, prompt: 'a dog', stream: true })
  const types: string[] = []
  for await (const event of stream) types.push(event.type)
  expect(types).toEqual(['image_edit.partial_image', 'image_edit.completed'])
  expect(await lastCharge()).toMatchObject(charge)
})

test('several images go into one edit', async () => {
  const files = await Promise.all(['one.png', 'two.png'].map((name) => toFile(pixel, name, { type: 'image/png' })))
  const reply = await client.images.edit({ model: 'gpt-image-1', image: files, prompt: 'both' })
  expect(reply.data).toHaveLength(1)
  const form = app.upstream.requests.at(-1)?.bytes.toString('latin1') ?? ''
  expect(form.match(/filename="(one|two)\.png"/g)).toHaveLength(2)
})

test('speech comes as events where that is wanted, charged by the character all the same', async () => {
  const reply = await client.audio.speech.create({
    model: 'tts-1',
    voice: 'alloy',
    input: 'x'.repeat(200),
    stream_format: 'sse',
  })
  expect(reply.headers.get('content-type')).toContain('text/event-stream')
  const events = [...(await reply.text()).matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1] ?? ''))
  expect(events.map((event) => event.type)).toEqual(['speech.audio.delta', 'speech.audio.done'])
  expect(Buffer.from(events[0].audio, 'base64').toString()).toBe(`sound of: ${'x'.repeat(200)}`)
  expect(await lastCharge()).toMatchObject({ quota: 1500, prompt: 200 })
})

test('a recording is translated, in every form that the library reads', async () => {
  const file = await toFile(Buffer.alloc(3000, 7), 'rede.mp3', { type: 'audio/mpeg' })
  const translation = await client.audio.translations.create({ model: 'whisper-1', file, prompt: 'a speech' })
  expect(translation.text).toContain('heard rede.mp3 of 3000 bytes')
  expect(app.upstream.requests.at(-1)).toMatchObject({ path: '/v1/audio/translations', body: { prompt: 'a speech' } })
  // Nothing states the length: a minute is charged.
  expect(await lastCharge()).toMatchObject({ quota: 15_000 })
  const verbose = await client.audio.translations.create({ model: 'whisper-1', file, response_format: 'verbose_json' })
  expect(verbose).toMatchObject({ duration: 90.2 })
  expect(await lastCharge()).toMatchObject({ quota: 22_755 })
  const subtitles = await client.audio.translations.create({ model: 'whisper-1', file, response_format: 'srt' })
  expect(String(subtitles)).toContain('heard rede.mp3')
})

test('every operation finds its own address on an Azure channel', async () => {
  const file = await toFile(Buffer.alloc(3000, 7), 'talk.mp3', { type: 'audio/mpeg' })
  const image = await toFile(pixel, 'cat.png', { type: 'image/png' })
  const calls: [string, () => Promise<unknown>][] = [
    ['embeddings', () => client.embeddings.create({ model: 'at-azure', input: 'hello' })],
    ['images/generations', () => client.images.generate({ model: 'at-azure', prompt: 'a cat' })],
    ['images/edits', () => client.images.edit({ model: 'at-azure', prompt: 'a cat', image })],
    ['audio/speech', () => client.audio.speech.create({ model: 'at-azure', voice: 'alloy', input: 'hello' })],
    ['audio/transcriptions', () => client.audio.transcriptions.create({ model: 'at-azure', file })],
    ['audio/translations', () => client.audio.translations.create({ model: 'at-azure', file })],
  ]
  for (const [operation, run] of calls) {
    await run()
    expect(app.upstream.requests.at(-1)).toMatchObject({
      path: `/openai/deployments/gpt-everything/${operation}`,
      query: { 'api-version': '2025-04-01-preview' },
      headers: { 'api-key': 'sk-upstream' },
    })
    expect(await lastCharge()).toMatchObject({ type: 2, model: 'at-azure' })
  }
})

test('moderations and rerank answer and are charged', async () => {
  const moderation = await client.moderations.create({ model: 'text-moderation-latest', input: 'violence' })
  expect(moderation.results[0]?.flagged).toBe(true)
  const reply = await app.relay(token, '/v1/rerank', {
    model: 'jina-reranker',
    query: 'cat',
    documents: ['dog', 'a cat'],
    top_n: 1,
  })
  expect(await reply.json()).toMatchObject({ results: [{ index: 1 }] })
  expect(await lastCharge()).toMatchObject({ quota: 210, prompt: 21 })
})

test('bad operations are refused as documented, and cost nothing', async () => {
  const before = (await app.logs()).length
  const cases: [string, unknown, string, string][] = [
    ['/v1/embeddings', { model: 'text-embedding-3-small', input: [] }, 'invalid_embedding_request', 'input is empty'],
    ['/v1/images/generations', { model: 'dall-e-3' }, 'invalid_image_request', 'prompt is required'],
    ['/v1/images/generations', { model: 'dall-e-3', prompt: 'x', size: '1×1' }, 'invalid_image_request', "letter 'x'"],
    ['/v1/images/generations', { model: 'dall-e-3', prompt: 'x', n: -1 }, 'invalid_image_request', 'n must be'],
    ['/v1/audio/transcriptions', { model: 'whisper-1' }, 'invalid_audio_request', 'file is required'],
    ['/v1/rerank', { model: 'jina-reranker', query: '', documents: ['x'] }, 'invalid_query', 'query is empty'],
    ['/v1/rerank', { model: 'jina-reranker', query: 'x', documents: [] }, 'invalid_documents', 'documents is empty'],
  ]
  for (const [path, body, code, message] of cases) {
    const reply = await app.relay(token, path, body)
    const json = (await reply.json()) as { error: { code: string; message: string } }
    expect(reply.status, path).toBe(400)
    expect(json.error.code, path).toBe(code)
    expect(json.error.message, path).toContain(message)
  }
  expect((await app.logs()).length).toBe(before)
})

test('after all of it the ledger balances', async () => {
  expect(await app.violations()).toEqual([])
})
