import { GoogleGenAI } from '@google/genai'
import { describe, expect, test } from 'vitest'
import { consumed } from './caller-dialects.ts'
import { startBalancedApp } from './relay-world.ts'

const names = ['gpt-4o-mini', 'vendor/model-x', 'llama3:8b']
const app = await startBalancedApp()
const token = await app.make.token(await app.make.user())
await app.make.channel({ models: names.join(',') })
await app.make.option('SelfUseModeEnabled', 'true')
await app.services.options.reload()
await app.settled()

const hello = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }
const post = (path: string, body: string) =>
  fetch(app.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token.key}`, 'content-type': 'application/json' },
    body,
  })

test.each(['//v1/chat/completions', '/v1//chat/completions', '///v1/chat/completions?a=//b'])(
  'a base address with a slash too many reaches the same place: %s',
  async (path) => {
    const reply = await post(path, JSON.stringify(hello))
    expect(await reply.text()).toContain('You said: Hello')
  },
)

test.each(['/chat/completions', '/messages', '/v1/v1/chat/completions', '/api', '/api/nothing', '/v1/nothing'])(
  'an address that is nowhere is said to be so in JSON: %s',
  async (path) => {
    const reply = await post(path, JSON.stringify(hello))
    expect(reply.status).toBe(404)
    expect(await reply.json()).toMatchObject({
      error: { message: `Invalid URL (POST ${path})`, type: 'invalid_request_error' },
    })
  },
)

test.each(['/v1', '/v1/', '/v1beta', '/hf/v1', '/hf/v1/nothing'])(
  'an address below which programs call is no page of the console, and no other error: %s',
  async (path) => {
    const reply = await fetch(app.url + path)
    expect(reply.status).toBe(404)
    const error = { message: `Invalid URL (GET ${path})`, type: 'invalid_request_error', param: '', code: '' }
    if (path === '/v1beta') expect(await reply.json()).toMatchObject({ error: { type: 'gateway_error' } })
    else expect(await reply.json()).toEqual({ error })
  },
)

test('a refused question for a balance has the id of every request, in its words too', async () => {
  const reply = await fetch(`${app.url}/v1/dashboard/billing/usage`, { headers: { authorization: 'Bearer sk-nobody' } })
  const id = String(reply.headers.get('x-request-id'))
  expect(reply.status).toBe(401)
  expect(id).toMatch(/^\d{23}\w{8}$/)
  expect(await reply.json()).toMatchObject({ error: { message: expect.stringContaining(` (request id: ${id})`) } })
})

test('a removed script of the console is answered like any unknown path', async () => {
  const reply = await fetch(`${app.url}/assets/gone.js`)
  expect(reply.status).toBe(404)
  expect(await reply.json()).toMatchObject({ error: { message: 'Invalid URL (GET /assets/gone.js)' } })
})

test.each(['/%zz', '/v1beta/models/%zz:generateContent', '/api/user/%zz', '/trpc/%zz', '/trpc/site.status,%?batch=1'])(
  'a path with a broken percent sign is its sender’s mistake: %s',
  async (path) => {
    const reply = path.startsWith('/v1') ? await post(path, '{}') : await fetch(app.url + path)
    expect(reply.status).toBe(400)
    expect(await reply.text()).toContain('percent sign')
  },
)

test('an unknown action of Google’s form is refused in that form', async () => {
  const reply = await post('/v1beta/models/gpt-4o-mini:tune', '{}')
  expect(reply.status).toBe(404)
  expect(await reply.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } })
})

describe('through Google’s library', () => {
  test.each(names)('a model with any name can be called, counted and is the one that is charged: %s', async (model) => {
    const client = new GoogleGenAI({ apiKey: token.key, httpOptions: { baseUrl: app.url } })
    const answer = await client.models.generateContent({ model, contents: 'Hello' })
    expect(answer.text).toBe('You said: Hello')
    const counted = await client.models.countTokens({ model, contents: 'Hello' })
    expect(counted.totalTokens).toBeGreaterThan(0)
    expect((await consumed(app)).at(-1)).toMatchObject({ model_name: model })
  })
})

test('a byte order mark in front of a body is passed over, and not sent on', async () => {
  const reply = await post('/v1/chat/completions', `\ufeff${JSON.stringify(hello)}`)
  expect(await reply.text()).toContain('You said: Hello')
})

test('one tRPC request batches a limited number of procedures', async () => {
  const asking = (count: number) =>
    fetch(`${app.url}/trpc/${Array(count).fill('site.notice').join(',')}?batch=1&input=%7B%7D`)
  expect((await asking(50)).status).toBe(200)
  expect((await asking(51)).status).toBe(400)
})

test.each([
  ['"Model":"gpt-4o"', 'Model'],
  ['"MODEL":"gpt-4o"', 'MODEL'],
  ['"\\u004dodel":"gpt-4o"', 'Model'],
  ['"\u017ftream":true,"stream":false', '\u017ftream'],
])('a field that only looks like another is not sent on, whoever upstream reads it: %s', async (field, name) => {
  const reply = await post('/v1/chat/completions', `${JSON.stringify(hello).slice(0, -1)},${field}}`)
  expect(reply.status).toBe(200)
  const sent = app.upstream.requests.at(-1)?.body as Record<string, unknown>
  expect(sent).toMatchObject(hello)
  expect(Object.keys(sent)).not.toContain(name)
})
