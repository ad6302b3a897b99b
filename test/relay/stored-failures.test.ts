import { createServer } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { listenLocally } from '#test/support/local-server.ts'
import { json } from '#test/support/scripted-upstream.ts'
import { call, type Holder } from '../tasks/world.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve, withOptions } from './serve.ts'

// Failures that an upstream stores, and reports later.
const { app, scripted, token } = await startScriptedRelay({ options: { RetryTimes: '0' } })
const by = { token } as Holder
const key = 'sk-Zx81QmPv93LrTw60BnYc'
const hiding = { 'global.hide_upstream_error_enabled': 'true' }
const words = `secret words ${key} at `
const usage = { input_tokens: 3, output_tokens: 1 }

test('what an upstream refuses by itself where it stores a response is hidden, too', async () => {
  const id = `resp_${Math.random()}`
  const refusal = { message: words, code: 'odd', detail: words }
  const made = { id, object: 'response', status: 'completed', store: true, output: [message], usage }
  const baseUrl = scripted.play((path) => json(path.includes(id) ? refusal : made))
  const { model } = await serve(app, { baseUrl, key })
  expect((await app.relay(token, '/v1/responses', { model, input: 'hi' })).status).toBe(200)
  await withOptions(app, hiding, async () => {
    const { json: answer } = await call(app, by, `GET /v1/responses/${id}`)
    const error = { code: 'bad_response_status_code', message: expect.stringContaining('status 500') as string }
    expect(answer).toEqual({ error })
  })
})

async function failedResponse() {
  const id = `resp_${Math.random()}`
  const made = {
    id,
    object: 'response',
    status: 'completed',
    store: true,
    output: [],
    usage,
  }
  let baseUrl = ''
  const failed = () => ({ ...made, status: 'failed', error: { code: 'server_error', message: words + baseUrl } })
  baseUrl = scripted.play((path) => json(path.includes(id) ? failed() : { ...made, output: [message] }))
  const { model } = await serve(app, { baseUrl, key })
  expect((await app.relay(token, '/v1/responses', { model, input: 'hi' })).status).toBe(200)
  return { id, failed: failed() }
}
const content = [{ type: 'output_text', text: 'yes', annotations: [] }]
const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }

test.each(['', '/input_items'])(
  'a failed response that is stored upstream is read without secrets: %s',
  async (path) => {
    const { id, failed } = await failedResponse()
    const { status, json: answer } = await call(app, by, `GET /v1/responses/${id}${path}`)
    expect([status, answer]).toEqual([
      200,
      { ...failed, error: { code: 'server_error', message: 'secret words *** at ***' } },
    ])
  },
)

test('and without the upstream’s words, where the operator hides them', async () => {
  const { id } = await failedResponse()
  await withOptions(app, hiding, async () => {
    const { headers, json: answer } = await call(app, by, `GET /v1/responses/${id}`)
    const wanted = `upstream returned status 500 (request id: ${headers.get('x-request-id')})`
    expect(answer).toMatchObject({ id, status: 'failed', error: { code: 'bad_response_status_code', message: wanted } })
  })
})

/** The results of the batch, sent in pieces of so many bytes. */
let lines: string[] = []
let piece = 7

const vendor = createServer((request, response) => {
  const path = request.url ?? ''
  if (path.endsWith('/results')) {
    response.writeHead(200, { 'content-type': 'application/x-jsonl' })
    const bytes = Buffer.from(lines.join('\n'))
    for (let at = 0; at < bytes.length; at += piece) response.write(bytes.subarray(at, at + piece))
    response.end()
    return
  }
  const ended = request.method === 'GET'
  const id = ended ? decodeURIComponent(path.split('/').at(-1) ?? '') : `msgbatch_${Math.random()}`
  const counts = {
    processing: 0,
    succeeded: lines.filter((line) => line.includes('succeeded')).length,
    errored: 2,
    canceled: 0,
    expired: 0,
  }
  const status = { processing_status: ended ? 'ended' : 'in_progress', request_counts: counts }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ id, type: 'message_batch', ...status, results_url: ended ? 'x' : null }))
})
const claude = await listenLocally(vendor)
afterAll(() => claude[Symbol.asyncDispose]())

