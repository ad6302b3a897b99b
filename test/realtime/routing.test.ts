import { describe, expect, test } from 'vitest'
import { channelsOf, serve, withOptions, type Route } from '../relay/serve.ts'
import { startHttpProxy, startSocksProxy } from '../upstream/proxies.ts'
import { startTlsFront, trustTestCertificate } from './tls-front.ts'
import { chargesOf, converse, errorOf, open, payerWith, startRealtime, untilFree } from './world.ts'

const world = await startRealtime()
await world.app.make.option('SelfUseModeEnabled', 'true')
await world.app.services.options.reload()

/** A session over these channels, an answer, and the row of it. */
async function answeredBy(...routes: Route[]) {
  const { app } = world
  const { model, ids } = await serve(app, ...routes)
  const payer = await payerWith(app, 10_000_000)
  const session = await open({ url: app.url, key: payer.key, model })
  await converse(session, 'Hello')
  session.socket.close()
  await untilFree(app, payer.userId)
  const [row] = await chargesOf(app, payer.userId)
  return { row, ids, model, asked: app.upstream.requests.at(-1) }
}

describe('while the upstream is not connected', () => {
  test.each([
    ['refuses', { does: 'status=500' }],
    ['refuses the key', { key: 'bad-key' }],
    ['breaks off', { does: 'reset' }],
    ['answers with a page', { does: 'html' }],
    ['cannot be reached', { baseUrl: 'http://127.0.0.1:1' }],
    ['does not answer', { does: 'hang', setting: '{"connect_timeout":0.3}' }],
    ['has no sockets', { type: 14 }],
  ])('another channel is tried: the first %s', async (_, first) => {
    const { row, ids } = await answeredBy({ ...first, priority: 10 }, {})
    expect(channelsOf(row)).toEqual(ids)
    expect(row?.channel_id).toBe(ids[1])
  })

  test('the last failure is reported as an error event in the caller’s form, and nothing is charged', async () => {
    const { app } = world
    const { model } = await serve(app, { does: 'status=500,message=broken at 127.0.0.1' })
    const payer = await payerWith(app, 10_000_000)
    const session = await open({ url: app.url, key: payer.key, model })
    const event = await session.next('error')
    expect(event['event_id']).toBe(`evt_${session.requestId}`)
    expect(errorOf(event)).toMatchObject({ type: 'server_error', param: null })
    expect(errorOf(event).message).toContain(`(request id: ${session.requestId})`)
    expect((await session.closed).code).toBe(1011)
    await untilFree(app, payer.userId)
    expect(await chargesOf(app, payer.userId)).toEqual([])
  })

  test('an upstream that is too busy is said to be so', async () => {
    const { app, token } = world
    const { model } = await serve(app, { does: 'status=429,retryafter=60' })
    const session = await open({ url: app.url, key: token.key, model })
    expect(errorOf(await session.next('error')).message).toContain('上游繁忙')
    expect((await session.closed).code).toBe(1013)
  })

  test('a dead key is taken out', async () => {
    const { app, token } = world
    await withOptions(app, { AutomaticDisableChannelEnabled: 'true' }, async () => {
      const { model, ids } = await serve(app, { key: 'bad-key' })
      await app.pool.query('insert into channel_keys (channel_id, position, key_hmac) values ($1, 0, $2)', [
        ids[0],
        app.services.secrets.hmac('bad-key'),
      ])
      const session = await open({ url: app.url, key: token.key, model })
      await session.closed
      await expect
        .poll(async () => (await app.pool.query('select status from channels where id = $1', [ids[0]])).rows[0]?.status)
        .toBe(3)
    })
  })
})

test('what the caller says before the upstream is there is not lost', async () => {
  const { app, token } = world
  const { model } = await serve(app, { does: 'delay=150' })
  const session = await open({ url: app.url, key: token.key, model })
  const done = converse(session, 'Early words')
  expect((await done)['response']).toMatchObject({ status: 'completed' })
  expect(app.upstream.requests.at(-1)?.body).toMatchObject([
    { type: 'conversation.item.create' },
    { type: 'response.create' },
  ])
  session.socket.close()
})

