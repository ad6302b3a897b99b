import { request, type OutgoingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { startRelay } from '#test/relay/relay-world.ts'
import { serve } from '#test/relay/serve.ts'

// Whoever takes the product for a proxy writes its host into the address (RFC 9112, 3.2.2): `GET http://host/v1/models`.

const { app, token } = await startRelay()
const user = await app.make.user()
const { model } = await serve(app, {})
await app.settled()
const { host } = new URL(app.url)

type Asking = { method?: string; headers?: OutgoingHttpHeaders; body?: unknown }

async function ask(target: string, { method = 'GET', headers = {}, body }: Asking = {}) {
  const { hostname, port } = new URL(app.url)
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const sent = request({ hostname, port, path: target, method, headers: { host, ...headers } }, async (reply) =>
    resolve({ status: reply.statusCode ?? 0, body: await text(reply) }),
  )
  sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}

const asProgram = { authorization: `Bearer sk-${token.key}`, 'content-type': 'application/json' }
const asBrowser = {
  cookie: `session=${user.sessionId}`,
  'x-user-id': String(user.id),
  'content-type': 'application/json',
}
const chat = { model, messages: [{ role: 'user', content: 'Hello' }] }

describe('an address with the host in it', () => {
  test.each<[path: string, status: number, contains: string, asking?: Asking]>([
    ['/v1/models', 200, model, { headers: asProgram }],
    ['/v1/chat/completions', 200, 'You said', { method: 'POST', headers: asProgram, body: chat }],
    ['/hf/v1/chat/completions', 200, 'You said', { method: 'POST', headers: asProgram, body: chat }],
    ['/v1/chat/completions?beta=true', 200, 'You said', { method: 'POST', headers: asProgram, body: chat }],
    ['/v1//models/', 200, model, { headers: asProgram }],
    ['/v1/models', 401, 'gateway_error'],
    ['/v1/realtime?model=m', 401, 'error', { headers: { connection: 'upgrade', upgrade: 'websocket' } }],
    ['/api/status', 200, 'system_name'],
    ['/api/user/self', 200, user.username, { headers: asBrowser }],
    ['/api/user/self', 401, '"success":false'],
    ['/trpc/site.status', 200, 'result'],
    ['/healthz', 200, 'ok'],
    ['/metrics', 200, 'gateway_'],
    ['/api/none', 404, '(GET /api/none)'],
    ['/%zz', 400, 'percent sign'],
    ['', 200, '<!doctype html>'],
    ['?a=b', 200, '<!doctype html>'],
  ])('is served as its path alone is: %s is %i', async (path, status, contains, asking) => {
    const alone = await ask(path.startsWith('/') ? path : `/${path}`, asking)
    expect([alone.status, alone.body]).toEqual([status, expect.stringContaining(contains)])
    for (const scheme of ['http', 'HTTPS']) {
      const { status: written, body } = await ask(`${scheme}://${host}${path}`, asking)
      expect([written, body]).toEqual([status, expect.stringContaining(contains)])
    }
  })

  test('is no other path by what stands in front of it', async () => {
    for (const front of [`ftp://${host}`, 'http://', `http://me@${host}`, 'http://x:y@[::1]:80'])
      for (const path of ['/v1/models', '/api/user/self']) {
        const { status } = await ask(`${front}${path}`)
        expect([front, path, status]).toEqual([front, path, 401])
      }
  })

  test('makes nobody this machine: neither the header nor the address makes good for the other', async () => {
    const elsewhere = 'gateway.example'
    const reads = async (target: string, named: string) => (await ask(target, { headers: { host: named } })).status
    expect(await reads('/metrics', elsewhere)).toBe(403)
    expect(await reads(`http://${host}/metrics`, elsewhere)).toBe(403)
    expect(await reads(`http://localhost/metrics`, elsewhere)).toBe(403)
    expect(await reads(`http://${elsewhere}/metrics`, host)).toBe(403)
  })

  test('is what a change by another page is recognized by, whatever its header says', async () => {
    const evil = 'http://evil.example'
    const change = async (target: string, headers: OutgoingHttpHeaders) =>
      (await ask(target, { method: 'POST', headers: { ...asBrowser, ...headers }, body: { json: {} } })).status
    const path = '/trpc/user.account.checkIn'
    const refused = await change(path, { origin: evil })
    expect(refused).toBe(403)
    expect(await change(`http://${host}${path}`, { origin: evil, host: 'evil.example' })).toBe(refused)
  })
})
