import { describe, expect, test } from 'vitest'
import { cut } from '#test/support/scripted-upstream.ts'
import { consumed, eventually } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { channelsOf, serve, setOptions } from './serve.ts'
import { startApp } from '#test/support/app.ts'
import { holdLock } from '#test/support/held-lock.ts'

const { app, scripted, token } = await startScriptedRelay()

const headers = { authorization: `Bearer sk-${token.key}` }
const json = { ...headers, 'content-type': 'application/json' }

function transcribe(model: string, path = 'transcriptions', format = 'json'): Promise<Response> {
  const form = new FormData()
  form.set('model', model)
  form.set('stream', 'true')
  form.set('response_format', format)
  form.set('file', new Blob([new Uint8Array(100)], { type: 'audio/wav' }), 'a.wav')
  return fetch(`${app.url}/v1/audio/${path}`, { method: 'POST', headers, body: form })
}

const draw = (model: string, n = 1): Promise<Response> =>
  fetch(`${app.url}/v1/images/generations`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ model, prompt: 'a cat', n, stream: true }),
  })

const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 }
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const partial = data({ type: 'transcript.text.delta', delta: 'hello' })
const done = data({ type: 'transcript.text.done', text: 'hello', usage })

describe('a streamed transcription', () => {
  test.each([
    ['line feeds', (text: string) => text],
    ['carriage returns and line feeds', (text: string) => text.replaceAll('\n', '\r\n')],
    ['carriage returns', (text: string) => text.replaceAll('\n', '\r')],
    ['no blank behind the colon', (text: string) => text.replaceAll('data: ', 'data:')],
  ])('leaves as it comes, its end after its charge, with %s', async (_, written) => {
    const { promise: seen, resolve } = Promise.withResolvers<void>()
    const baseUrl = scripted.play({ steps: [written(partial), seen, written(done)] })
    const { model } = await serve(app, { baseUrl })
    const reply = await transcribe(model)
    const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader()
    const first = await reader.read()
    expect(first.value).toBe(written(partial))
    resolve()
    let rest = ''
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) rest += piece.value
    expect(rest).toBe(written(done))
    // (10 + 2) × 37.5
    expect((await consumed(app)).at(-1)).toMatchObject({ quota: 450, model_name: model })
  })

  test('is charged by the usage of an event that is not named as the last one', async () => {
    const last = data({ text: 'hello', usage })
    const { model } = await serve(app, { baseUrl: scripted.play({ steps: [partial, last, data({ note: 'end' })] }) })
    expect(await (await transcribe(model)).text()).toBe(partial + last + data({ note: 'end' }))
    expect((await consumed(app)).at(-1)).toMatchObject({ quota: 450, model_name: model })
  })
})

const segments = [data({ text: ' hello' }), data({ text: ' "transcript.' })]
const lines = ['data: hello\n\n', 'data: he said "usage\n\n']
describe('a transcript of nothing but segments, which no event closes', () => {
  test.each([
    ['transcriptions', 'json', segments],
    ['transcriptions', 'text', lines],
    ['translations', 'json', segments],
    ['translations', 'text', lines],
  ])('is whole where it ends in order, and charged once as such: %s, %s', async (path, format, steps) => {
    const { model } = await serve(app, { baseUrl: scripted.play({ steps }) })
    expect(await (await transcribe(model, path, format)).text()).toBe(steps.join(''))
    const rows = (await consumed(app)).filter((row) => row.model_name === model)
    // What cannot be measured counts as a minute: 1000 × 37.5.
    expect(rows).toMatchObject([{ quota: 37_500 }])
    expect(rows[0]?.other).not.toHaveProperty('end')
  })

  test.each([
    ['is reset', [...segments, 20, cut]],
    ['ends within an event', [...segments, segments[0]!.slice(0, 12)]],
    ['ends within a line of text', [...lines, 'data: hel']],
  ] as const)('has broken off where it %s, and its caller learns it', async (_, steps) => {
    const { model } = await serve(app, { baseUrl: scripted.play({ steps: [...steps] }) })
    expect(await (await transcribe(model)).text()).toContain('"error"')
    const rows = (await consumed(app)).filter((row) => row.model_name === model)
    expect(rows).toMatchObject([{ quota: 37_500, other: { end: 'failed' } }])
  })
})