test('an Azure channel is asked at its own address with its own header', async () => {
  const { asked, model } = await answeredBy({ type: 3, key: 'azure-key' })
  expect(asked).toMatchObject({
    path: '/openai/v1/realtime',
    query: { model },
    headers: { 'api-key': 'azure-key' },
  })
  expect(asked?.headers).not.toHaveProperty('authorization')
})

test('a custom address is asked beside its chat', async () => {
  const { app } = world
  const { asked, model } = await answeredBy({ type: 8, baseUrl: `${app.upstream.url}/own/chat/completions` })
  expect(asked).toMatchObject({ path: '/own/realtime', query: { model } })
})

test('a mapped model is asked under its name there, and logged under the caller’s', async () => {
  const { app } = world
  const { row, asked, model } = await answeredBy({ modelMapping: '{"another":"x"}' })
  expect(asked?.query['model']).toBe(model)
  expect(row?.other).not.toHaveProperty('is_model_mapped')
  const { model: name } = await serve(app, {})
  await app.pool.query('update channels set model_mapping = $1 where models = $2', [
    JSON.stringify({ [name]: 'gpt-4o-realtime-preview' }),
    name,
  ])
  await app.services.channels.reload()
  const payer = await payerWith(app, 10_000_000)
  const session = await open({ url: app.url, key: payer.key, model: name })
  await converse(session, '[[usage=10:10]] Hello')
  session.socket.close()
  await untilFree(app, payer.userId)
  expect(app.upstream.requests.at(-1)?.query['model']).toBe('gpt-4o-realtime-preview')
  const [mapped] = await chargesOf(app, payer.userId)
  // Priced by the name upstream: (10 + 10 × 4) × 2.5.
  expect(mapped).toMatchObject({
    model_name: name,
    quota: 125,
    other: { is_model_mapped: true, upstream_model_name: 'gpt-4o-realtime-preview' },
  })
})

test('an update names the model under the caller’s name, and the session no other one', async () => {
  const { app } = world
  const { model: name } = await serve(app, { modelMapping: '{"another":"x"}' })
  await app.pool.query('update channels set model_mapping = $1 where models = $2', [
    JSON.stringify({ [name]: 'gpt-4o-realtime-preview' }),
    name,
  ])
  await app.services.channels.reload()
  const session = await open({ url: app.url, key: (await payerWith(app, 10_000_000)).key, model: name })
  session.say({ type: 'session.update', session: { model: name, instructions: 'Be kind' } })
  expect((await session.next('session.updated'))['session']).toMatchObject({
    model: 'gpt-4o-realtime-preview',
    instructions: 'Be kind',
  })
  session.say({ type: 'session.update', session: { model: 'gpt-4o-realtime-dearer' } })
  expect(errorOf(await session.next('error')).message).toContain('the model of a session cannot be changed')
  await converse(session, '[[usage=10:10]] Hello')
  session.socket.close()
  await session.closed
  expect(JSON.stringify(app.upstream.requests.at(-1)?.body)).not.toContain('dearer')
})

test('a limit on models holds for the model that transcribes the input, and the session goes on', async () => {
  const { app } = world
  const { model } = await serve(app, {})
  const user = await app.make.user({ quota: 10_000_000 })
  const updates = [
    { input_audio_transcription: { model: 'whisper-1' } },
    { audio: { input: { transcription: { model: 'whisper-1' } } } },
  ]
  const narrow = await open({ url: app.url, key: (await app.make.token(user, { modelLimits: model })).key, model })
  for (const session of updates) {
    narrow.say({ type: 'session.update', session })
    expect(errorOf(await narrow.next('error')).message).toContain('whisper-1')
  }
  await converse(narrow, '[[usage=10:10]] Hello')
  narrow.socket.close()
  await narrow.closed
  const both = await app.make.token(user, { modelLimits: `${model},whisper-1` })
  const wide = await open({ url: app.url, key: both.key, model })
  for (const session of updates) {
    wide.say({ type: 'session.update', session })
    await wide.next('session.updated')
  }
  wide.socket.close()
  await untilFree(app, user.id)
})

