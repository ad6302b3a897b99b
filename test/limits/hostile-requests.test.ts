import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TestUser } from '#test/support/factories.ts'
import { long } from '#test/support/long.ts'
import { sendHead } from '#test/support/raw-request.ts'
import { appRouter } from '#server/app-router.ts'
import { callerDialects, openHolds, say } from '#test/relay/caller-dialects.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'
import documentedPaths from '../rest/documented-paths.json' with { type: 'json' }

/** The short form is the same each time; the long one looks somewhere else each time. */
const runs = (short: number, many: number) => (long ? { numRuns: many } : { numRuns: short, seed: 20_261_122 })

const app = await startBalancedApp()

/** Field names that the routes of the console read. */
const names = [
  'id', 'username', 'password', 'email', 'display_name', 'verification_code', 'aff_code', 'token', 'key', 'value', 'name',
  'role', 'status', 'quota', 'group', 'groups', 'models', 'ids', 'title', 'content', 'format', 'user_ids', 'user_id', 'action',
  'type', 'p', 'page_size', 'count', 'expired_time', 'remain_quota', 'unlimited_quota', 'model_limits', 'allow_ips', 'base_url',
  'other', 'setting', 'priority', 'weight', 'model_mapping', 'status_code_mapping', 'tag', 'new_tag', 'config', 'notify_type',
  'quota_warning_threshold', 'webhook_url', 'turnstile', 'account', 'confirmPassword', 'selfUseModeEnabled', '__proto__',
  'constructor', 'toString', 'toJSON', 'length', 'then',
] // prettier-ignore

const hostileValues: unknown[] = [
  null, true, 0, -1, 1.5, 1e308, -1e308, 2 ** 53, 4_294_967_296, '', ' ', '0', '-1', 'NaN', '1e999', '\u0000', '\ud800', '\u202e',
  'x'.repeat(30_000), `${'a'.repeat(64)}@b.co`, '2026-13-45', '%', '../../etc/passwd', "' or 1=1 --", '${7*7}', '(a+)+$', [],
  [[]], [null], {}, { toString: 1 }, { toString: null, valueOf: null }, { toJSON: 1 }, { length: 4e9 }, JSON.parse('{"then":1}'), [{ toString: 1 }],
  { constructor: { prototype: {} } }, JSON.parse('{"__proto__":{"a":1}}'), JSON.parse(`${'['.repeat(250)}${']'.repeat(250)}`),
] // prettier-ignore

const value = fc.constantFrom(...hostileValues)
const objectOf = (known: readonly string[]) =>
  fc
    .array(fc.tuple(fc.constantFrom(...known), value), { maxLength: 12 })
    .map((pairs) => `{${pairs.map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`).join(',')}}`)
/** Every field the same. */
const allOf = (known: readonly string[]) =>
  value.map((one) => `{${known.map((name) => `${JSON.stringify(name)}:${JSON.stringify(one)}`).join(',')}}`)

const oddTexts = fc.constantFrom(
  '', ' ', '{', '[', 'null', '1', '"x"', '{"a":', '[]', '[1]', '{}', 'a=b&c=d', '\ufeff{}', '{"a":1}}', '['.repeat(60_000),
  `${'['.repeat(30_000)}${']'.repeat(30_000)}`, `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, '[' + '{},'.repeat(15_000) + '1]',
) // prettier-ignore

const textFor = (known: readonly string[]) => fc.oneof(objectOf(known), allOf(known), oddTexts)

