import { connect, type Socket } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { sha256 } from '#features/secrets/service.ts'
import { startApp } from '#test/support/app.ts'
import { randomKey } from '#test/support/factories.ts'
import { recordStatements } from '#test/support/statements.ts'

const statements = recordStatements()
const app = await startApp()
await app.make.channel()
const user = await app.make.user()
afterAll(async () => {
  statements.stop()
  await app[Symbol.asyncDispose]()
})

/** The bytes as they are: client libraries refuse to send what attackers do. Status 0: closed without an answer. */
function send(path: string, headers: string[], body = ''): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(app.url)
  const { promise, resolve } = Promise.withResolvers<{ status: number; body: string }>()
  const socket: Socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => void (answer += text))
  // A request that is refused half-way may end in a reset.
  socket.on('error', () => {})
  socket.on('close', () => {
    const [head = '', ...rest] = answer.split('\r\n\r\n')
    resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), body: rest.join('\r\n\r\n') })
  })
  const method = body === '' ? 'GET' : 'POST'
  const host = headers.some((line) => /^host:/i.test(line)) ? [] : [`Host: ${hostname}:${port}`]
  const length = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
  socket.write(
    [`${method} ${path} HTTP/1.1`, ...host, 'Connection: close', ...headers, ...length, '', body].join('\r\n'),
  )
  return promise
}

const chat = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] })
const routes = {
  rest: (headers: string[]) => send('/api/user/self', [`X-User-Id: ${user.id}`, ...headers]),
  trpc: (headers: string[]) => send('/trpc/user.account.get', [`X-User-Id: ${user.id}`, ...headers]),
  relay: (headers: string[]) => send('/v1/chat/completions', headers, chat),
}

/** Other statements are those of work that goes on by itself. */
const asksWhoItIs = (shape: string) => /\bfrom "?(?:users|sessions|tokens)\b/.test(shape)

const hostile = {
  'a quote': `x' or '1'='1`,
  'a double quote and a comment': `x" or 1=1; -- `,
  'a backslash before a quote': `\\' or 1=1 --`,
  'a call of sleep': `'||pg_sleep(60)||'`,
  'a wild card': '%',
  'a dollar and a question mark': '$1 ? ?? $$',
  'letters beyond ASCII': 'schlüssel-ключ',
  JSON: '{"$ne":null}',
  'thousands of letters': 'k'.repeat(8000),
}

describe.each(Object.keys(routes) as (keyof typeof routes)[])('an anonymous caller of %s', (route) => {
  const isRefused = ({ status, body }: { status: number; body: string }) => {
    // The documents want 200 with `success: false` for an unknown token of a script.
    if (route === 'rest' && status === 200) expect(JSON.parse(body)).toMatchObject({ success: false })
    else if (route === 'trpc') expect([400, 401, 403]).toContain(status)
    else expect([400, 401]).toContain(status)
  }

  it.each(Object.entries(hostile))(
    'is refused with %s, by the statements that any wrong key gets',
    async (_what, key) => {
      const ordinary = await statements.during(() => routes[route]([`Authorization: Bearer ${randomKey()}`]))
      isRefused(ordinary.result)
      expect(ordinary.shapes.filter(asksWhoItIs)).not.toEqual([])
      for (const scheme of ['Bearer ', 'bearer ', '', 'Bearer sk-']) {
        const { result, shapes } = await statements.during(() => routes[route]([`Authorization: ${scheme}${key}`]))
        isRefused(result)
        // A key that cannot be one may be refused without asking at all.
        for (const shape of shapes.filter(asksWhoItIs)) expect(ordinary.shapes).toContain(shape)
      }
    },
  )

  it.each([
    ['NUL', ['Authorization: Bearer a\0b'], [400]],
    ['a megabyte', [`Authorization: Bearer ${'k'.repeat(1_000_000)}`], [431, 400, 0]],
    ['a folded line', ['Authorization: Bearer a\r\n b'], [400, 401, 403, 200]],
    ['a bare carriage return', ['Authorization: Bearer a\rX: b'], [400]],
    ['two hosts', ['Host: a.example', 'Host: b.example'], [400, 401, 403, 200]],
    ['a host that is none', ["Host: ' or 1=1 --"], [400, 401, 403, 200]],
  ] as const)('is let in by no %s', async (_what, headers, statuses) => {
    const { status, body } = await routes[route]([...headers])
    expect(statuses).toContain(status)
    expect(body).not.toContain(user.username)
    expect(body).not.toContain('"choices"')
  })

  it('is not somebody by a second header beside a wrong first one', async () => {
    const token = await app.make.token(user)
    const right = route === 'relay' ? `sk-${token.key}` : user.accessToken
    const reply = await routes[route](['Authorization: Bearer wrong', `Authorization: Bearer ${right}`])
    isRefused(reply)
  })
})

