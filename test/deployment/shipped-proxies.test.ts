import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { once } from 'node:events'
import { afterAll, describe, expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'
import { startScriptedUpstream } from '#test/support/scripted-upstream.ts'
import { converse, open, model as realtimeModel } from '../realtime/world.ts'
import { consolePaths, relayPaths } from '../rest/served-paths.ts'
import { isInstalled, type ProxyKind, startProxy } from './proxy-process.ts'

/** A request from an address of this machine's own, of which there are many. */
async function ask(
  url: string,
  { from = '127.0.0.1', method = 'GET', headers = {}, body }: Partial<Asked> = {},
): Promise<{ status: number; body: string }> {
  const call = request(url, { method, headers: { 'content-type': 'application/json', ...headers }, localAddress: from })
  call.end(body === undefined ? undefined : JSON.stringify(body))
  const [reply] = (await once(call, 'response')) as [IncomingMessage]
  return { status: reply.statusCode ?? 0, body: await text(reply) }
}
type Asked = { from: string; method: string; headers: Record<string, string>; body: unknown }

/** A node that only says which it is. */
async function startNamed(name: string) {
  const server = createServer((_, response) => void response.end(name)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => void server.close())
  return (server.address() as AddressInfo).port
}

const kinds = (['caddy', 'nginx'] as const).filter(isInstalled)

// Where neither is installed, this says so; both are where the whole run is made.
test.runIf(kinds.length === 0)('neither proxy is installed on this machine', () => expect(kinds).toEqual([]))

describe.each(kinds)('behind %s as it is shipped', async (kind: ProxyKind) => {
  // The proxies in front are below 127.0.0.8, everybody else is a caller.
  const app = await startApp({ environment: { TRUST_PROXY: '127.0.0.0/29' } })
  const port = Number(new URL(app.url).port)
  const nodes = { relays: [port, port] as [number, number], console: port }
  const proxy = await startProxy(kind, nodes)
  const balancer = await startProxy('nginx', { relays: [proxy.port, proxy.port], console: proxy.port })
  const upstream = await startScriptedUpstream()
  afterAll(async () => {
    for (const started of [balancer, proxy, upstream, app]) await started[Symbol.asyncDispose]()
  })
  const form = { username: 'thief', password: 'a stolen console', confirmPassword: 'a stolen console' }

  test('nobody sets the product up from elsewhere without the printed token, whatever they claim', async () => {
    for (const front of [proxy.url, balancer.url]) {
      for (const headers of [
        {},
        { host: 'localhost' },
        {
          host: 'localhost:3000',
          'x-forwarded-for': '127.0.0.1',
          'x-real-ip': '127.0.0.1',
          forwarded: 'for=127.0.0.1',
        },
        { host: '127.0.0.1', origin: 'http://127.0.0.1', connection: 'close, x-forwarded-for, via' },
      ]) {
        for (const from of ['127.0.0.1', '127.0.0.99']) {
          const asked = { method: 'POST', from, headers: headers as Record<string, string>, body: form }
          const { status, body } = await ask(`${front}/api/setup`, asked)
          expect([status, JSON.parse(body)], JSON.stringify(headers)).toMatchObject([403, { success: false }])
        }
      }
    }
  })

  test('every documented path reaches its node', async () => {
    const relay = await startNamed('relay')
    const named = await startProxy(kind, { relays: [relay, relay], console: await startNamed('console') })
    await using _ = named
    const reached = async (path: string) => (await ask(named.url + path)).body
    for (const path of relayPaths.flatMap((known) => [known, known.toUpperCase(), `${known}?a=b`]))
      expect([path, await reached(path)]).toEqual([path, 'relay'])
    for (const path of [...consolePaths, '/v1x', '/metrics'])
      expect([path, await reached(path)]).toEqual([path, 'console'])
  })

  test('the caller’s own address counts, behind one proxy and behind two, and no header of the caller’s', async () => {
    const user = await app.make.user()
    const token = await app.make.token(user, { allowIps: '127.0.0.99' })
    await app.settled()
    const statusOf = async (front: string, from: string, headers: Record<string, string> = {}) =>
      (await ask(`${front}/v1/models`, { from, headers: { authorization: `Bearer sk-${token.key}`, ...headers } }))
        .status
    for (const front of [proxy.url, balancer.url]) {
      expect(await statusOf(front, '127.0.0.99')).toBe(200)
      expect(await statusOf(front, '127.0.0.98')).toBe(403)
      for (const name of ['x-forwarded-for', 'x-real-ip', 'cf-connecting-ip', 'forwarded'])
        expect(await statusOf(front, '127.0.0.98', { [name]: '127.0.0.99' }), name).toBe(403)
      expect(await statusOf(front, '127.0.0.99', { 'x-forwarded-for': '127.0.0.98, unknown' })).toBe(200)
    }
  })

  test('each part of a stream leaves when it comes', async () => {
    const user = await app.make.user()
    const token = await app.make.token(user)
    for (const [index, front] of [proxy.url, balancer.url].entries()) {
      const model = index === 0 ? 'gpt-4o' : 'gpt-4o-mini'
      const seen = Promise.withResolvers<void>()
      const chunk = (content: string) =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })}\n\n`
      // The second word waits until the first has been read in front of everything.
      const baseUrl = upstream.play({ steps: [chunk('first'), seen.promise, chunk('second'), 'data: [DONE]\n\n'] })
      await app.make.channel({ baseUrl, models: model })
      await app.settled()
      const reply = await fetch(`${front}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${token.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'hi' }] }),
      })
      let read = ''
      for await (const part of reply.body ?? []) {
        read += Buffer.from(part).toString()
        if (read.includes('first')) seen.resolve()
      }
      expect(read).toContain('second')
    }
  })

  test('a caller who hangs up before the answer begins stops the upstream; the session that the call named is in the log', async () => {
    const user = await app.make.user()
    const token = await app.make.token(user)
    const model = 'gpt-4.1'
    await app.make.channel({ baseUrl: app.upstream.withDirectives('hang'), models: model })
    await app.settled()
    for (const stream of [false, true]) {
      app.upstream.clear()
      const leave = new AbortController()
      const call = fetch(`${proxy.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer sk-${token.key}`,
          'content-type': 'application/json',
          session_id: `streamed-${stream}`,
        },
        body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hi' }] }),
        signal: leave.signal,
      })
      call.catch(() => {})
      await expect.poll(() => app.upstream.open).toBe(1)
      leave.abort()
      await expect.poll(() => app.upstream.aborted).toBe(1)
    }
    const sessions = async () =>
      (await app.logs()).filter((row) => row.model_name === model).map(({ other }) => other['session'])
    await expect.poll(sessions).toEqual(['streamed-false', 'streamed-true'])
  })

  test('a realtime session is a WebSocket to the end', async () => {
    const user = await app.make.user()
    const token = await app.make.token(user)
    await app.make.channel({ models: realtimeModel })
    await app.settled()
    for (const front of [proxy.url, balancer.url]) {
      const session = await open({ url: front, key: token.key })
      await converse(session, 'hello')
      session.socket.close()
      await session.closed
    }
  })
})