const headerPairs: [string, string][] = [
  ['content-type', 'application/json; charset=foo'], ['content-type', 'application/json; charset=utf-16'], ['content-type', ''],
  ['content-type', 'multipart/form-data; boundary=x'], ['content-type', 'multipart/form-data'], ['content-type', '\u00ff'],
  ['content-type', 'application/octet-stream'], ['content-encoding', 'foo'], ['content-encoding', 'gzip'],
  ['content-encoding', 'br, gzip'], ['content-encoding', '__proto__'], ['content-encoding', ''], ['accept-language', '*;q=x'],
  ['accept-language', 'zh,'.repeat(500)], ['cookie', 'session'], ['cookie', 'session=%; session=%00; =; ;'],
  ['cookie', `session=${'x'.repeat(4000)}`], ['cookie', 'session=\u00ff'], ['authorization', 'Bearer'], ['authorization', '\u00e9'],
  ['authorization', `Bearer ${'k'.repeat(4000)}`], ['new-api-user', '1e9'], ['new-api-user', '99999999999999999999'],
  ['new-api-user', '-0'], ['x-forwarded-for', '::,1.2.3.4,%'], ['x-forwarded-proto', 'https'], ['origin', 'null'],
  ['origin', 'http://[::'], ['sec-fetch-site', 'x'], ['trpc-accept', 'application/jsonl'], ['accept', '*/*;q=x'],
  ['accept-encoding', 'gzip;q=x, *;q=0'], ['if-none-match', '*'], ['range', 'bytes=0-0,1-x'], ['x-request-id', '%0d%0a'],
  ['trpc-batch-mode', 'stream'], ['last-event-id', '1'], ['user-agent', '\u00ff'.repeat(100)], ['host', 'a b'], ['host', '['],
  ['host', ''], ['expect', '100-continue'], ['upgrade', 'websocket'], ['te', 'trailers'], ['x-http-method-override', 'DELETE'],
] // prettier-ignore
const headers = fc.array(fc.constantFrom(...headerPairs), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs))

