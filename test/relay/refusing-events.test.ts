import { describe, expect, test } from 'vitest'
import type { Step } from '#test/support/scripted-upstream.ts'
import { type CallerDialect, callerDialects, chat, consumed, say } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { channelsOf, serve, withOptions } from './serve.ts'

const { app, scripted, token } = await startScriptedRelay({ options: { RetryTimes: '1' } })

const [, responses] = callerDialects as [CallerDialect, CallerDialect]
const key = 'sk-0123456789abcdefghij'
const message = `no more for ${key} today`
const frame = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  frame({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })
const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
const good = [chunk({ role: 'assistant', content: 'hello' }), chunk({}, 'stop', { usage }), 'data: [DONE]\n\n']

/** `status`: what they say of it themselves, if anything. */
const shapes: { shape: string; event: string; status: number }[] = [
  { shape: 'a code and a message', event: frame({ code: 500, message }), status: 500 },
  { shape: 'a code in words', event: frame({ code: 'invalid_api_key', msg: message, request_id: 'r' }), status: 401 },
  { shape: 'a detail', event: frame({ detail: message }), status: 500 },
  { shape: 'a list of details', event: frame({ detail: [{ loc: ['body'], msg: message, type: 'x' }] }), status: 500 },
  { shape: 'a list of errors', event: frame({ errors: [{ code: 7003, message }] }), status: 500 },
  {
    shape: 'no success',
    event: frame({ success: false, errors: [{ message }], messages: [], result: null }),
    status: 500,
  },
  { shape: 'an object that is an error', event: frame({ object: 'error', message, code: 40303 }), status: 500 },
  { shape: 'an error whose name is escaped', event: `data: {"err\\u006fr":{"message":"${message}"}}\n\n`, status: 500 },
]
const plain = [
  { shape: 'plain text', event: frame(message), status: 500 },
  { shape: 'text that is no event at all', event: `${message}\n`, status: 502 },
]

const callers: { name: string; by: CallerDialect; setting: object; type?: number }[] = [
  { name: 'chat completions, passed through', by: chat, setting: {} },
  { name: 'chat completions, written anew', by: chat, setting: { force_format: true } },
  ...callerDialects.slice(1).map((by) => ({ name: by.dialect, by, setting: {} })),
].map((caller) => (caller.name === 'responses' ? { ...caller, type: 43 } : caller))

test.each(['invalid_prompt', 'cyber_policy', 'image_file_not_found'])(
  'what a failed response says against its own prompt is a 400, and no other channel is asked: %s',
  async (code) => {
    const response = { id: 'r', object: 'response', status: 'failed', error: { code, message: 'no', type: null } }
    const failed = `event: response.failed\n${frame({ type: 'response.failed', response })}`
    const { model } = await serve(app, { priority: 1, baseUrl: scripted.play({ steps: [failed] }) }, {})
    const { total } = app.upstream
    const reply = await say(app, responses, { token, model, stream: true })
    expect(reply.status).toBe(400)
    expect(responses.readError(await reply.json()).code).toBe(code)
    expect(app.upstream.total).toBe(total)
  },
)

describe.each(callers)('$name', ({ by, setting, type = 1 }) => {
  const route = (steps: Step[], priority = 0) => ({
    type,
    key,
    priority,
    setting: JSON.stringify(setting),
    baseUrl: scripted.play({ steps }),
  })

  test.each([...shapes, ...plain])(
    'has the answer of another channel where the first sends $shape',
    async ({ event }) => {
      const { model, ids } = await serve(app, route([event], 1), route(good))
      const text = await (await say(app, by, { token, model, stream: true })).text()
      expect(text).toContain('hello')
      expect(text).toMatch(by.closing)
      expect(text).not.toContain(key)
      const rows = (await consumed(app)).filter((row) => row.model_name === model)
      // (10 + 2) × 37.5
      expect(rows.map((row) => [row.quota, channelsOf(row)])).toEqual([[450, ids]])
    },
  )

  test.each([...shapes, ...plain])(
    'is refused without a charge where there is no other: $shape',
    async ({ event, status }) => {
      await withOptions(app, { RetryTimes: '0' }, async () => {
        const { model } = await serve(app, route([event]))
        const reply = await say(app, by, { token, model, stream: true })
        expect(reply.status).toBe(status)
        const error = by.readError(await reply.json())
        expect(error.message).not.toContain(key)
        if (shapes.some((shape) => shape.event === event)) expect(error.message).toMatch(/^no more for .* today/)
        expect((await consumed(app)).filter((row) => row.model_name === model)).toEqual([])
      })
    },
  )

  test.each(shapes)('has an error event of its own in the middle of an answer: $shape', async ({ event }) => {
    for (const hidden of ['false', 'true']) {
      await withOptions(app, { 'global.hide_upstream_error_enabled': hidden }, async () => {
        const { model } = await serve(app, route([chunk({ role: 'assistant', content: 'hello' }), event]))
        const text = await (await say(app, by, { token, model, stream: true })).text()
        expect(text).toContain('hello')
        expect(text).not.toContain(key)
        expect(text.includes('no more for')).toBe(hidden === 'false')
        expect(text.trimEnd().split('\n\n').at(-1)).toContain('request id')
        expect(text).not.toMatch(by.closing)
        const rows = (await consumed(app)).filter((row) => row.model_name === model)
        expect(rows).toMatchObject([{ completion_tokens: 1, other: { end: 'failed' } }])
      })
    }
  })
})

test('what is no chunk and no error goes on to who reads the upstream’s own words', async () => {
  const asides = [
    {},
    { type: 'ping' },
    { message: 'busy, wait' },
    { code: 0, message: 'ok' },
    { id: 'x', detail: 'low' },
  ]
  const { model } = await serve(app, { baseUrl: scripted.play({ steps: [...asides.map(frame), ...good] }) })
  const text = await (await say(app, chat, { token, model, stream: true })).text()
  for (const aside of asides) expect(text).toContain(frame(aside))
  expect(text).toMatch(chat.closing)
})
