import { createServer } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'
import { listenLocally } from '#test/support/local-server.ts'
import { json, startScriptedUpstream } from '#test/support/scripted-upstream.ts'
import { allowUnpriced, serve, withOptions } from './serve.ts'
import { chat, closeWithoutViolations, consumed, say } from './caller-dialects.ts'

/** An image of 600 × 1000: its long side is 2 tiles, its short one 2: 4 × 170 + 85 = 765. */
const image = Buffer.alloc(24)
image.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
image.writeUInt32BE(600, 16)
image.writeUInt32BE(1000, 20)

const megabyte = 1_048_576
let filesUrl = ''
const asked: { method: string | undefined; path: string | undefined; body: string }[] = []
const app = await startApp({ environment: { BODY_WAIT_SECONDS: '1' } })
const scripted = await startScriptedUpstream()
await allowUnpriced(app)
const token = await app.make.token(await app.make.user({ quota: 1_000_000_000 }))
const files = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  asked.push({ method: request.method, path: request.url, body })
  // As if the process, which is the gateway's too, were stopped for so long.
  if (request.url === '/held-up.png') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6000)
  response.writeHead(200, { 'content-type': 'image/png' })
  const megabytes = Number(/(\d+)-megabytes/.exec(request.url ?? '')?.[1] ?? 0)
  response.end(megabytes > 0 ? Buffer.alloc(megabytes * megabyte) : image)
})
const served = await listenLocally(files)
filesUrl = served.url
afterAll(async () => {
  await closeWithoutViolations(app)
  await scripted[Symbol.asyncDispose]()
  await served[Symbol.asyncDispose]()
})

const showing = (model: string, urls: string[]) => ({
  model,
  messages: [{ role: 'user', content: urls.map((url) => ({ type: 'image_url', image_url: { url } })) }],
})
const geminiAnswer = json({ candidates: [{ content: { parts: [{ text: 'seen' }] }, finishReason: 'STOP' }] })
const data = `data:image/png;base64,${image.toString('base64')}`

test('sixteen images in a message are sent to Gemini, seventeen are refused and none of them fetched', async () => {
  const { model } = await serve(app, { type: 24, baseUrl: scripted.play(geminiAnswer) })
  const ask = (urls: string[]) => say(app, chat, { token, body: showing(model, urls) })
  expect((await ask(Array.from({ length: 16 }, () => data))).status).toBe(200)
  const fetched = asked.length
  const before = scripted.received.length
  const reply = await ask(Array.from({ length: 17 }, (_, index) => `${filesUrl}/${index}.png`))
  expect(reply.status).toBe(400)
  expect(chat.readError(await reply.json()).message).toContain('16')
  expect(asked.length).toBe(fetched)
  expect(scripted.received.length).toBe(before)
})

test('an image over twenty megabytes is refused, one at a private address is not fetched', async () => {
  const { model } = await serve(app, { type: 24, baseUrl: scripted.play(geminiAnswer) })
  for (const url of [
    `${filesUrl}/21-megabytes.png`,
    'http://10.0.0.1/a.png',
    'http://169.254.169.254/latest',
    'file:///etc/passwd',
  ]) {
    expect((await say(app, chat, { token, body: showing(model, [url]) })).status, url).toBe(400)
  }
})

test('fetched images take of the memory for bodies: without room a call is refused before it is sent, and all is given back', async () => {
  const { model } = await serve(app, { type: 24, baseUrl: scripted.play(geminiAnswer) })
  const { budget, limits } = app.services.bodies
  const ask = () => say(app, chat, { token, body: showing(model, [`${filesUrl}/2-megabytes.png`]) })
  const others = budget.open('others')
  await others.raise(limits.memory - megabyte)
  const before = scripted.received.length
  const refused = await ask()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  expect(scripted.received.length).toBe(before)
  others.release()
  expect((await ask()).status).toBe(200)
  await expect.poll(() => budget.heldBytes).toBe(0)
})

