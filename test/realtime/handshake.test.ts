import { describe, expect, test } from 'vitest'
import { withOptions } from '../relay/serve.ts'
import { startReverseProxy } from './reverse-proxy.ts'
import { ask, converse, errorOf, handshake, model, open, startRealtime, untilFree } from './world.ts'

const world = await startRealtime()

type Refusal = { status: number; headers: Record<string, unknown>; text: string }
const refusalOf = ({ status, headers, text }: Refusal) => {
  const { error } = JSON.parse(text) as { error: { message: string; type: string; code: unknown } }
  return { status, code: error.code, type: error.type, message: error.message, id: String(headers['x-request-id']) }
}
const bearer = (key: string) => ({ authorization: `Bearer sk-${key}` })

describe('a handshake that is refused gets an ordinary answer', () => {
  test.each([
    ['no key', {}, 401, '缺少访问令牌'],
    ['a wrong key', bearer('x'.repeat(48)), 401, '令牌无效'],
    [
      'a wrong key among the sub-protocols',
      { 'sec-websocket-protocol': `realtime, openai-insecure-api-key.sk-${'x'.repeat(48)}` },
      401,
      '令牌无效',
    ],
  ])('for %s', async (_, headers, status, message) => {
    const refusal = refusalOf(await handshake(world.app.url, { headers }))
    expect(refusal).toMatchObject({ status, type: 'gateway_error' })
    expect(refusal.message).toBe(`${message} (request id: ${refusal.id})`)
  })

  test('for a model nobody serves, none at all, and one the token may not use', async () => {
    const { app, token, user } = world
    const headers = bearer(token.key)
    expect(refusalOf(await handshake(app.url, { headers, path: '/v1/realtime?model=nowhere' }))).toMatchObject({
      status: 503,
      code: 'model_not_found',
    })
    expect(refusalOf(await handshake(app.url, { headers, path: '/v1/realtime' })).status).toBe(400)
    const narrow = await app.make.token(user, { modelLimits: 'gpt-4o' })
    expect(refusalOf(await handshake(app.url, { headers: bearer(narrow.key) }))).toMatchObject({ status: 403 })
  })

  test('for a model without a price', async () => {
    const { app, token } = world
    await app.make.channel({ models: 'priceless-realtime' })
    await app.settled()
    const path = '/v1/realtime?model=priceless-realtime'
    expect(refusalOf(await handshake(app.url, { headers: bearer(token.key), path }))).toMatchObject({
      status: 500,
      code: 'model_price_error',
    })
  })

  test('for an address that is not on the token’s list, whatever an untrusted peer writes into a header', async () => {
    const { app, user } = world
    const token = await app.make.token(user, { allowIps: '203.0.113.7' })
    const claims = { ...bearer(token.key), 'x-forwarded-for': '203.0.113.7' }
    expect(refusalOf(await handshake(app.url, { headers: claims })).message).toContain('白名单')
    // Behind a proxy that is trusted, its word for the caller counts.
    await withOptions(app, { ReverseProxyEnabled: 'true', ReverseProxyProvider: 'nginx' }, async () => {
      expect((await handshake(app.url, { headers: claims })).status).toBe(101)
      const other = { ...claims, 'x-forwarded-for': '203.0.113.8' }
      expect(refusalOf(await handshake(app.url, { headers: other })).status).toBe(403)
      const pretended = { ...claims, 'x-forwarded-for': '203.0.113.7, 198.51.100.1' }
      expect(refusalOf(await handshake(app.url, { headers: pretended })).status).toBe(403)
    })
    await untilFree(app, user.id)
  })

  test('for a caller beyond its limit, with the time to wait', async () => {
    const { app, user } = world
    const token = await app.make.token(user, { rateLimit: { period: 3600, count: 1, success: 0 } })
    const first = await handshake(app.url, { headers: bearer(token.key) })
    expect(first.status).toBe(101)
    const second = await handshake(app.url, { headers: bearer(token.key) })
    expect(refusalOf(second)).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    expect(Number(second.headers['retry-after'])).toBeGreaterThan(0)
    await untilFree(app, user.id)
  })

  test('that is no handshake at all', async () => {
    const { app, token } = world
    const headers = { ...bearer(token.key), 'sec-websocket-key': 'short' }
    expect(refusalOf(await handshake(app.url, { headers }))).toMatchObject({ status: 500, code: 'get_channel_failed' })
    const reply = await fetch(`${app.url}/v1/realtime?model=${model}`, { headers: bearer(token.key) })
    expect(reply.status).toBe(426)
    expect(reply.headers.get('upgrade')).toBe('websocket')
    expect(await reply.json()).toMatchObject({ error: { code: 'upgrade_required' } })
  })
})

