import { expect, test } from 'vitest'
import { roles } from '#core/roles.ts'
import { json } from '#test/support/scripted-upstream.ts'
import { serviceAccount } from '#test/simulator/vertex/account.ts'
import { chat, callerDialects, type CallerDialect, say } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

// Where the operator wants nobody to learn who is behind the channels.
const options = { 'global.hide_upstream_error_enabled': 'true', RetryTimes: '0' }
const { app, scripted, token } = await startScriptedRelay({ options })

const messages = callerDialects.find(({ dialect }) => dialect === 'messages') as CallerDialect
const headers = { authorization: `Bearer sk-${token.key}` }
const mapped = { statusCodeMapping: '{"401":"418","403":"418","500":"418"}' }
const words = 'message=secret words,type=strange,code=odd'

/** Refused in the gateway's words, with the status that the channel makes of the upstream's. */
async function expectHidden(reply: Response, upstreamStatus: number, at: string): Promise<void> {
  const { error } = (await reply.json()) as { error: { message: string } }
  const id = reply.headers.get('x-request-id')
  const message = `upstream returned status ${upstreamStatus} (request id: ${id})`
  expect([at, reply.status, error.message]).toEqual([at, 418, message])
}

const input = { input: 'hello', prompt: 'hello', query: 'hello', documents: ['hello'] }

test.each(['/v1/embeddings', '/v1/moderations', '/v1/rerank', '/v1/images/generations'])(
  'what an upstream says of a failure in a good answer is hidden and mapped as of a bad one: %s',
  async (path) => {
    const { model } = await serve(app, { does: `error200,${words}`, ...mapped })
    await expectHidden(await app.relay(token, path, { model, ...input }), 500, path)
  },
)

test.each([
  [14, '/v1/messages', (model: string) => ({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] })],
  [24, '/v1beta/models/:generateContent', () => ({ contents: [{ parts: [{ text: 'hi' }] }] })],
])('so is what a busy one says, also in the forms whose callers would read it: type %i', async (type, path, body) => {
  const { model } = await serve(app, { type, does: `status=429,${words}` })
  const reply = await app.relay(token, path.replace('/:', `/${model}:`), body(model))
  expect(reply.status).toBe(429)
  expect(await reply.text()).not.toMatch(/secret|strange|odd/)
})

test('so is what it says when it refuses the login of a key', async () => {
  const key = JSON.stringify({ ...JSON.parse(serviceAccount(app.upstream.url)), client_email: 'nobody' })
  const { model } = await serve(app, { type: 41, other: 'us-central1', key, ...mapped })
  for (const [path, body] of [
    [chat.path(model, false), chat.body(model, 'hello', false)],
    ['/v1/embeddings', { model, ...input }],
    [`/v1beta/models/${model}:countTokens`, { contents: [{ parts: [{ text: 'hi' }] }] }],
  ] as const)
    await expectHidden(await app.relay(token, path, body), 401, path)
})

test('so is what it says when it does not tell of a response that it keeps', async () => {
  const id = 'resp_hidden'
  const output = [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'yes' }] }]
  const usage = { input_tokens: 3, output_tokens: 1, total_tokens: 4 }
  const made = json({ id, object: 'response', status: 'completed', store: true, output, usage })
  const refused = { ...json({ error: { message: 'secret words', type: 'strange', code: 'odd' } }), status: 403 }
  const baseUrl = scripted.play((path) => (path.endsWith(id) ? refused : made))
  const { model } = await serve(app, { baseUrl, ...mapped })
  expect((await app.relay(token, '/v1/responses', { model, input: 'hi' })).status).toBe(200)
  for (const method of ['GET', 'DELETE'])
    await expectHidden(await fetch(`${app.url}/v1/responses/${id}`, { method, headers }), 403, method)
})