test('where the operator has a fetch worker, it fetches https images; others are refused', async () => {
  const { model } = await serve(app, { type: 24, baseUrl: scripted.play(geminiAnswer) })
  await withOptions(
    app,
    { WorkerUrl: `${filesUrl}/worker`, WorkerValidKey: app.services.secrets.encrypt('the key') },
    async () => {
      const reply = await say(app, chat, { token, body: showing(model, ['https://example.com/a.png']) })
      expect(reply.status).toBe(200)
      expect(asked.at(-1)).toEqual({
        method: 'POST',
        path: '/worker',
        body: JSON.stringify({ url: 'https://example.com/a.png', key: 'the key' }),
      })
      const sent = JSON.parse(String(scripted.received.at(-1)?.bytes))
      expect(sent.contents[0].parts[0].inlineData).toEqual({ mimeType: 'image/png', data: image.toString('base64') })
      const before = asked.length
      for (const url of ['http://example.com/a.png', 'https://10.0.0.1/a.png', 'https://metadata.google.internal/a']) {
        expect((await say(app, chat, { token, body: showing(model, [url]) })).status, url).toBe(400)
      }
      expect(asked.length).toBe(before)
    },
  )
})

test('a form of images to edit goes to DashScope as one conversation, and each image that comes back is charged', async () => {
  const content = [{ image: `${filesUrl}/1.png` }, { image: `${filesUrl}/2.png` }]
  const baseUrl = scripted.play(json({ output: { choices: [{ message: { content } }] } }))
  const { model } = await serve(app, { type: 17, baseUrl, upstreamModel: 'qwen-image-edit-plus' })
  const form = new FormData()
  form.set('model', model)
  form.set('prompt', 'a hat')
  form.set('n', '2')
  form.set('response_format', 'b64_json')
  for (const name of ['a.png', 'b.png']) form.append('image[]', new File([image], name, { type: 'image/png' }))
  const reply = await fetch(`${app.url}/v1/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${token.key}` },
    body: form,
  })
  const answer = await reply.json()
  expect(reply.status, JSON.stringify(answer)).toBe(200)
  expect(answer.data).toEqual([1, 2].map(() => ({ b64_json: image.toString('base64') })))
  expect(scripted.received.at(-1)?.path).toBe('/api/v1/services/aigc/multimodal-generation/generation')
  expect(JSON.parse(String(scripted.received.at(-1)?.bytes))).toMatchObject({
    model: 'qwen-image-edit-plus',
    input: { messages: [{ content: [{ image: data }, { image: data }, { text: 'a hat' }] }] },
    parameters: { n: 2 },
  })
  expect((await consumed(app)).at(-1)).toMatchObject({ quota: 2 * 46_875 })
})

test('vendors who draw one image for a call are asked for no number, and paid for one, or for a series as it comes', async () => {
  const row = { url: `${filesUrl}/1.png` }
  const draw = async (type: number, drawn: number, fields: object) => {
    const baseUrl = scripted.play(json({ created: 1, data: Array.from({ length: drawn }, () => row) }))
    const { model } = await serve(app, { type, baseUrl })
    const reply = await app.relay(token, '/v1/images/generations', { model, prompt: 'a hat', ...fields })
    expect([reply.status, (await reply.json()).data.length]).toEqual([200, drawn])
    expect(JSON.parse(String(scripted.received.at(-1)?.bytes))).not.toHaveProperty('n')
    return [(await consumed(app)).at(-1)?.quota, reply.headers.get('x-translation-loss')]
  }
  const each = 46_875
  for (const type of [45, 26]) {
    expect(await draw(type, 1, { n: 4 })).toEqual([each, 'n'])
    expect(await draw(type, 1, { n: 1 })).toEqual([each, null])
  }
  expect(await draw(45, 3, { sequential_image_generation: 'auto' })).toEqual([3 * each, null])
})

test('a drawn image that cannot be fetched is handed out by its address, charged, and not drawn again', async () => {
  const url = 'http://10.0.0.1/drawn.png'
  const route = { baseUrl: scripted.play(json({ created: 1, data: [{ url }] })) }
  const { model, ids } = await serve(app, route, route)
  await withOptions(app, { RetryTimes: '1' }, async () => {
    const before = scripted.received.length
    const rows = (await consumed(app)).length
    const asked = { model, prompt: 'a hat', response_format: 'b64_json' }
    const reply = await app.relay(token, '/v1/images/generations', asked)
    expect([reply.status, (await reply.json()).data]).toEqual([200, [{ url }]])
    expect(await consumed(app)).toHaveLength(rows + 1)
    expect(scripted.received.length).toBe(before + 1)
    // Google's form has no place for an address.
    const google = await app.relay(token, `/v1beta/models/${model}:predict`, { instances: [{ prompt: 'a hat' }] })
    expect([google.status, google.headers.get('x-should-retry')]).toEqual([500, 'false'])
    expect(scripted.received.length).toBe(before + 2)
  })
  expect(app.services.circuitBreaker.coolingDown().filter(({ channelId }) => ids.includes(channelId))).toEqual([])
})