const answer = {
  type: 'message',
  content: [{ type: 'text', text: 'the key is “geheim”' }],
  usage: { input_tokens: 3, output_tokens: 4 },
}
const errored = (id: string, type: string) => ({
  custom_id: id,
  result: {
    type: 'errored',
    error: { type: 'error', error: { type, message: words + claude.url, details: { odd: key } } },
  },
})

async function resultsOf(options: Record<string, string>) {
  const { model } = await serve(app, { type: 14, key, baseUrl: claude.url })
  const params = { model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
  const requests = ['a', 'b', 'c'].map((id) => ({ custom_id: id, params }))
  const made = await call(app, by, 'POST /v1/messages/batches', { requests })
  const path = `/v1/messages/batches/${String(made.json['id'])}/results`
  let read = { status: 0, text: '', type: null as string | null, id: null as string | null }
  await withOptions(app, options, async () => {
    const reply = await fetch(app.url + path, { headers: { authorization: `Bearer sk-${token.key}` } })
    const { headers, status } = reply
    read = { status, text: await reply.text(), type: headers.get('content-type'), id: headers.get('x-request-id') }
  })
  return read
}

test('lines of a batch’s results that failed are read without secrets, wherever the pieces end', async () => {
  // As the vendor wrote it: numbers and blanks that JSON would be written anew without.
  const succeeded = `{"custom_id": "a", "result": {"type": "succeeded", "message": ${JSON.stringify(answer)}, "n": 1.0}}`
  lines = [succeeded, JSON.stringify(errored('b', 'invalid_request_error')), JSON.stringify(errored('c', 'api_error'))]
  for (piece of [7, 100_000]) {
    const { status, text, type } = await resultsOf({})
    expect([status, type]).toEqual([200, 'application/x-jsonl'])
    expect(text).not.toMatch(/sk-Zx|127\.0\.0\.1/)
    const [first, second, third] = text.trimEnd().split('\n')
    expect(first).toBe(succeeded)
    const masked = { message: 'secret words *** at ***', details: { odd: '***' } }
    expect([second, third].map((line) => JSON.parse(line ?? ''))).toMatchObject([
      { custom_id: 'b', result: { error: { type: 'error', error: { type: 'invalid_request_error', ...masked } } } },
      { custom_id: 'c', result: { error: { error: { type: 'api_error', ...masked } } } },
    ])
  }
})

test('and without the upstream’s words, where the operator hides them', async () => {
  const canceled = { custom_id: 'a', result: { type: 'canceled' } }
  const failed = [errored('b', 'rate_limit_error'), errored('c', 'invalid_request_error')]
  lines = [...failed, canceled].map((line) => JSON.stringify(line))
  const { text, id } = await resultsOf(hiding)
  expect(text).not.toMatch(/secret|odd|sk-Zx/)
  const error = (type: string, message: string) => ({ type: 'error', error: { type, message }, request_id: id })
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    {
      custom_id: 'b',
      result: { type: 'errored', error: error('rate_limit_error', `上游繁忙，请稍后重试 (request id: ${id})`) },
    },
    {
      custom_id: 'c',
      result: {
        type: 'errored',
        error: error('invalid_request_error', `upstream returned status 400 (request id: ${id})`),
      },
    },
    canceled,
  ])
})

test('wherever its words stand', async () => {
  const answered = { custom_id: 'a', result: { type: 'succeeded', message: answer } }
  const failed = [
    { result: { type: 'errored', error: words } },
    { result: { type: 'errored', message: words } },
    { error: { message: words } },
    { error: words },
    { ...answered, custom_id: 'b', error: words },
    { custom_id: 'c', result: { type: 'canceled', reason: words }, detail: words },
  ]
  lines = [answered, ...failed.map((line) => ({ custom_id: 'a', ...line }))].map((line) => JSON.stringify(line))
  const { text } = await resultsOf(hiding)
  expect(text).toContain('succeeded')
  expect(text).not.toMatch(/secret|sk-Zx/)
  const error = { error: { message: expect.stringContaining('upstream returned status 500') } }
  const shown = { custom_id: 'a', result: { type: 'errored', error } }
  const read = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as unknown]))
  const canceled = { custom_id: 'c', result: { type: 'canceled' } }
  expect(read).toMatchObject([
    answered,
    shown,
    shown,
    shown,
    shown,
    { result: { ...answered.result, error } },
    canceled,
  ])
})