test('behind a reverse proxy a token’s list of addresses means the caller’s, for a whole session', async () => {
  const { app, user } = world
  const port = Number(new URL(app.url).port)
  const proxy = await startReverseProxy(port, '203.0.113.7')
  try {
    const right = await app.make.token(user, { allowIps: '203.0.113.0/24' })
    const wrong = await app.make.token(user, { allowIps: '127.0.0.1' })
    await app.settled()
    const through = (key: string) => handshake(proxy.url, { headers: bearer(key) })
    // Nobody trusts the proxy yet: it is the caller itself.
    expect((await through(right.key)).status).toBe(403)
    await withOptions(app, { ReverseProxyEnabled: 'true', ReverseProxyProvider: 'nginx' }, async () => {
      expect((await through(wrong.key)).status).toBe(403)
      const session = await open({ url: proxy.url, key: right.key })
      await converse(session, '[[usage=40:60]] Hello')
      // The list is asked again for the next response.
      await app.pool.query("update tokens set allow_ips = '127.0.0.1' where id = $1", [right.id])
      await app.settled()
      ask(session, '[[usage=40:60]] Hello')
      expect(errorOf(await session.next('error')).message).toContain('白名单')
      await session.closed
    })
  } finally {
    proxy.close()
  }
})

test('a socket where there is none is an unknown path, and an offer of another protocol is passed over', async () => {
  const { app, token } = world
  const headers = bearer(token.key)
  const googles = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent'
  for (const path of ['/v1/nothing', '/v1/live/sessions', googles, `/${googles}?key=k`, '/', '/v2', '/console/logs'])
    expect(refusalOf(await handshake(app.url, { headers, path }))).toMatchObject({
      status: 404,
      type: 'invalid_request_error',
    })
  expect((await handshake(app.url, { headers: { upgrade: 'h2c' }, path: '/' })).status).not.toBe(404)
  expect((await handshake(app.url, { headers: { upgrade: 'h2c' }, path: '/healthz' })).status).toBe(200)
  expect((await handshake(app.url, { headers, path: '/healthz' })).status).toBe(200)
})

describe('a session begins', () => {
  test('with the key in a header, and the reply names the request', async () => {
    const session = await world.openSession()
    await session.next('session.created')
    expect(session.requestId).toMatch(/^\d{23}\w{8}$/)
    expect(session.socket.protocol).toBe('')
    session.socket.close()
  })

  test('with the key among the sub-protocols, of which `realtime` is chosen; the upstream is asked likewise', async () => {
    const { app, token } = world
    const session = await world.openSession({ protocols: ['realtime', `openai-insecure-api-key.sk-${token.key}`] })
    await session.next('session.created')
    expect(session.socket.protocol).toBe('realtime')
    const { headers, query } = app.upstream.requests.at(-1) ?? {}
    expect(headers?.['sec-websocket-protocol']).toBe('realtime,openai-insecure-api-key.sk-upstream')
    expect(headers).not.toHaveProperty('authorization')
    expect(query).toEqual({ model })
    session.socket.close()
  })

  test('in the older form of the events only for callers who ask for it', async () => {
    const { app, token } = world
    const newer = await world.openSession()
    await newer.next('session.created')
    expect(app.upstream.requests.at(-1)?.headers).not.toHaveProperty('openai-beta')
    const older = await world.openSession({ headers: { 'openai-beta': 'realtime=v1' } })
    expect((await older.next('session.created'))['session']).toHaveProperty('modalities')
    expect(app.upstream.requests.at(-1)?.headers).toMatchObject({
      'openai-beta': 'realtime=v1',
      authorization: 'Bearer sk-upstream',
    })
    const inBrowser = await world.openSession({
      protocols: ['realtime', `openai-insecure-api-key.${token.key}`, 'openai-beta.realtime-v1'],
    })
    expect((await inBrowser.next('session.created'))['session']).toHaveProperty('modalities')
    for (const session of [newer, older, inBrowser]) session.socket.close()
  })

  test.each(['/hf/v1/realtime', '//v1//realtime', '/v1/realtime/'])('below %s too', async (path) => {
    const { app, token } = world
    expect((await handshake(app.url, { headers: bearer(token.key), path: `${path}?model=${model}` })).status).toBe(101)
  })

  test('while extensions of browsers are kept out, for that concerns chats alone', async () => {
    const { app, token } = world
    await withOptions(app, { 'global.block_browser_extension_enabled': 'true' }, async () => {
      const headers = { ...bearer(token.key), origin: 'chrome-extension://abc' }
      expect((await handshake(app.url, { headers })).status).toBe(101)
    })
  })
})
