import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createTransport, type SendRequest, type Transport } from '#relay/transport/send.ts'
import { startUpstream, type Upstream } from '#test/simulator/index.ts'
import { startHttpProxy, startSilentServer, startSocksProxy, type TestProxy } from './proxies.ts'

let upstream: Upstream
let transport: Transport
let proxy: TestProxy | undefined
beforeEach(async () => {
  upstream = await startUpstream()
  transport = createTransport()
})
afterEach(async () => {
  vi.useRealTimers()
  await transport.close()
  proxy?.close()
  await upstream.close()
})

const request = (address: string, directives = 'delay=0'): SendRequest => ({
  method: 'POST',
  url: `${upstream.withDirectives(directives)}/v1/chat/completions`,
  headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
  proxy: address,
})
const failure = (kind: string) => expect.objectContaining({ kind })

it('sends through an http proxy with the credentials of its address', async () => {
  proxy = await startHttpProxy()
  const reply = await transport.send(request(`http://user:secret@127.0.0.1:${proxy.port}`))
  expect(await reply.text()).toContain('[DONE]')
  const basic = Buffer.from('user:secret').toString('base64')
  expect(proxy.seen).toEqual([`POST ${upstream.url}/~delay=0/v1/chat/completions Basic ${basic}`])
  expect(upstream.requests[0]?.headers).not.toHaveProperty('proxy-authorization')
})

it('tunnels through an http proxy to https addresses', async () => {
  proxy = await startHttpProxy()
  const url = upstream.url.replace('http:', 'https:')
  const address = `http://127.0.0.1:${proxy.port}`
  // The target does not speak TLS; what counts is the way the request took.
  await expect(transport.send({ ...request(address), url })).rejects.toEqual(failure('connect'))
  expect(proxy.seen).toEqual([`CONNECT 127.0.0.1:${upstream.port}`])
})

it('sends through a socks5 proxy', async () => {
  proxy = await startSocksProxy()
  const reply = await transport.send(request(`socks5://127.0.0.1:${proxy.port}`))
  expect(await reply.text()).toContain('[DONE]')
  expect(proxy.seen).toEqual([`127.0.0.1:${upstream.port}`])
})

it('passes an abort on through the proxy', async () => {
  for (const start of [startHttpProxy, startSocksProxy]) {
    const each = await start()
    const gone = new AbortController()
    const scheme = start === startHttpProxy ? 'http' : 'socks5'
    const reply = await transport.send({
      ...request(`${scheme}://127.0.0.1:${each.port}`, 'gap=300'),
      signal: gone.signal,
    })
    gone.abort()
    await expect(reply.text()).rejects.toEqual(failure('aborted'))
    await expect.poll(() => upstream.open).toBe(0)
    each.close()
  }
  expect(upstream.aborted).toBe(2)
})

it('bounds the time a proxy takes to connect', async () => {
  proxy = await startSilentServer()
  const address = `socks5://127.0.0.1:${proxy.port}`
  const start = performance.now()
  await expect(transport.send({ ...request(address), connectTimeoutMs: 150 })).rejects.toEqual(
    failure('timeout-connect'),
  )
  // The system's own limit is minutes.
  expect(performance.now() - start).toBeLessThan(30_000)
})

it('waits for a slow socks5 proxy as long as the channel says', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const greeted = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  proxy = await startSocksProxy(() => {
    greeted.resolve()
    return answer.promise
  })
  const sent = transport.send({ ...request(`socks5://127.0.0.1:${proxy.port}`), connectTimeoutMs: 60_000 })
  sent.catch(() => {})
  await greeted.promise
  await vi.advanceTimersByTimeAsync(30_000)
  vi.useRealTimers()
  answer.resolve()
  expect(await (await sent).text()).toContain('[DONE]')
})

it('refuses proxies at link-local addresses and proxies that are none', async () => {
  for (const address of ['http://169.254.169.254:80', 'ftp://127.0.0.1', 'nonsense'])
    await expect(transport.send(request(address))).rejects.toEqual(failure('bad-url'))
})

it('reports a proxy that refuses', async () => {
  for (const scheme of ['http', 'socks5'])
    await expect(transport.send(request(`${scheme}://127.0.0.1:9`))).rejects.toEqual(failure('connect'))
})