const preview = data({ type: 'image_generation.partial_image', b64_json: 'AAAA' })
const drawnOne = data({ type: 'image_generation.completed', b64_json: 'AAAA' })
const eachImage = 0.0025 * 37.5 * 500_000

describe('an event stream that ends without its closing event', () => {
  test.each([
    ['a preview', [preview], 0, 0],
    ['one of two images', [preview, drawnOne], 1, 1],
    ['one of two images, and half of the other', [preview, drawnOne, drawnOne.slice(0, 60)], 1, 1],
    ['one of two, reset', [preview, drawnOne, drawnOne.slice(0, 60), 20, cut], 1, 1],
    ['half of a closing event', [preview, drawnOne.slice(0, 60)], 0, 0],
    ['a preview, reset', [preview, 20, cut], 0, 0],
  ] as const)(
    'is charged for the images that came, which are delivered, and an error: %s',
    async (_, steps, count, sent) => {
      const { model } = await serve(app, { baseUrl: scripted.play({ steps: [...steps] }) })
      const reply = await draw(model, 2)
      const text = await reply.text()
      const events = text.trimEnd().split(/\n{2,}/)
      expect(events.filter((event) => event.includes('completed'))).toHaveLength(sent)
      const error = JSON.parse(events.at(-1)!.replace('data: ', '')) as { error: { message: string } }
      expect(error.error.message).toContain(`request id: ${reply.headers.get('x-request-id')}`)
      const rows = (await consumed(app)).filter((row) => row.model_name === model)
      expect(rows).toMatchObject([{ quota: count * eachImage, other: { end: 'failed' } }])
    },
  )

  test('has broken off by the number of images that is sent: the one that came is charged', async () => {
    const baseUrl = scripted.play({ steps: [preview, drawnOne] })
    const { model } = await serve(app, { baseUrl, paramOverride: '{"n":2}' })
    expect(await (await draw(model, 1)).text()).toContain('"error"')
    const rows = (await consumed(app)).filter((row) => row.model_name === model)
    expect(rows).toMatchObject([{ quota: eachImage, other: { end: 'failed' } }])
  })

  test('is asked for elsewhere where nothing has left, and charged once', async () => {
    await setOptions(app, { RetryTimes: '1' })
    const drawn = data({ type: 'image_generation.completed', b64_json: 'AAAA', usage })
    const { model, ids } = await serve(
      app,
      { priority: 1, baseUrl: scripted.play({ steps: [drawn.slice(0, 60)] }) },
      { baseUrl: scripted.play({ steps: [drawn] }) },
    )
    expect(await (await draw(model)).text()).toBe(drawn)
    const rows = (await consumed(app)).filter((row) => row.model_name === model)
    expect(rows.map((row) => [row.channel_id, channelsOf(row)])).toEqual([[ids[1], ids]])
  })

  test('of nothing but comments is charged nothing, and ends with an error', async () => {
    const { model } = await serve(app, { baseUrl: scripted.play({ steps: [': wait\n\n', ': wait\n\n'] }) })
    expect(await (await draw(model)).text()).toContain('"error"')
    const rows = (await consumed(app)).filter((row) => row.model_name === model)
    expect(rows).toMatchObject([{ quota: 0, other: { end: 'failed' } }])
  })

  test.each([
    ['ends', []],
    ['is reset', [20, cut]],
  ] as const)('of a transcription that %s tells its caller, and its log row says so', async (_, ending) => {
    const { model } = await serve(app, { baseUrl: scripted.play({ steps: [partial, ...ending] }) })
    const text = await (await transcribe(model)).text()
    expect(text.startsWith(partial)).toBe(true)
    expect(text.slice(partial.length)).toContain('"error"')
    expect((await consumed(app)).at(-1)).toMatchObject({ model_name: model, other: { end: 'failed' } })
  })
})

const blocked = data({
  type: 'error',
  error: { type: 'image_generation_user_error', code: 'moderation_blocked', message: 'refused by the safety system' },
})