test.each([
  ['Gemini', 24, 'gemini-2.5-flash-image', 4, 1],
  ['Gemini that draws two unasked', 24, 'gemini-2.5-flash-image', 4, 2],
  ['Imagen', 24, 'imagen-4.0-generate-001', 6, 4],
  ['Cloudflare', 39, '@cf/black-forest-labs/flux-1-schnell', 4, 1],
])(
  'images that %s is not asked for are named as lost and charged only where they come',
  async (_, type, upstreamModel, n, charged) => {
    const bytes = image.toString('base64')
    const parts = Array.from({ length: charged }, () => ({ inlineData: { mimeType: 'image/png', data: bytes } }))
    const predictions = parts.map(() => ({ bytesBase64Encoded: bytes }))
    const answer = upstreamModel.startsWith('imagen') ? { predictions } : { candidates: [{ content: { parts } }] }
    const play = type === 39 ? { headers: { 'content-type': 'image/png' }, steps: [image] } : json(answer)
    const { model } = await serve(app, { type, baseUrl: scripted.play(play), upstreamModel, other: 'acc' })
    const ask = (count: number) => app.relay(token, '/v1/images/generations', { model, prompt: 'a cat', n: count })
    await (await ask(charged)).text()
    const price = (await consumed(app)).at(-1)?.quota
    const reply = await ask(n)
    expect(reply.status).toBe(200)
    expect(((await reply.json()) as { data: unknown[] }).data).toHaveLength(charged)
    expect(reply.headers.get('x-translation-loss')).toBe('n')
    expect((await consumed(app)).map((row) => row.quota).slice(-2)).toEqual([price, price])
  },
)

test('what the gateway fills in for its caller is not named as lost, and what the caller says is', async () => {
  const answer = { candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] } }] }
  const channel = { type: 24, models: 'dall-e-3', modelMapping: '{"dall-e-3":"gemini-2.5-flash-image"}' }
  const { id } = await app.make.channel({ ...channel, baseUrl: scripted.play(json(answer)) })
  await app.services.channels.reload(id)
  const lostOf = async (fields: object) => {
    const reply = await app.relay(token, '/v1/images/generations', { model: 'dall-e-3', prompt: 'a cat', ...fields })
    expect(reply.status).toBe(200)
    await reply.text()
    return reply.headers.get('x-translation-loss')
  }
  expect(await lostOf({})).toBeNull()
  expect(await lostOf({ quality: null })).toBeNull()
  expect(await lostOf({ quality: 'standard' })).toBe('quality')
})

const message = { role: 'assistant', content: 'seen' }
const unreported = { id: 'c', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] }

test('an image given by its address is counted by its size where the upstream reports no usage', async () => {
  const { model } = await serve(app, { baseUrl: scripted.play(json(unreported)) })
  // Its frame: 3 + 1 + 3.
  await (await say(app, chat, { token, body: showing(model, [`${filesUrl}/a.png`]) })).text()
  expect((await consumed(app)).at(-1)).toMatchObject({ prompt_tokens: 7 + 765 })
  await (await say(app, chat, { token, body: showing(model, ['http://10.0.0.1/a.png']) })).text()
  expect((await consumed(app)).at(-1)).toMatchObject({ prompt_tokens: 7 + 255 })
})

test('an image is counted by its size though the process is held up while it fetches it', async () => {
  const { model } = await serve(app, { baseUrl: scripted.play(json(unreported)) })
  await (await say(app, chat, { token, body: showing(model, [`${filesUrl}/held-up.png`]) })).text()
  expect((await consumed(app)).at(-1)).toMatchObject({ prompt_tokens: 7 + 765 })
})
