import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { chat, consumed, openHolds, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { startBalancedApp } from './relay-world.ts'

const app = await startBalancedApp()
const token = await app.make.token(await app.make.user())
await app.make.channel({ baseUrl: app.upstream.withDirectives('lenient') })
await app.settled()

/** Refused in the caller's own form, nothing asked, nothing held, nothing charged, and the process answers on. */
async function expectRefused(by: CallerDialect, ask: Omit<Parameters<typeof say>[2], 'token'>, status: number) {
  const before = { asked: app.upstream.total, charged: (await consumed(app)).length }
  const reply = await say(app, by, { token, ...ask })
  const text = await reply.text()
  expect(reply.status, text).toBe(status)
  const error = by.readError(JSON.parse(text))
  expect(error.kind).toBe(by.kindOf(status))
  expect(text).not.toMatch(/node_modules|\.ts:|at [A-Z]\w+ \(/)
  expect({ asked: app.upstream.total, charged: (await consumed(app)).length }).toEqual(before)
  expect(await openHolds(app)).toBe(0)
  return error
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe.each(callerDialects)('in $dialect', (by: CallerDialect) => {
  test.each([
    ['nothing', ''],
    ['half an object', '{"model":"gpt-4o-mini","messages":['],
    ['a list', '[1,2]'],
    ['a text', '"hello"'],
    ['a number', '12'],
    ['null', 'null'],
    ['a hundred thousand lists in each other', nested(100_000)],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
  ])('%s is no request', async (_name, body) => {
    expect((await expectRefused(by, { body }, 400)).message).toMatch(/^请求无法解析: /)
  })

  test('gzip that is none is refused, real gzip and br are read', async () => {
    const headers = { 'content-encoding': 'gzip' }
    await expectRefused(by, { headers, body: Buffer.from('not gzip at all') }, 400)
    const body = Buffer.from(JSON.stringify(by.body('gpt-4o-mini', 'packed hello', false)))
    const cut = gzipSync(body).subarray(0, 40)
    await expectRefused(by, { headers, body: cut }, 400)
    await expectRefused(by, { headers: { 'content-encoding': 'snappy' }, body }, 400)
    for (const [encoding, packed] of [
      ['gzip', gzipSync(body)],
      ['br', brotliCompressSync(body)],
    ] as const) {
      const reply = await say(app, by, { token, body: packed, headers: { 'content-encoding': encoding } })
      expect(await reply.text()).toContain('You said: packed hello')
    }
  })

  test('a name that objects inherit is a name like any other', async () => {
    const plain = JSON.stringify(by.body('gpt-4o-mini', 'hello', false))
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const body = plain.replace('{', `{"${name}":{"polluted":true,"model":"evil"},`)
      const reply = await say(app, by, { token, body })
      expect(reply.status, await reply.text()).toBe(200)
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    }
    const model = '__proto__'
    expect((await expectRefused(by, { model }, by.unknownModel)).message).toContain(`没有支持模型 ${model} 的渠道`)
    expect((await expectRefused(by, { model: 'constructor' }, by.unknownModel)).message).toContain('constructor')
  })

  test('a refused call does not affect the next one', async () => {
    await expectRefused(by, { body: '{' }, 400)
    const reply = await say(app, by, { token, text: 'still there' })
    expect(await reply.text()).toContain('You said: still there')
  })
})

const user = [{ role: 'user', content: 'hello' }]
const parts = [{ role: 'user', parts: [{ text: 'hello' }] }]
const [, responses, messages, generate] = callerDialects as [CallerDialect, CallerDialect, CallerDialect, CallerDialect]
const model = 'gpt-4o-mini'

describe('fields', () => {
  test.each<[string, CallerDialect, Record<string, unknown>, string, string?]>([
    ['no model', chat, { messages: user }, 'model is required', 'invalid_text_request'],
    ['an empty model', chat, { model: '', messages: user }, 'model is required', 'invalid_text_request'],
    ['no messages', chat, { model }, 'messages is required', 'invalid_text_request'],
    ['no message', chat, { model, messages: [] }, 'messages is required', 'invalid_text_request'],
    ['too high a limit', chat, { model, messages: user, max_tokens: 1_073_741_824 }, 'max_tokens is invalid'],
    ['no input', responses, { model }, 'input is required', 'invalid_responses_request'],
    ['no model', responses, { input: 'hello' }, 'model is required', 'invalid_responses_request'],
    ['no messages', messages, { model, max_tokens: 10 }, 'messages is required'],
    ['no model', messages, { messages: user, max_tokens: 10 }, 'model is required'],
    ['no contents', generate, {}, 'contents is required'],
  ])('%s is reported in the documented words (%#)', async (_name, by, body, message, code) => {
    const error = await expectRefused(by, { body }, 400)
    expect(error.message.startsWith(`${message} (request id: `), error.message).toBe(true)
    if (code) expect(error.code).toBe(code)
  })

  const limits: unknown[] = [-1, 2 ** 63, 1.5, '12', {}, [], true, 1e308]
  const impossible: [CallerDialect, string, unknown[]][] = [
    [chat, 'max_tokens', limits],
    [chat, 'max_completion_tokens', limits],
    [chat, 'n', [-1, 0, 1e9, 1.5, '2', {}]],
    [chat, 'messages', ['hello', {}, [1], [null], [{ role: 'user', content: 12 }], [{ role: 'pope', content: 'x' }]]],
    [chat, 'model', [1, {}, [], true]],
    [chat, 'stream', ['yes', 1, {}]],
    [chat, 'temperature', ['warm', {}, []]],
    [chat, 'tools', ['x', {}, [1], [{ type: 'function' }]]],
    [chat, 'stop', [12, {}, [1]]],
    [responses, 'max_output_tokens', limits],
    [responses, 'input', [12, {}, [1], [null]]],
    [messages, 'max_tokens', limits],
    [
      messages,
      'messages',
      ['hello', {}, [1], [null], [{ role: 'user', content: 12 }], [{ role: 'pope', content: 'x' }]],
    ],
    [messages, 'system', [12, {}]],
    [messages, 'tools', ['x', {}, [1]]],
    [generate, 'generationConfig', [...limits.map((limit) => ({ maxOutputTokens: limit })), 'x', [1]]],
    [generate, 'generationConfig', [-1, 0, 1e9].map((candidateCount) => ({ candidateCount }))],
    [generate, 'contents', ['hello', 12, [1], [null], [{ parts: [1] }], [{ role: 'pope', parts: [{ text: 'x' }] }]]],
    [generate, 'tools', ['x', [1]]],
  ]
  const rows = impossible.map(([by, name, values]) => ({ by, dialect: by.dialect, name, values }))
  test.each(rows)('$dialect refuses impossible values of $name', async ({ by, name, values }) => {
    const validBody = { model, messages: user, input: 'hello', max_tokens: 10, contents: parts }
    const needed = by === generate ? ['contents'] : by === responses ? ['model', 'input'] : ['model', 'messages']
    const known = [...needed, ...(by === messages ? ['max_tokens'] : [])]
    const base = Object.fromEntries(Object.entries(validBody).filter(([field]) => known.includes(field)))
    for (const value of values) await expectRefused(by, { body: { ...base, [name]: value } }, 400)
  })
})

describe('routes', () => {
  test.each([
    ['GET', '/v1/chat/completions'],
    ['PUT', '/v1/messages'],
    ['DELETE', '/v1/responses'],
    ['POST', '/v1/nothing'],
    ['POST', '/v1/models'],
    ['PATCH', '/v1/models/gpt-4o-mini'],
  ])('%s %s is an unknown address', async (method, path) => {
    const reply = await fetch(app.url + path, { method, headers: { authorization: `Bearer sk-${token.key}` } })
    expect(reply.status).toBe(404)
    expect(await reply.json()).toEqual({
      error: { message: `Invalid URL (${method} ${path})`, type: 'invalid_request_error', param: '', code: '' },
    })
  })

  test('a web page of any origin may call, without cookies', async () => {
    const reply = await fetch(`${app.url}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: { origin: 'https://elsewhere.example', 'access-control-request-headers': 'authorization,x-mine' },
    })
    expect(reply.status).toBe(204)
    expect(reply.headers.get('access-control-allow-origin')).toBe('*')
    expect(reply.headers.get('access-control-allow-headers')).toBe('authorization,x-mine')
    expect(reply.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test.each([
    ['quotes', `Bearer "sk-KEY"`],
    ['a blank inside', 'Bearer sk-KEY x'],
    ['a very long key', `Bearer ${'k'.repeat(8000)}`],
    ['SQL', "Bearer sk-' or 1=1 --"],
    ['another scheme', 'Basic c2stYTpi'],
  ])('a key with %s is refused', async (_name, authorization) => {
    const headers = { authorization: authorization.replace('KEY', token.key) }
    const reply = await say(app, chat, { token, headers })
    expect(reply.status).toBe(401)
    expect(chat.readError(await reply.json()).message).toMatch(/^令牌无效/)
  })

  test.each([
    ['without the word Bearer', (key: string) => `sk-${key}`],
    ['without sk-', (key: string) => `Bearer ${key}`],
    ['with an odd case', (key: string) => `bEARER  sk-${key}`],
  ])('a key is read %s', async (_name, write) => {
    const reply = await say(app, chat, { token, headers: { authorization: write(token.key) } })
    expect(reply.status).toBe(200)
  })
})