describe('a streamed image', () => {
  test('is charged by its own usage, however large it is', async () => {
    const drawn = data({ type: 'image_generation.completed', b64_json: 'A'.repeat(6_000_000), usage })
    const { model } = await serve(app, { baseUrl: scripted.play({ steps: [drawn] }) })
    expect(await (await draw(model)).text()).toBe(drawn)
    expect((await consumed(app)).at(-1)).toMatchObject({ model_name: model, prompt_tokens: 10, completion_tokens: 2 })
  })

  test('of several is charged by what all of them took', async () => {
    const drawn = (outputTokens: number) =>
      data({ type: 'image_generation.completed', b64_json: 'AAAA', usage: { ...usage, output_tokens: outputTokens } })
    const steps = [drawn(2), drawn(3), drawn(4)]
    const { model } = await serve(app, { baseUrl: scripted.play({ steps }) })
    expect(await (await draw(model, 3)).text()).toBe(steps.join(''))
    expect((await consumed(app)).at(-1)).toMatchObject({ model_name: model, prompt_tokens: 30, completion_tokens: 9 })
  })

  test('is whole with as many images as are sent for, whatever its caller asked for', async () => {
    const { model } = await serve(app, {
      baseUrl: scripted.play({ steps: [preview, drawnOne] }),
      paramOverride: '{"n":1}',
    })
    expect(await (await draw(model, 2)).text()).toBe(preview + drawnOne)
    const rows = (await consumed(app)).filter((row) => row.model_name === model)
    expect(rows).toMatchObject([{ quota: eachImage }])
    expect(rows[0]?.other).not.toHaveProperty('end')
  })

  test('of fewer images than were asked for is closed by an event with usage, and charged as it was asked for', async () => {
    const image = data({ type: 'image_generation.partial_succeeded', url: 'https://images.example/1.png' })
    const last = data({ note: 'end', usage })
    for (const steps of [
      [drawnOne, last],
      [image, last, data({ note: 'bye' })],
    ]) {
      const { model } = await serve(app, { baseUrl: scripted.play({ steps }) })
      expect(await (await draw(model, 2)).text()).toBe(steps.join(''))
      const rows = (await consumed(app)).filter((row) => row.model_name === model)
      expect(rows).toMatchObject([{ quota: 2 * eachImage, prompt_tokens: 10, completion_tokens: 2 }])
      expect(rows[0]?.other).not.toHaveProperty('end')
    }
  })

  test('of several is not closed by the usage that one of them has', async () => {
    const drawn = data({ type: 'image_generation.completed', b64_json: 'AAAA', usage })
    const { model } = await serve(app, { baseUrl: scripted.play({ steps: [preview, drawn] }) })
    expect(await (await draw(model, 2)).text()).toContain('"error"')
    const rows = (await consumed(app)).filter((row) => row.model_name === model)
    expect(rows).toMatchObject([{ quota: eachImage, other: { end: 'failed' } }])
  })

  test('that begins with an error is asked for elsewhere, and not charged', async () => {
    await setOptions(app, { RetryTimes: '1' })
    const failure = data({ type: 'error', error: { type: 'server_error', message: 'broken' } })
    const drawn = data({ type: 'image_generation.completed', b64_json: 'AAAA', usage })
    const { model, ids } = await serve(
      app,
      { priority: 1, baseUrl: scripted.play({ steps: [failure] }) },
      { baseUrl: scripted.play({ steps: [drawn] }) },
    )
    const before = (await consumed(app)).length
    expect(await (await draw(model)).text()).toBe(drawn)
    const rows = (await consumed(app)).slice(before)
    expect(rows.map((row) => [row.channel_id, channelsOf(row)])).toEqual([[ids[1], ids]])
  })

  test('that is refused for what was asked is an error of its caller, and not charged', async () => {
    const { model } = await serve(app, { baseUrl: scripted.play({ steps: [blocked] }) })
    const before = (await consumed(app)).length
    const reply = await draw(model)
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { code: 'moderation_blocked' } }])
    expect((await consumed(app)).slice(before)).toEqual([])
  })

  test('that breaks off after a part of it says so to its caller, and in its log row', async () => {
    const part = data({ type: 'image_generation.partial_image', b64_json: 'AAAA' })
    const { model } = await serve(app, { baseUrl: scripted.play({ steps: [part, blocked] }) })
    expect(await (await draw(model)).text()).toBe(part + blocked)
    expect((await consumed(app)).at(-1)).toMatchObject({ model_name: model, other: { end: 'failed' } })
  })

  test('is charged by the images that came: fewer where it breaks off, more than asked for where a vendor draws a series', async () => {
    const image = data({ type: 'image_generation.partial_succeeded', url: 'https://images.example/1.png' })
    const each = 0.0025 * 37.5 * 500_000
    const series = [image, image, image, data({ type: 'image_generation.completed', usage: { generated_images: 3 } })]
    for (const [steps, count] of [
      [[image, image, blocked], 2],
      [[data({ type: 'image_generation.partial_image', b64_json: 'AAAA' }), blocked], 0],
      [[data({ type: 'image_generation.partial_image', b64_json: 'AAAA' }), cut], 0],
      [series, 3],
    ] as const) {
      const { model } = await serve(app, { baseUrl: scripted.play({ steps: [...steps] }) })
      await (await draw(model, 2)).text().catch(() => '')
      const [row] = await eventually(
        async () => (await consumed(app)).filter((one) => one.model_name === model),
        (rows) => rows.length > 0,
      )
      expect(row).toMatchObject({ quota: count * each })
    }
  })

  test('that breaks off with an error that quotes its channel’s key does not show it', async () => {
    const key = 'sk-Zx81QmPv93LrTw60BnYc'
    const part = data({ type: 'image_generation.partial_image', b64_json: 'AAAA' })
    const failure = data({ type: 'error', error: { type: 'server_error', message: `the key ${key} is overloaded` } })
    const { model } = await serve(app, { key, baseUrl: scripted.play({ steps: [part, failure] }) })
    const text = await (await draw(model)).text()
    expect(text).toContain('is overloaded')
    expect(text).not.toContain(key)
  })
})

