import { createServer, type Server } from 'node:net'
import { once } from 'node:events'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { channelsOf, serve, withOptions } from '../relay/serve.ts'
import { chat, consumed, eventually, openHolds, say, callerDialects } from '../relay/caller-dialects.ts'
import { startRelay } from '../relay/relay-world.ts'

const { app, token } = await startRelay()
beforeEach(() => app.upstream.clear())

const allReleased = () =>
  eventually(
    () => openHolds(app),
    (holds) => holds === 0,
  ).then((holds) => expect(holds, 'holds left open').toBe(0))

const operations: { path: string; body: (model: string) => Record<string, unknown> }[] = [
  { path: '/v1/embeddings', body: (model) => ({ model, input: 'hello there' }) },
  { path: '/v1/moderations', body: (model) => ({ model, input: 'hello there' }) },
  { path: '/v1/rerank', body: (model) => ({ model, query: 'hello', documents: ['there'] }) },
  { path: '/v1/images/generations', body: (model) => ({ model, prompt: 'hello there' }) },
  { path: '/v1/audio/speech', body: (model) => ({ model, input: 'hello there', voice: 'alloy' }) },
]

describe.each(operations)('$path', ({ path, body }) => {
  test('passes over a channel that says 200 and gives no answer, unbilled', async () => {
    for (const does of ['error200', 'html', 'empty']) {
      const { model, ids } = await serve(app, { priority: 1, does }, {})
      const before = (await consumed(app)).length
      const reply = await app.relay(token, path, body(model))
      expect([does, reply.status, await reply.text()]).toEqual([does, 200, expect.not.stringContaining('<html')])
      const rows = (await consumed(app)).slice(before)
      expect([does, rows.map((row) => [row.channel_id, channelsOf(row)])]).toEqual([does, [[ids[1], ids]]])
    }
  })

  test('goes on to the next channel past failures and lost connections', async () => {
    const { model, ids } = await serve(
      app,
      { priority: 3, does: 'status=500' },
      { priority: 2, baseUrl: 'http://127.0.0.1:9' },
      { priority: 1 },
    )
    expect((await app.relay(token, path, body(model))).status).toBe(200)
    expect(channelsOf((await consumed(app)).at(-1))).toEqual(ids)
  })

  test('costs a caller who leaves while the upstream works, and not one who leaves before it was reached', async () => {
    const leaveWhen = async (model: string, ready: () => Promise<boolean>, afterwards = async () => {}) => {
      const leave = new AbortController()
      app.relay(token, path, body(model), { signal: leave.signal }).catch(() => {})
      await eventually(ready, (is) => is)
      leave.abort()
      await afterwards()
      await allReleased()
    }
    const before = (await consumed(app)).length
    const { model: slow } = await serve(app, { does: 'hang' })
    await leaveWhen(slow, async () => app.upstream.open === 1)
    const rows = (await consumed(app)).slice(before)
    expect(rows.map((row) => row.other['end'])).toEqual(['hung-up'])

    await withOptions(app, { 'global.finish_after_hangup_enabled': 'true' }, async () => {
      const { model: late } = await serve(app, { does: `gate=${slow}` })
      const answerLate = async () => {
        // The gateway sees first that its caller has left.
        await expect.poll(() => app.services.underWay.size).toBe(0)
        app.upstream.openGate(slow)
      }
      await leaveWhen(late, async () => app.upstream.open === 1, answerLate)
      expect((await consumed(app)).slice(before + 1).map((row) => row.other['end'])).toEqual(['hung-up'])
    })

    // Connections are taken by the system and never answered: with TLS on top nothing is ever handed over.
    await using mute = await muteServer()
    const { model: unreached } = await serve(app, { baseUrl: `https://127.0.0.1:${mute.port}` })
    await leaveWhen(unreached, async () => mute.connections() > 0)
    expect(await consumed(app)).toHaveLength(before + 2)
  })
})

test.each(callerDialects)(
  'in $dialect a caller who leaves before the upstream was reached owes nothing',
  async (by) => {
    await using mute = await muteServer()
    const { model } = await serve(app, { baseUrl: `https://127.0.0.1:${mute.port}` })
    const before = await consumed(app)
    for (const stream of [false, true]) {
      const seen = mute.connections()
      const leave = new AbortController()
      say(app, by, { token, model, stream, signal: leave.signal }).catch(() => {})
      await expect.poll(mute.connections).toBeGreaterThan(seen)
      leave.abort()
      await allReleased()
    }
    expect(await consumed(app)).toHaveLength(before.length)
  },
)

test('embeddings too long for one channel go to the next, which nobody is notified of', async () => {
  const { model, ids } = await serve(app, { priority: 1 }, {})
  await app.pool.query('update channels set max_input_tokens = 50 where id = $1', [ids[0]])
  await app.services.channels.reload()
  const embed = (input: string) => app.relay(token, '/v1/embeddings', { model, input })
  expect((await embed('short')).status).toBe(200)
  expect((await consumed(app)).at(-1)?.channel_id).toBe(ids[0])
  expect((await embed('word '.repeat(100))).status).toBe(200)
  expect((await consumed(app)).at(-1)?.channel_id).toBe(ids[1])
  expect(app.upstream.total).toBe(2)
})