test('so is what it says when it does not tell of a batch that it works off', async () => {
  const { model, ids } = await serve(app, { type: 14, ...mapped })
  const params = { model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
  const made = await app.relay(token, '/v1/messages/batches', { requests: [{ custom_id: 'one', params }] })
  const { id } = (await made.json()) as { id: string }
  const refusing = app.upstream.withDirectives(`status=403,${words}`)
  await app.pool.query('update channels set base_url = $2 where id = $1', [ids[0], refusing])
  await app.services.channels.reload(ids[0])
  const at = `${app.url}/v1/messages/batches/${id}`
  await expectHidden(await fetch(at, { headers }), 403, 'read')
  await expectHidden(await fetch(`${at}/cancel`, { method: 'POST', headers }), 403, 'cancel')
})

const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x' }
const delta = `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta: { content: 'one ' }, finish_reason: null }] })}\n\n`
const limited = { message: 'secret words', type: 'rate_limit_error', code: 429, param: 'odd', details: { strange: 1 } }

test.each(callerDialects)('so is what one says that is busy in the middle of a stream, in $dialect', async (by) => {
  const steps = [delta, 20, `data: ${JSON.stringify({ error: limited })}\n\n`]
  // Where the upstream has no form of its own for responses.
  const type = by.dialect === 'responses' ? 43 : 1
  const { model } = await serve(app, { type, baseUrl: scripted.play({ steps }) })
  const text = await (await say(app, by, { token, model, stream: true })).text()
  expect(text).toContain('one')
  expect(text).toContain('上游繁忙，请稍后重试')
  expect(text).not.toMatch(/secret|strange|odd/)
})

test('so are type, code, parameter and details of one that is busy before it has begun', async () => {
  const busy = { status: 429, headers: { 'content-type': 'application/json', 'retry-after': '7' } }
  const openAi = scripted.play({ ...busy, steps: [JSON.stringify({ error: { ...limited, code: 'odd' } })] })
  const anthropic = scripted.play({ ...busy, steps: [JSON.stringify({ type: 'error', error: limited })] })
  const { model } = await serve(app, { baseUrl: openAi })
  const { model: native } = await serve(app, { type: 14, baseUrl: anthropic })
  for (const [by, name] of [...callerDialects.map((each) => [each, model] as const), [messages, native] as const]) {
    const reply = await say(app, by, { token, model: name })
    expect([by.dialect, reply.status, reply.headers.get('retry-after')]).toEqual([by.dialect, 429, '7'])
    const json = await reply.json()
    // The form of the dialect exactly: a field of the upstream's would be one too many.
    expect(by.readError(json).message).toContain('上游繁忙，请稍后重试')
    expect(JSON.stringify(json)).not.toMatch(/secret|strange|odd/)
  }
  const reply = await app.relay(token, '/v1/embeddings', { model, ...input })
  expect(await reply.json()).toMatchObject({
    error: { type: 'upstream_error', code: 'rate_limit_exceeded', param: null },
  })
})

test('so it is in the log of whoever called, where administrators read what the upstream said', async () => {
  const user = await app.make.user({ quota: 1_000_000_000 })
  const own = await app.make.token(user)
  const admin = await app.make.user({ role: roles.admin })
  const { model } = await serve(app, { does: `status=429,${words}` })
  const streamed = scripted.play({ steps: [delta, 20, `data: ${JSON.stringify({ error: limited })}\n\n`] })
  const { model: cut } = await serve(app, { baseUrl: streamed })
  await say(app, chat, { token: own, model })
  await (await say(app, chat, { token: own, model: cut, stream: true })).text()
  await expect.poll(async () => (await app.logs()).filter((row) => row.user_id === user.id)).toHaveLength(2)
  const input = { page: 1, pageSize: 10 }
  const { items } = await app.trpc(user).user.logs.list.query(input)
  expect(items.map(({ type }) => type)).toEqual([2, 6])
  expect(JSON.stringify(items)).not.toMatch(/secret|strange|odd/)
  expect(items[1]).toMatchObject({ content: 'status code 429: 上游繁忙，请稍后重试' })
  const { items: all } = await app.trpc(admin).admin.logs.list.query({ ...input, username: user.username })
  expect(all.map(({ other }) => JSON.stringify(other?.['admin_info']))).toEqual([
    expect.stringContaining('secret words'),
    expect.stringMatching(/secret words.*strange/),
  ])
})
