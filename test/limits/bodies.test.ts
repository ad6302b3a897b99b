import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type App, startApp } from '#test/support/app.ts'
import type { TestToken, TestUser } from '#test/support/factories.ts'
import { type RawRequest, sendHead } from '#test/support/raw-request.ts'
import { chat, closeWithoutViolations, say, callerDialects } from '../relay/caller-dialects.ts'

const megabyte = 1024 * 1024

let app: App
let user: TestUser
let token: TestToken

const heldBytes = () => app.services.bodies.budget.heldBytes

/** A body whose memory is held from an address of its own, of which so much was sent. */
async function startUpload(address: string, { length, sent }: { length: number; sent: number }): Promise<RawRequest> {
  const before = heldBytes()
  const request = await sendHead(app.url, {
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer sk-${token.key}`, 'content-length': length, 'x-forwarded-for': address },
  })
  request.send(Buffer.alloc(sent, ' '))
  await expect.poll(heldBytes).toBeGreaterThanOrEqual(before + sent)
  return request
}

const start = async (environment: Record<string, string>): Promise<void> => {
  app = await startApp({ environment: { TRUST_PROXY: 'loopback', ...environment } })
  user = await app.make.user()
  token = await app.make.token(user)
  await app.make.channel()
  await app.settled()
}

describe('the memory for bodies', () => {
  beforeAll(() =>
    start({
      BODY_MEMORY_MB: '24',
      BODY_MEMORY_PER_ADDRESS_MB: '16',
      BODY_MAX_MB: '8',
      BODY_WAIT_SECONDS: '10',
      // Bodies that are held are not given up while a busy machine refuses the others.
      BODY_IDLE_SECONDS: '600',
    }),
  )
  afterAll(() => closeWithoutViolations(app))

  // Read to its end: the answer is as long, and until it is taken the body is held.
  const large = async (by = chat) => {
    const body = by.body('gpt-4o-mini', 'x'.repeat(4 * megabyte), false)
    const reply = await say(app, by, { token, body })
    return { status: reply.status, headers: reply.headers, text: await reply.text() }
  }

  test('large bodies that are held keep large ones out, in every dialect and soon over, and small ones never', async () => {
    const held = await Promise.all(
      ['1', '2', '3', '4'].map((end) => startUpload(`10.1.0.${end}`, { length: 7 * megabyte, sent: 3 * megabyte })),
    )
    expect(heldBytes()).toBeLessThanOrEqual(24 * megabyte)
    const refused = callerDialects.map(async (by) => {
      const reply = await large(by)
      const error = by.readError(JSON.parse(reply.text))
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5'])
      expect(reply.headers.get('x-should-retry')).toBeNull()
      expect(error.kind).toBe(by.kindOf(503))
      expect(error.message).toMatch(/^服务器正在处理的请求内容过多/)
      expect((await say(app, by, { token })).status).toBe(200)
    })
    await Promise.all(refused)
    for (const { socket } of held) socket.destroy()
    await expect.poll(heldBytes).toBe(0)
    expect(heldBytes()).toBe(0)
    expect((await large()).status).toBe(200)
  })

  test('what waits for memory goes on when there is some', async () => {
    const held = await Promise.all(
      ['1', '2', '3', '4'].map((end) => startUpload(`10.1.0.${end}`, { length: 7 * megabyte, sent: 3 * megabyte })),
    )
    const waiting = large()
    await pause(300)
    for (const { socket } of held) socket.destroy()
    const reply = await waiting
    expect(reply.status, reply.text.slice(0, 300)).toBe(200)
  })

  test('one address takes its share and is refused what is more, others are not', async () => {
    const uploads = await Promise.all(
      Array.from({ length: 8 }, () => startUpload('10.2.0.1', { length: 7 * megabyte, sent: 3 * megabyte })),
    )
    const status = await Promise.race(uploads.map(({ status }) => status))
    expect(status).toBe(429)
    const refused = uploads.filter(({ received }) => received().startsWith('HTTP/1.1 429'))
    for (const { received } of refused) expect(received()).toMatch(/\r\nretry-after: 5\r\n/i)
    const reply = await say(app, chat, { token, headers: { 'x-forwarded-for': '10.2.0.2' } })
    expect(reply.status).toBe(200)
    for (const { socket } of uploads) socket.destroy()
    await expect.poll(heldBytes).toBe(0)
    expect(app.services.bodies.budget.addresses).toBe(0)
  })

  test('a body is held until its answer is over, by its bytes and by what is made of them', async () => {
    const text = `[[gap=50,words=20]] ${'x'.repeat(300_000)}`
    const reply = await say(app, chat, { token, body: chat.body('gpt-4o-mini', text, true) })
    expect(heldBytes()).toBeGreaterThan(600_000)
    await reply.text()
    await expect.poll(heldBytes).toBe(0)
  })

  test('a length that is too much is refused before anything of it is read', async () => {
    const request = await sendHead(app.url, {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer sk-${token.key}`, 'content-length': 9 * megabyte },
    })
    expect(await request.status).toBe(413)
    request.socket.destroy()
  })

  test('what unpacks to nothing is not read for ever', async () => {
    const request = await sendHead(app.url, {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer sk-${token.key}`, 'transfer-encoding': 'chunked', 'content-encoding': 'gzip' },
    })
    const head = gzipSync('').subarray(0, 10)
    // A stored block of no bytes, again and again.
    const nothing = Buffer.concat(Array<Buffer>(200_000).fill(Buffer.from([0, 0, 0, 0xff, 0xff])))
    const chunk = (bytes: Buffer) =>
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
    request.send(chunk(head))
    for (let sent = 0; sent < 9 * megabyte; sent += nothing.length) request.send(chunk(nothing))
    expect(await request.status).toBe(413)
    request.socket.destroy()
    await expect.poll(heldBytes).toBe(0)
  })

  test('a compression nobody knows is refused at every route', async () => {
    const headers = { 'content-encoding': 'foo', 'content-type': 'application/json' }
    const post = (path: string) => fetch(app.url + path, { method: 'POST', headers, body: '{}' })
    const rest = await post('/api/user/login')
    expect([rest.status, await rest.json()]).toEqual([415, { success: false, message: '不支持请求内容的压缩格式' }])
    const typed = await post('/trpc/auth.login')
    expect(typed.status).toBe(415)
    expect(await typed.json()).toMatchObject({ error: { json: { data: { domainCode: 'input.encoding_unknown' } } } })
    expect((await say(app, chat, { token, headers })).status).toBe(400)
  })

  test('packed bodies are read at every route', async () => {
    const packed = (value: unknown) => ({
      method: 'POST',
      headers: { 'content-encoding': 'gzip', 'content-type': 'application/json', origin: app.url },
      body: gzipSync(JSON.stringify(value)),
    })
    const wrong = { username: 'nobody', password: 'wrong-password' }
    const rest = await fetch(`${app.url}/api/user/login`, packed(wrong))
    expect(await rest.json()).toMatchObject({ success: false, message: expect.stringContaining('密码') })
    const typed = await fetch(`${app.url}/trpc/auth.login`, packed({ json: { ...wrong, account: 'nobody' } }))
    expect(typed.status).not.toBe(500)
    expect(await typed.text()).not.toContain('input.unreadable')
  })

  describe('at the routes of the console', () => {
    const login = { username: 'x'.repeat(100_000), password: 'y' }
    const announcement = (letters: number) => ({ key: 'Notice', value: 'x'.repeat(letters) })
    let root: TestUser
    beforeAll(async () => {
      root = await app.make.user({ role: 100 })
    })

    test('an anonymous caller may send 64 kB', async () => {
      const rest = await app.rest(null, 'POST', '/api/user/login', login)
      expect([rest.status, rest.json]).toEqual([413, { success: false, message: '请求内容过大' }])
      const typed = await fetch(`${app.url}/trpc/auth.login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: app.url },
        body: JSON.stringify({ json: login }),
      })
      expect(typed.status).toBe(413)
      expect(await typed.json()).toMatchObject({ error: { json: { data: { domainCode: 'input.too_large' } } } })
      expect((await app.rest(null, 'POST', '/api/user/login', { ...login, username: 'x'.repeat(60_000) })).status).toBe(
        200,
      )
    })

    test('an anonymous caller who does not state the length may send no more, and is refused before the rest', async () => {
      const request = await sendHead(app.url, { path: '/api/user/login', headers: { 'transfer-encoding': 'chunked' } })
      for (let sent = 0; sent < 5; sent += 1) request.send(`4000\r\n${' '.repeat(0x4000)}\r\n`)
      expect(await request.status).toBe(413)
      request.socket.destroy()
    })

    test('who is signed in may send 10 MB and no more, by REST and by tRPC', async () => {
      expect((await app.rest(root, 'PUT', '/api/option/', announcement(2 * megabyte))).status).toBe(200)
      expect((await app.rest(root, 'PUT', '/api/option/', announcement(11 * megabyte))).status).toBe(413)
      const typed = (letters: number) =>
        fetch(`${app.url}/trpc/admin.options.update`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            origin: app.url,
            cookie: `session=${root.sessionId}`,
            'x-user-id': String(root.id),
          },
          body: JSON.stringify({ json: { filler: 'x'.repeat(letters) } }),
        })
      expect((await typed(2 * megabyte)).status).toBe(400)
      expect((await typed(11 * megabyte)).status).toBe(413)
    })

    test('who was signed in is refused with that reason', async () => {
      const reply = await fetch(`${app.url}/api/option/`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', cookie: 'session=over', 'new-api-user': '1' },
        body: JSON.stringify(announcement(100_000)),
      })
      expect(reply.status).toBe(401)
    })
  })
})

