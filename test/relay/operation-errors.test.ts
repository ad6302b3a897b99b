import { describe, expect, test } from 'vitest'
import { json, type Play, type Step } from '#test/support/scripted-upstream.ts'
import { key, startFailingOperations, words } from './failing-operations.ts'
import { channelsOf, serve, setOptions } from './serve.ts'

const { app, scripted, token, post, postFile, rowsOf } = await startFailingOperations()

const audio: Play = { headers: { 'content-type': 'audio/mpeg' }, steps: ['audio'] }
const images = json({ created: 1, data: [{ url: 'https://i.test/a.png' }] })

type Operation = readonly [name: string, ask: (model: string) => Promise<Response>, good: Play]
const operations: readonly Operation[] = [
  [
    'embeddings',
    (model) => post('/embeddings', { model, input: 'hi' }),
    json({ data: [{ index: 0, embedding: [1] }] }),
  ],
  ['images', (model) => post('/images/generations', { model, prompt: 'a cat' }), images],
  ['image edits', (model) => postFile('/images/edits', { model, prompt: 'a cat' }, 'image'), images],
  ['moderations', (model) => post('/moderations', { model, input: 'hi' }), json({ results: [{ flagged: false }] })],
  [
    'rerank',
    (model) => post('/rerank', { model, query: 'q', documents: ['a'] }),
    json({ results: [{ index: 0, relevance_score: 1 }] }),
  ],
  ['speech', (model) => post('/audio/speech', { model, input: 'hi', voice: 'alloy' }), audio],
  ['transcriptions', (model) => postFile('/audio/transcriptions', { model }, 'file'), json({ text: 'hello' })],
  ['translations', (model) => postFile('/audio/translations', { model }, 'file'), json({ text: 'hello' })],
]

const shapes: readonly object[] = [
  { success: false, errors: [{ code: 7000, message: words }], messages: [], result: null },
  { errors: [{ message: words }] },
  { code: 500, message: words },
  { detail: words },
  { detail: [{ msg: words, loc: ['body'] }] },
  { success: false, msg: words },
  { message: words, data: [] },
  { base_resp: { status_code: 1000, status_msg: words }, data: null },
]

describe.each(operations)('a 200 answer of %s that brings nothing and says an error', (_, ask, good) => {
  test('is a failed attempt: another channel is asked, and charged alone', async () => {
    for (const shape of shapes) {
      const { model, ids } = await serve(
        app,
        { key, priority: 1, baseUrl: scripted.play(json(shape)) },
        { baseUrl: scripted.play(good) },
      )
      const reply = await ask(model)
      const text = await reply.text()
      expect([reply.status, text], JSON.stringify(shape)).toEqual([200, expect.not.stringContaining('overloaded')])
      expect((await rowsOf(model)).map((row) => [row.channel_id, channelsOf(row)])).toEqual([[ids[1], ids]])
    }
  })

  test('is an error of its caller where there is no other channel, without the key and a charge', async () => {
    for (const shape of shapes) {
      const { model } = await serve(app, { key, baseUrl: scripted.play(json(shape)) })
      const reply = await ask(model)
      const text = await reply.text()
      expect(reply.status, text).toBeGreaterThanOrEqual(400)
      expect(text).toContain('overloaded, says ***')
      expect(await rowsOf(model)).toEqual([])
    }
  })
})

const page = '\n<!DOCTYPE html><html><body>Sign in to the hotel</body></html>'

test.each(operations)(
  'a page with status 200 is no answer of %s, whatever it is announced as',
  async (name, ask, good) => {
    for (const type of ['text/html; charset=utf-8', 'text/plain', ...(name === 'speech' ? ['audio/mpeg'] : [])]) {
      const { model, ids } = await serve(
        app,
        { key, priority: 1, baseUrl: scripted.play({ headers: { 'content-type': type }, steps: [page] }) },
        { baseUrl: scripted.play(good) },
      )
      expect(await (await ask(model)).text(), type).not.toContain('hotel')
      expect((await rowsOf(model)).map((row) => [row.channel_id, channelsOf(row)])).toEqual([[ids[1], ids]])
    }
  },
)