describe('who somebody is', () => {
  const named = async (accessToken: string, id: number) =>
    (await app.rest({ id, username: '', sessionId: '', accessToken }, 'GET', '/api/user/self')).json
  const bySession = (sessionId: string, id: number) =>
    app
      .trpc({ id, username: '', accessToken: '', sessionId })
      .user.account.get.query()
      .then(
        ({ id: found }) => found,
        () => null,
      )

  it('is identified by the whole token and the whole session, not by the beginning that another shares', async () => {
    const [first, second] = [await app.make.user(), await app.make.user()]
    const start = randomKey(20)
    const tokens = [start + randomKey(12), start + randomKey(12)]
    const sessions = [start + randomKey(23), start + randomKey(23)]
    for (const [index, person] of [first, second].entries()) {
      await app.pool.query('update users set access_token_hash = $2 where id = $1', [
        person.id,
        sha256(tokens[index] ?? ''),
      ])
      await app.pool.query('update sessions set id_hash = $2 where user_id = $1', [
        person.id,
        sha256(sessions[index] ?? ''),
      ])
    }
    for (let round = 0; round < 3; round += 1) {
      for (const [index, person] of [first, second].entries()) {
        expect((await named(tokens[index] ?? '', person.id)).data.id).toBe(person.id)
        expect(await bySession(sessions[index] ?? '', person.id)).toBe(person.id)
        expect((await named(tokens[1 - index] ?? '', person.id)).success).toBe(false)
        expect(await bySession(sessions[1 - index] ?? '', person.id)).toBeNull()
      }
    }
    for (const part of [start, `${start}\0`, tokens[0]?.slice(0, -1), `${tokens[0]} `.repeat(2)]) {
      expect(await bySession(part ?? '', first.id).catch(() => null)).toBeNull()
    }
  })

  it('is charged by the whole key of a call, though two keys begin alike', async () => {
    const start = randomKey(20)
    const people = [await app.make.user(), await app.make.user()]
    const keys: string[] = []
    for (const person of people) {
      const token = await app.make.token(person)
      const key = start + randomKey(28)
      await app.pool.query('update tokens set key_hash = $2 where id = $1', [token.id, sha256(key)])
      keys.push(key)
    }
    await app.settled()
    for (const index of [0, 1, 1, 0]) {
      const before = (await app.logs()).length
      const reply = await app.relay(keys[index] ?? '', '/v1/chat/completions', JSON.parse(chat))
      expect(reply.status).toBe(200)
      await reply.text()
      await expect.poll(async () => (await app.logs()).length).toBe(before + 1)
      expect((await app.logs()).at(-1)?.user_id).toBe(people[index]?.id)
    }
    expect((await app.relay(start, '/v1/chat/completions', JSON.parse(chat))).status).toBe(401)
  })

  it('does not pass to whoever gets the id of a removed account', async () => {
    const former = await app.make.user()
    const key = await app.make.token(former)
    expect((await app.relay(key, '/v1/chat/completions', JSON.parse(chat))).status).toBe(200)
    const root = await app.make.user({ role: 100 })
    await app.trpc(root).admin.users.remove.mutate({ id: former.id })
    const heir = await app.make.user()
    // As a restored database or a reset sequence would give it out again, with the former row gone.
    await app.pool.query('delete from users where id = $1', [former.id])
    for (const table of ['sessions', 'grants']) {
      await app.pool.query(`update ${table} set user_id = $2 where user_id = $1`, [heir.id, former.id])
    }
    await app.pool.query('update users set id = $2 where id = $1', [heir.id, former.id])
    await app.settled()
    expect((await named(heir.accessToken, former.id)).data).toMatchObject({ id: former.id, username: heir.username })
    expect((await named(former.accessToken, former.id)).success).toBe(false)
    expect(await bySession(former.sessionId, former.id)).toBeNull()
    await expect.poll(async () => (await app.relay(key, '/v1/chat/completions', JSON.parse(chat))).status).toBe(401)
  })
})
