import { expect, test } from 'vitest'
import { json } from '#test/support/scripted-upstream.ts'
import { serviceAccount } from '#test/simulator/vertex/account.ts'
import { chat } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

// Where the operator wants nobody to learn who is behind the channels.
const options = { 'global.hide_upstream_error_enabled': 'true', RetryTimes: '0' }
const { app, scripted, token } = await startScriptedRelay({ options })

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