describe('the pace of bodies', () => {
  beforeAll(() => start({ BODY_IDLE_SECONDS: '1' }))
  afterAll(() => closeWithoutViolations(app))

  const heads: [string, () => { path: string; headers: Record<string, string | number> }][] = [
    ['a call', () => ({ path: '/v1/chat/completions', headers: { authorization: `Bearer sk-${token.key}` } })],
    ['a form', () => ({ path: '/v1/images/edits', headers: { authorization: `Bearer sk-${token.key}`, 'content-type': 'multipart/form-data; boundary=x' } })],
    ['a job', () => ({ path: '/mj/submit/imagine', headers: { authorization: `Bearer sk-${token.key}` } })],
    ['a log-in', () => ({ path: '/api/user/login', headers: {} })],
    ['a log-in of the console', () => ({ path: '/trpc/auth.login', headers: {} })],
  ] // prettier-ignore

  test('a call, a form, a job and log-ins that bring next to nothing are given up', async () => {
    const statuses = heads.map(async ([what, head]) => {
      const { path, headers } = head()
      const request = await sendHead(app.url, { path, headers: { ...headers, 'content-length': 50_000 } })
      const dripping = setInterval(() => request.send(' '), 100)
      try {
        return [what, await request.status]
      } finally {
        clearInterval(dripping)
        request.socket.destroy()
      }
    })
    expect(await Promise.all(statuses)).toEqual(heads.map(([what]) => [what, 408]))
    await expect.poll(heldBytes).toBe(0)
  })

  test('a packed call that brings nothing at all is given up', async () => {
    const request = await sendHead(app.url, {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer sk-${token.key}`, 'content-length': 50_000, 'content-encoding': 'gzip' },
    })
    request.send(gzipSync('').subarray(0, 10))
    expect(await request.status).toBe(408)
    request.socket.destroy()
    await expect.poll(heldBytes).toBe(0)
  })

  test('a slow body that gets on is read to its end, however long that takes', async () => {
    const body = Buffer.from(JSON.stringify(chat.body('gpt-4o-mini', `slow ${'x'.repeat(40_000)}`, false)))
    const request = await sendHead(app.url, {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer sk-${token.key}`, 'content-length': body.length },
    })
    // Six times as long as a body may be silent.
    for (let at = 0; at < body.length; at += 700) {
      request.send(body.subarray(at, at + 700))
      await pause(100)
    }
    expect(await request.status, request.received()).toBe(200)
    request.socket.destroy()
  })

  test('who was answered and goes on sending is cut off', async () => {
    const request = await sendHead(app.url, { path: '/api/nothing-there', headers: { 'content-length': 1_000_000 } })
    const anonymous = await sendHead(app.url, {
      path: '/v1/chat/completions',
      headers: { 'content-length': 1_000_000 },
    })
    const dripping = setInterval(() => anonymous.send(' '), 100)
    try {
      expect(await anonymous.status).toBe(401)
      await Promise.all([anonymous.closed, request.closed])
    } finally {
      clearInterval(dripping)
    }
  })
})