test.each([{ input: { transport: 'binary' } }, { output: { Transport: 'x', transport: 'binary' } }])(
  'audio in binary frames, which nobody would count, is refused with an error event, and the session goes on: %j',
  async (audio) => {
    const { app, token } = world
    const { model } = await serve(app, {})
    const session = await open({ url: app.url, key: token.key, model })
    session.say({ type: 'session.update', event_id: 'binary', session: { type: 'realtime', audio } })
    expect(errorOf(await session.next('error'))).toMatchObject({
      message: expect.stringContaining('audio transport "binary" is not supported'),
      event_id: 'binary',
    })
    await converse(session, 'Hello')
    expect(JSON.stringify(app.upstream.requests.at(-1)?.body)).not.toContain('binary')
    session.socket.close()
  },
)

test('a transcriber’s name is as short as every model’s, and the session goes on', async () => {
  const { app } = world
  const { model } = await serve(app, {})
  const payer = await payerWith(app, 10_000_000)
  const session = await open({ url: app.url, key: payer.key, model })
  session.say({ type: 'session.update', session: { input_audio_transcription: { model: 'w'.repeat(129) } } })
  expect(errorOf(await session.next('error')).message).toContain('128')
  session.say({ type: 'session.update', session: { input_audio_transcription: { model: 'w'.repeat(128) } } })
  await session.next('session.updated')
  session.socket.close()
  await untilFree(app, payer.userId)
})

test('a virtual model leads to its actual one', async () => {
  const { app } = world
  const { model } = await serve(app, {})
  const mapping = { mapping: { 'voice-best': [{ model, priorities: 0 }] } }
  await withOptions(app, { global_model_mapping: JSON.stringify(mapping) }, async () => {
    const payer = await payerWith(app, 10_000_000)
    const session = await open({ url: app.url, key: payer.key, model: 'voice-best' })
    await converse(session, 'Hello')
    session.socket.close()
    await untilFree(app, payer.userId)
    expect(app.upstream.requests.at(-1)?.query['model']).toBe(model)
    expect(await chargesOf(app, payer.userId)).toMatchObject([{ model_name: 'voice-best' }])
  })
})

test('a pinned channel is the only one tried', async () => {
  const { app } = world
  const { model, ids } = await serve(app, { does: 'status=500' }, {})
  const admin = await app.make.user({ role: 10, quota: 10_000_000 })
  const token = await app.make.token(admin)
  await app.settled()
  const pinned = await open({ url: app.url, key: `${token.key}-${ids[0]}`, model })
  await pinned.next('error')
  await pinned.closed
  const other = await open({ url: app.url, key: `${token.key}-${ids[1]}`, model })
  await other.next('session.created')
  other.socket.close()
})

test.each([
  ['http', startHttpProxy, (port: number) => `http://127.0.0.1:${port}`],
  ['socks5', startSocksProxy, (port: number) => `socks5://127.0.0.1:${port}`],
])('a channel’s own %s proxy carries its sessions', async (_, start, address) => {
  const proxy = await start()
  try {
    const setting = JSON.stringify({ proxy: address(proxy.port) })
    const { row } = await answeredBy({ setting })
    expect(row?.quota).toBeGreaterThan(0)
    expect(proxy.seen.join()).toContain(String(world.app.upstream.port))
  } finally {
    proxy.close()
  }
})

test('an upstream behind TLS is reached directly and through proxies', async () => {
  trustTestCertificate()
  const front = await startTlsFront(world.app.upstream.port)
  const [http, socks] = [await startHttpProxy(), await startSocksProxy()]
  try {
    const baseUrl = `https://localhost:${front.port}`
    for (const proxy of ['', `http://127.0.0.1:${http.port}`, `socks5://127.0.0.1:${socks.port}`]) {
      const { row } = await answeredBy({ baseUrl, setting: JSON.stringify({ proxy }) })
      expect(row?.quota).toBeGreaterThan(0)
    }
    expect([http.seen, socks.seen]).toEqual([[`CONNECT localhost:${front.port}`], [`localhost:${front.port}`]])
  } finally {
    http.close()
    socks.close()
    await front.close()
  }
})

test('no channel may aim a socket at where clouds keep credentials', async () => {
  const { app, token } = world
  const { model } = await serve(app, { baseUrl: 'http://169.254.169.254' })
  const session = await open({ url: app.url, key: token.key, model })
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'do_request_failed' })
})