const query = fc.oneof(
  fc.constant(''),
  fc
    .array(
      fc.tuple(
        fc.constantFrom('p', 'page_size', 'id', 'email', 'token', 'key', 'code', 'type', 'start_timestamp', 'keyword', 'a[b]', '__proto__', 'batch', 'input'),
        fc.constantFrom('', '%', '%00', '%ff', '-1', '1e309', 'NaN', '%F0%9F', '{', '%5B%5D', 'null', '1', 'x'.repeat(2000), '9'.repeat(400), '%7B%22json%22%3A1%7D'),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((pairs) => `?${pairs.map(([name, one]) => `${name}=${one}`).join('&')}`),
) // prettier-ignore

type Sent = { method: string; path: string; headers: Record<string, string>; text: string }

/** A request as it is, whatever a well-meaning client would say of it. */
async function statusOf({ method, path, headers: given, text }: Sent): Promise<{ status: number; body: string }> {
  const bytes = Buffer.from(text)
  const request = await sendHead(app.url, {
    method,
    path,
    headers: { ...given, connection: 'close', 'content-length': bytes.length },
  })
  request.send(bytes)
  const status = await request.status
  request.socket.destroy()
  return { status, body: request.received() }
}

/** Understood or refused, never broken; and none of our insides in the answer. */
async function expectAudio(sent: Sent): Promise<void> {
  const { status, body } = await statusOf(sent)
  const seen = `${sent.method} ${sent.path.slice(0, 200)} ${JSON.stringify(sent.headers).slice(0, 300)} ${sent.text.slice(0, 300)}\n${body.slice(0, 600)}`
  expect([500, 0], seen).not.toContain(status)
  expect(body, seen).not.toMatch(/node_modules|\.ts:\d|at [A-Z]\w+ \(/)
}

const fill = (path: string, given: string) => path.replace(/:\w+/g, encodeURIComponent(given))

const credentials = (user: TestUser | null): Record<string, string> =>
  user ? { authorization: user.accessToken, 'new-api-user': String(user.id) } : {}

const restPaths = documentedPaths.served

describe('the documented paths', () => {
  test.each(restPaths)('%s never breaks, whatever an anonymous caller sends', async (row) => {
    const [method = 'GET', path = '/'] = row.split(' ')
    const given = fc.record({
      path: fc.tuple(fc.constantFrom('1', '0', '-1', 'x', '%', '1e99', '\u0000', '9'.repeat(30)), query).map(([id, rest]) => fill(path, id) + rest),
      headers,
      text: textFor(names),
    }) // prettier-ignore
    await fc.assert(
      fc.asyncProperty(given, (sent) => expectAudio({ method, ...sent })),
      runs(3, 60),
    )
  })
})

const procedures = Object.entries(
  appRouter._def.procedures as unknown as Record<string, { _def: { type: string; inputs: { shape?: object }[] } }>,
).map(([path, { _def }]) => ({
  path,
  type: _def.type,
  fields: _def.inputs.flatMap((one) => Object.keys(one.shape ?? {})),
}))

const meta = fc.constantFrom(
  'null', '1', '[]', '{}', '{"values":["undefined"]}', '{"values":["bigint"]}', '{"values":[["typed-array","Uint8Array"]]}',
  '{"values":{"__proto__.x":["undefined"]}}', '{"values":{"id":["Date"]}}', '{"values":["map"]}', '{"values":["regexp"]}',
  '{"referentialEqualities":{"a":["__proto__"]}}', '{"values":{"username":[["class","x"]]},"v":1}', '{"values":12,"v":"x"}',
) // prettier-ignore

describe('the typed procedures', () => {
  test.each(procedures)('$path never breaks, whatever an anonymous caller sends', async ({ path, type, fields }) => {
    const payload = fc
      .tuple(textFor([...fields, ...names.slice(-6)]), fc.option(meta), fc.constantFrom('json', 'jsno', '0'))
      .map(([json, annotations, word]) => `{"${word}":${json}${annotations === null ? '' : `,"meta":${annotations}`}}`)
    const given = fc.record({ headers, text: fc.oneof(payload, payload, oddTexts), batch: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(given, ({ headers: odd, text, batch }) => {
        const body = batch ? `{"0":${text}}` : text
        const asked = `/trpc/${path}${batch ? '?batch=1' : ''}`
        if (type !== 'query') return expectAudio({ method: 'POST', path: asked, headers: odd, text: body })
        const input = `${batch ? '&' : '?'}input=${encodeURIComponent(body).slice(0, 9000)}`
        return expectAudio({ method: 'GET', path: asked + input, headers: odd, text: '' })
      }),
      runs(3, 60),
    )
  })
})

/** Those who are signed in are no reason to break either; what ends accounts or runs for long is left out. */
const harmless = (row: string) => !/DELETE|\/(test|update_balance|logout|upgrade|notify)|channel\/fetch/.test(row)

describe('for those who are signed in', () => {
  test.each(restPaths.filter(harmless))('%s never breaks', async (row) => {
    const [method = 'GET', path = '/'] = row.split(' ')
    const given = fc.record({
      path: fc.tuple(fc.constantFrom('1', 'x', '-1'), query).map(([id, rest]) => fill(path, id) + rest),
      text: textFor(names),
    })
    await fc.assert(
      // Each time somebody new: some of it changes who asks, who would be nobody from then on.
      fc.asyncProperty(given, async (sent) => {
        const root = await app.make.user({ role: 100 })
        await expectAudio({ method, headers: credentials(root), ...sent })
      }),
      runs(3, 60),
    )
  })
})

describe('odd requests', () => {
  const paths = ['/', '/api/status', '/api/user/login', '/trpc/auth.login', '/trpc', '/trpc/a,b?batch=1', '/v1/models', '/v1/chat/completions', '/healthz', '/pg/chat/completions', '/mj/submit/imagine', '/suno/fetch', '/v1beta/models/x:generateContent', '/api', '/%', '/api/%ff', '//', '/v1/%', '/trpc/%'] // prettier-ignore
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'QUERY']
  test.each(paths)('%s never breaks, by any method and with any head', async (path) => {
    for (const method of methods) {
      const given = fc.record({ headers, text: oddTexts })
      await fc.assert(
        fc.asyncProperty(given, (sent) => expectAudio({ method, path, ...sent })),
        runs(2, 20),
      )
    }
  })

  test.each<[string, string, Record<string, string>, number]>([
    ['a name that is an object with a toString of its own', '{"username":{"toString":1},"password":"x"}', {}, 200],
    ['a million lists in each other', `{"username":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, {}, 200],
    ['a compression nobody knows', '{}', { 'content-encoding': 'foo' }, 415],
    ['a charset nobody knows', '{"username":"x","password":"y"}', { 'content-type': 'text/x; charset=foo' }, 200],
    ['half an object', '{"username":', {}, 200],
    ['a text', '"x"', {}, 200],
  ])('%s is refused in the form of the documented paths', async (_what, text, odd, wanted) => {
    for (const path of ['/api/user/login', '/api/user/register', '/api/user/reset']) {
      const { status, body } = await statusOf({ method: 'POST', path, headers: odd, text })
      expect(status, body).toBe(wanted)
      expect(body).toContain('"success":false')
    }
  })

  test('a form of another site, which has the cookie alone and reports no origin, changes nothing', async () => {
    const user = await app.make.user()
    const fields = { name: 'made by a form', remainQuota: 1, unlimitedQuota: false }
    const changes: [string, string][] = [
      ['/api/token/', JSON.stringify({ name: fields.name, expired_time: -1, remain_quota: 1 })],
      ['/trpc/user.tokens.create', JSON.stringify({ json: fields })],
      ['/trpc/user.account.createAccessToken', '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'],
    ]
    const send = (type: string, more: Record<string, string> = {}) =>
      Promise.all(
        changes.map(async ([path, body]) => {
          const headers = { cookie: `session=${user.sessionId}`, 'content-type': type, ...more }
          return (await fetch(app.url + path, { method: 'POST', headers, body })).status
        }),
      )
    const made = async () => (await app.pool.query('select 1 from tokens where user_id = $1', [user.id])).rowCount
    for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
      expect([type, await send(type)]).toEqual([type, [401, 415, 415]])
    for (const type of ['multipart/form-data; boundary=x', 'Multipart/mixed;boundary=x'])
      expect([type, (await send(type)).every((status) => status >= 400)]).toEqual([type, true])
    changes.pop()
    expect(await send('application/json', { 'x-user-id': String(user.id), origin: 'null' })).toEqual([200, 403])
    expect(await made()).toBe(0)
    expect(await send('application/json', { 'x-user-id': String(user.id) })).toEqual([200, 200])
    expect(await made()).toBe(2)
  })

  test('what one request in a hundred and thirty bytes can ask for takes no memory and no time', async () => {
    const login = { method: 'POST', path: '/trpc/auth.login', headers: {} }
    const before = process.memoryUsage().rss
    for (const text of [
      '{"json":{"username":{"length":4000000000},"password":"x"},"meta":{"values":{"username":[["typed-array","Uint8Array"]]}}}',
      '{"json":{"username":{"length":80000000},"password":"x"},"meta":{"values":{"username":[["typed-array","Float64Array"]]}}}',
      `{"json":"${'9'.repeat(60_000)}","meta":{"values":["bigint"]}}`,
    ]) {
      const { status, body } = await statusOf({ ...login, text })
      expect(status, body).toBe(400)
      expect(body).toContain('input.unreadable')
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024)
  })
  test.each(callerDialects)('a call over the limit is refused, sent plain or packed small, in $dialect', async (by) => {
    const token = await app.make.token(await app.make.user())
    const expectRefused = async (ask: Pick<Parameters<typeof say>[2], 'body' | 'headers'>) => {
      const reply = await say(app, by, { token, ...ask })
      expect(reply.status).toBe(413)
      expect(by.readError(await reply.json()).kind).toBe(by.kindOf(413))
    }
    const megabyte = 1024 * 1024
    const packed = gzipSync(Buffer.alloc(megabyte, ' '))
    await expectRefused({ body: Buffer.alloc(65 * megabyte, ' ') })
    const before = process.memoryUsage().rss
    const bomb = Buffer.concat(Array.from({ length: 2048 }, () => packed))
    await expectRefused({ body: bomb, headers: { 'content-encoding': 'gzip' } })
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * megabyte)
    expect(app.upstream.total).toBe(0)
    expect(await openHolds(app)).toBe(0)
  })
})