test('an answer that cannot be put in the caller’s words is not charged', async () => {
  const { model } = await serve(app, { type: 14 })
  const before = await consumed(app)
  const broken = vi.spyOn(openAiChat, 'encode').mockImplementation(() => {
    throw new Error('no words for it')
  })
  try {
    expect((await say(app, chat, { token, model })).status).toBe(500)
  } finally {
    broken.mockRestore()
  }
  await allReleased()
  expect(await consumed(app)).toHaveLength(before.length)
  expect((await say(app, chat, { token, model })).status).toBe(200)
})

test('asked to stop, an operation that waits for its upstream ends with 503 and costs nothing', async () => {
  const { model } = await serve(app, { does: 'hang' })
  const before = await consumed(app)
  const call = app.relay(token, '/v1/embeddings', { model, input: 'hello' })
  await expect.poll(() => app.upstream.open).toBe(1)
  for (const upstreamAbort of app.services.underWay) upstreamAbort.abort()
  expect((await call).status).toBe(503)
  await allReleased()
  expect(await consumed(app)).toHaveLength(before.length)
})

test('a call without a model goes upstream under its vendor’s usual one, or what the channel calls that', async () => {
  const modelMapping = JSON.stringify({ 'text-moderation-stable': 'omni-moderation-latest' })
  const { id } = await app.make.channel({
    baseUrl: app.upstream.url,
    models: 'dall-e,text-moderation-stable',
    modelMapping,
  })
  await app.services.channels.reload(id)
  const sentFor = async (path: string, asked: Record<string, unknown>) => {
    expect((await app.relay(token, path, asked)).status).toBe(200)
    return Object(app.upstream.requests.at(-1)?.body).model
  }
  expect(await sentFor('/v1/images/generations', { prompt: 'a cat' })).toBe('dall-e-2')
  expect(await sentFor('/v1/images/generations', { prompt: 'a cat', model: 'dall-e' })).toBe('dall-e')
  expect(await sentFor('/v1/moderations', { input: 'hello' })).toBe('omni-moderation-latest')
})

test('a call without a model is priced, logged and charged as what goes upstream for it', async () => {
  const { id } = await app.make.channel({ baseUrl: app.upstream.url, models: 'dall-e', priority: 1 })
  await app.services.channels.reload(id)
  await withOptions(app, { SelfUseModeEnabled: 'false', ModelRatio: '{"dall-e-2":8}', ModelPrice: '{}' }, async () => {
    const draw = (asked: object) => app.relay(token, '/v1/images/generations', { prompt: 'a cat', ...asked })
    expect((await draw({})).status).toBe(200)
    expect((await consumed(app)).at(-1)).toMatchObject({
      model_name: 'dall-e',
      channel_id: id,
      quota: 10_000,
      other: { upstream_model_name: 'dall-e-2', model_ratio: 8 },
    })
    // Whoever names it is sent, and charged for, what was named.
    expect((await draw({ model: 'dall-e' })).status).toBe(500)
  })
})

test('an image is edited without a model in the sizes of the one that stands in', async () => {
  const { id } = await app.make.channel({ baseUrl: app.upstream.url, models: 'gpt-image-1' })
  await app.services.channels.reload(id)
  const edited = async (fields: Record<string, string>) => {
    const form = new FormData()
    form.set('image', new Blob(['an image'], { type: 'image/png' }), 'a.png')
    for (const [name, value] of Object.entries({ prompt: 'a cat', ...fields })) form.set(name, value)
    const headers = { authorization: `Bearer sk-${token.key}` }
    return (await fetch(`${app.url}/v1/images/edits`, { method: 'POST', headers, body: form })).status
  }
  expect(await edited({ size: '1536x1024' })).toBe(200)
  expect(await edited({ size: 'auto' })).toBe(200)
  expect(await edited({ size: '1536x1024', model: 'dall-e-2' })).toBe(400)
})

test('an override of the caller’s own limit does not keep a free operation from running', async () => {
  const { model } = await serve(app, { paramOverride: '{"dimensions":8}' })
  await withOptions(app, { ModelRatio: JSON.stringify({ [model]: 0 }) }, async () => {
    const poor = await app.make.token(await app.make.user({ quota: 0 }))
    expect((await app.relay(poor, '/v1/embeddings', { model, input: 'hello' })).status).toBe(200)
    expect(app.upstream.requests[0]?.body).toMatchObject({ dimensions: 8 })
  })
})

/** Takes connections and says nothing. */
async function muteServer() {
  const server: Server = createServer()
  const sockets = new Set<{ destroy: () => void }>()
  let seen = 0
  server.on('connection', (socket) => {
    seen += 1
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    connections: () => seen,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