test('words and lists of nothing are no speech: another channel is asked, and charged alone', async () => {
  const plays = ['text/plain; charset=utf-8', 'text/html'].flatMap((type) =>
    [['The service is busy, ', 'try again. 请稍后'], ['busy']].map((steps) => ({
      headers: { 'content-type': type },
      steps,
    })),
  )
  for (const play of [...plays, json({}), json({ status: 'queued' })]) {
    const { model, ids } = await serve(
      app,
      { key, priority: 1, baseUrl: scripted.play(play) },
      { baseUrl: scripted.play(audio) },
    )
    const reply = await post('/audio/speech', { model, input: 'hi', voice: 'alloy' })
    expect([reply.status, await reply.text()]).toEqual([200, 'audio'])
    expect((await rowsOf(model)).map((row) => [row.channel_id, channelsOf(row)])).toEqual([[ids[1], ids]])
  }
})

test('speech that is announced as text, and a transcript that is announced as a page, are answers', async () => {
  const frame = Buffer.from([0xff, 0xf3, 0x84, 0xc4, 0, 0, 0, 0])
  const spoken = { headers: { 'content-type': 'text/html' }, steps: [frame, frame] }
  const { model } = await serve(app, { baseUrl: scripted.play(spoken) })
  const speech = await post('/audio/speech', { model, input: 'hi', voice: 'alloy' })
  expect(Buffer.from(await speech.arrayBuffer())).toEqual(Buffer.concat([frame, frame]))
  expect(speech.headers.get('content-type')).toBe('application/octet-stream')
  // As whisper.cpp answers for text.
  const written = { headers: { 'content-type': 'text/html; charset=utf-8' }, steps: [' and so on', '\n'] }
  const { model: writer } = await serve(app, { baseUrl: scripted.play(written) })
  const transcript = await postFile('/audio/transcriptions', { model: writer, response_format: 'text' }, 'file')
  expect([transcript.status, await transcript.text()]).toEqual([200, ' and so on\n'])
  expect(transcript.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(await rowsOf(writer)).toHaveLength(1)
})

test('words in the place of an image that comes as bytes are none', async () => {
  for (const type of ['text/html', 'text/plain', 'image/png']) {
    const play = { headers: { 'content-type': type }, steps: [page] }
    const { model, ids } = await serve(
      app,
      { type: 39, key: 'account|key', priority: 1, baseUrl: scripted.play(play) },
      { baseUrl: scripted.play(images) },
    )
    expect(await (await post('/images/generations', { model, prompt: 'a cat' })).json()).toMatchObject({ created: 1 })
    expect((await rowsOf(model)).map((row) => row.channel_id)).toEqual([ids[1]])
  }
})

test('an error that is announced as text is one', async () => {
  const play = { headers: { 'content-type': 'text/plain' }, steps: [JSON.stringify({ detail: words })] }
  const { model, ids } = await serve(
    app,
    { key, priority: 1, baseUrl: scripted.play(play) },
    { baseUrl: scripted.play(json({ text: 'hello' })) },
  )
  expect(await (await postFile('/audio/transcriptions', { model }, 'file')).json()).toEqual({ text: 'hello' })
  expect((await rowsOf(model)).map((row) => row.channel_id)).toEqual([ids[1]])
})

test('an empty transcript is an answer: silence has no words', async () => {
  for (const answer of [{ text: '' }, { text: '', segments: [], duration: 3 }]) {
    const { model } = await serve(app, { baseUrl: scripted.play(json(answer)) })
    expect(await (await postFile('/audio/transcriptions', { model }, 'file')).json()).toEqual(answer)
    expect(await rowsOf(model)).toHaveLength(1)
  }
})

test('vectors of several calls are none where one of the calls brings none', async () => {
  const good = json({ embeddings: [{ values: [1] }] })
  let asked = 0
  const baseUrl = scripted.play(() => (asked++ % 2 === 0 ? good : json({ errors: [{ message: words }] })))
  const { model } = await serve(app, { type: 24, key, baseUrl })
  const reply = await post('/embeddings', { model, input: Array.from({ length: 101 }, () => 'hi') })
  expect([reply.status, await reply.text()]).toEqual([500, expect.stringContaining('overloaded, says ***')])
  expect(asked).toBeGreaterThanOrEqual(2)
  expect(await rowsOf(model)).toEqual([])
})

const eachImage = 0.0025 * 37.5 * 500_000
const draw = (model: string, fields: object = {}) => post('/images/generations', { model, prompt: 'a cat', ...fields })

describe('an answer of images', () => {
  const failed = { error: { code: 'OutputImageFailed', message: words } }
  const image = { url: 'https://i.test/a.png' }

  test('without any is a failed attempt, whatever usage it reports', async () => {
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    for (const data of [[], [failed], [failed, failed]]) {
      const { model, ids } = await serve(
        app,
        { key, priority: 1, baseUrl: scripted.play(json({ created: 1, data, usage })) },
        { baseUrl: scripted.play(images) },
      )
      expect((await draw(model, { n: 3 })).status).toBe(200)
      expect((await rowsOf(model)).map((row) => [row.channel_id, channelsOf(row)])).toEqual([[ids[1], ids]])
    }
  })

  test('is charged for those that came where it says that others failed, and shows why without the key', async () => {
    const { model } = await serve(app, { key, baseUrl: scripted.play(json({ created: 1, data: [image, failed] })) })
    const reply = await draw(model, { n: 3 })
    expect(await reply.json()).toEqual({
      created: 1,
      data: [image, { error: { code: 'OutputImageFailed', message: 'overloaded, says ***' } }],
    })
    expect(await rowsOf(model)).toMatchObject([{ quota: eachImage }])
  })

  test('shows no word of the upstream where those are hidden', async () => {
    await setOptions(app, { 'global.hide_upstream_error_enabled': 'true' })
    const { model } = await serve(app, { key, baseUrl: scripted.play(json({ created: 1, data: [failed, image] })) })
    const text = await (await draw(model, { n: 2 })).text()
    expect(text).not.toMatch(/overloaded|OutputImageFailed/)
    expect(JSON.parse(text)).toMatchObject({
      data: [{ error: { message: expect.stringContaining('upstream returned status 500') } }, image],
    })
  })

  test('streams to its caller with an event of its own for one that failed', async () => {
    const { model } = await serve(app, {
      key,
      baseUrl: scripted.play(json({ created: 1, data: [image, failed], usage: { generated_images: 1 } })),
    })
    const text = await (await draw(model, { n: 2, stream: true, response_format: 'url' })).text()
    const events = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
    expect(events).toMatchObject([
      { type: 'image_generation.completed', ...image, usage: { generated_images: 1 } },
      { type: 'image_generation.partial_failed', image_index: 1, error: { message: 'overloaded, says ***' } },
    ])
    expect(await rowsOf(model)).toMatchObject([{ quota: eachImage }])
  })

  test('in Google’s form is charged for those that were not filtered out', async () => {
    const predictions = [
      { bytesBase64Encoded: 'AAAA' },
      { raiFilteredReason: 'a face' },
      { raiFilteredReason: 'a face' },
    ]
    const baseUrl = scripted.play(json({ predictions }))
    const { model } = await serve(app, { type: 24, upstreamModel: 'imagen-4', baseUrl })
    const body = { instances: [{ prompt: 'a cat' }], parameters: { sampleCount: 3 } }
    const reply = await app.relay(token, `/v1beta/models/${model}:predict`, body)
    expect(await reply.json()).toEqual({ predictions })
    expect(await rowsOf(model)).toMatchObject([{ quota: eachImage }])
  })

  test('in Google’s form shows why others are missing without the key, and without a word where those are hidden', async () => {
    const predictions = [{ bytesBase64Encoded: 'AAAA' }, { raiFilteredReason: words }, { error: { message: words } }]
    const baseUrl = scripted.play(json({ predictions }))
    const { model } = await serve(app, { type: 24, key, upstreamModel: 'imagen-4', baseUrl })
    const body = { instances: [{ prompt: 'a cat' }], parameters: { sampleCount: 3 } }
    const answered = async () => (await app.relay(token, `/v1beta/models/${model}:predict`, body)).json()
    const [image] = predictions
    const masked = 'overloaded, says ***'
    expect(await answered()).toEqual({
      predictions: [image, { raiFilteredReason: masked }, { error: { message: masked } }],
    })
    await setOptions(app, { 'global.hide_upstream_error_enabled': 'true' })
    const hidden = expect.stringContaining('upstream returned status')
    expect(await answered()).toMatchObject({
      predictions: [image, { raiFilteredReason: hidden }, { error: { message: hidden } }],
    })
  })

  test.each(['images', 'output'])('is shown without the key whatever its list is called: %s', async (name) => {
    const answer = { data: [image], [name]: { results: [image, failed] } }
    const { model } = await serve(app, { key, baseUrl: scripted.play(json(answer)) })
    const text = await (await draw(model, { n: 2 })).text()
    expect(text).toContain('overloaded, says ***')
    expect(text).not.toContain(key)
  })

  test.each(['image_url', 'b64_png', 'url'])(
    'is charged for all that came, whatever they are called: %s',
    async (name) => {
      const drawn = { [name]: 'https://i.test/a.png' }
      for (const data of [
        [drawn, drawn],
        [drawn, failed, drawn],
      ]) {
        const { model } = await serve(app, { key, baseUrl: scripted.play(json({ created: 1, data })) })
        expect((await draw(model)).status).toBe(200)
        expect(await rowsOf(model)).toMatchObject([{ quota: 2 * eachImage }])
      }
    },
  )
})

describe('however an upstream cuts what it sends in place of speech,', () => {
  const speak = (model: string) => post('/audio/speech', { model, input: 'hi', voice: 'alloy' })
  const inPieces = (text: string): Step[] => [text.slice(0, 1), 20, text.slice(1, 3), 20, text.slice(3)]
  const error = ` ${JSON.stringify({ error: { message: words, trace: 'x'.repeat(5000) } })}`
  const types = ['text/plain', 'audio/mpeg', 'application/octet-stream']

  test.each(types)('it is a failed attempt, and another channel is asked and charged alone: %s', async (type) => {
    const texts = [error, JSON.stringify({ id: 'r', result: null }), page]
    for (const text of type === 'text/plain' ? [...texts, 'the voice is overloaded'] : texts) {
      const { model, ids } = await serve(
        app,
        { key, priority: 1, baseUrl: scripted.play({ headers: { 'content-type': type }, steps: inPieces(text) }) },
        { baseUrl: scripted.play(audio) },
      )
      const reply = await speak(model)
      expect([reply.status, await reply.text()], text.slice(0, 20)).toEqual([200, 'audio'])
      expect((await rowsOf(model)).map((row) => [row.channel_id, channelsOf(row)])).toEqual([[ids[1], ids]])
    }
  })

  test.each(types)('speech goes out as it came: %s', async (type) => {
    const packed = JSON.stringify({ audio: 'AAAA' })
    for (const bytes of [`ID3\u0004${'x'.repeat(3000)}`, `{{{\u0001\u0000${'x'.repeat(3000)}`, packed]) {
      const { model } = await serve(app, {
        baseUrl: scripted.play({ headers: { 'content-type': type }, steps: inPieces(bytes) }),
      })
      const reply = await speak(model)
      expect([reply.status, await reply.text()]).toEqual([200, bytes])
      expect(await rowsOf(model)).toHaveLength(1)
    }
  })
})