test('audio that cannot be booked breaks off, is charged once, and is asked for nowhere else', async () => {
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  const [first, last] = [Buffer.alloc(500_000, 1), Buffer.alloc(500_000, 2)]
  const baseUrl = scripted.play({ headers: { 'content-type': 'audio/mpeg' }, steps: [first, begun, last] })
  const { model } = await serve(app, { priority: 1, baseUrl }, { baseUrl })
  // It knows the channels that are there when it starts.
  await using usual = await startApp({ on: app, refusesAsUsual: ['callMs'] })
  const asked = scripted.received.length
  const ask = () =>
    fetch(`${usual.url}/v1/audio/speech`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ model, input: 'hello', voice: 'alloy' }),
    })
  let reply = await ask()
  // A busy machine may have the product refuse to set aside: then nothing was asked for.
  while (reply.status === 503 && scripted.received.length === asked) reply = await ask()
  expect(reply.status).toBe(200)
  await using unlock = await holdLock(app.pool, 'lock table logs in access exclusive mode')
  resolve()
  await expect(reply.arrayBuffer()).rejects.toThrow('terminated')
  await unlock()
  const ofModel = async () => (await consumed(app)).filter((row) => row.model_name === model)
  expect(await eventually(ofModel, (rows) => rows.length > 0)).toHaveLength(1)
  expect(scripted.received.length - asked).toBe(1)
})

test('a call sets aside for as many images as it asks for, in whatever words', async () => {
  const { model } = await serve(app, {})
  const poor = await app.make.token(await app.make.user({ quota: 100_000 }))
  for (const words of [
    { n: 3 },
    { batch_size: 3 },
    { input: { num_outputs: 3 } },
    { sequential_image_generation: 'auto', sequential_image_generation_options: { max_images: 3 } },
    { sequential_image_generation: 'auto' },
  ]) {
    const reply = await app.relay(poor, '/v1/images/generations', { model, prompt: 'a cat', ...words })
    expect([words, reply.status]).toEqual([words, 403])
  }
  expect((await app.relay(poor, '/v1/images/generations', { model, prompt: 'a cat', batch_size: 1 })).status).toBe(200)
})
