import { expect, test } from 'vitest'
import { withOptions } from '../relay/serve.ts'
import { startScriptedUpstream } from './scripted-upstream.ts'
import { chargesOf, model, startRealtime, untilFree } from './world.ts'

const key = 'sk-Zx81QmPv93LrTw60BnYc'
const error = { type: 'invalid_request_error', code: 'odd_code', message: `secret words ${key}`, param: 'odd' }
const usage = { total_tokens: 100, input_tokens: 40, output_tokens: 60 }

/** What the upstream says to whoever asks for an answer. */
let events: (Record<string, unknown> | string | Buffer)[] = []

const { baseUrl } = await startScriptedUpstream((socket) => {
  const say = (event: unknown) =>
    socket.send(typeof event === 'string' || Buffer.isBuffer(event) ? event : JSON.stringify(event))
  say({ type: 'session.created', session: { id: 's', model } })
  socket.on('message', (data: Buffer) => {
    const { type } = JSON.parse(data.toString()) as { type: string }
    if (type === 'response.create') for (const event of events) say(event)
    else socket.close(4000, `secret reason ${key}`)
  })
})

const { app, user, openSession } = await startRealtime()
const named = 'realtime-scripted'
await app.make.channel({ models: named, key, baseUrl, modelMapping: JSON.stringify({ [named]: model }) })
await app.settled()

const beside = { message: 'secret words', details: { odd: key } }
const status_details = { type: 'failed', error }
const failedResponse = { id: 'r1', status: 'failed', status_details, ...beside, output: [], usage }

/** Everything that the caller of one session reads. */
async function read() {
  events = [
    { type: 'response.created', response: { id: 'r1', status: 'in_progress' } },
    { type: 'error', event_id: 'e1', message: 'secret words', error: { ...error, event_id: 'mine' } },
    { type: 'conversation.item.input_audio_transcription.failed', item_id: 'i1', content_index: 0, error, ...beside },
    { type: 'error', event_id: 'e2', error: { ...error, type: 'rate_limit_exceeded', code: 'rate_limit_exceeded' } },
    { type: 'response.done', event_id: 'e3', response: failedResponse },
  ]
  const session = await openSession({ model: named })
  await session.next('session.created')
  session.say({ type: 'response.create' })
  const done = await session.next('response.done')
  session.say({ type: 'session.update', session: {} })
  const { code, reason } = await session.closed
  await untilFree(app, user.id)
  const [first, busy] = session.events.filter(({ type }) => type === 'error')
  return { session, done, code, reason, first, busy, text: JSON.stringify(session.events) + reason }
}

const hidden = { type: 'upstream_error', code: 'bad_response_status_code' }

test('what an upstream says of a failure is hidden from its caller where the operator wants that', async () => {
  await withOptions(app, { 'global.hide_upstream_error_enabled': 'true' }, async () => {
    const { session, done, code, reason, first, busy, text } = await read()
    expect(text).not.toMatch(/secret|odd|sk-Zx/)
    const message = `upstream returned status 400 (request id: ${session.requestId})`
    // The caller still learns which event of its own failed.
    expect(first).toEqual({
      type: 'error',
      event_id: 'e1',
      error: { ...hidden, param: '400', message, event_id: 'mine' },
    })
    expect(busy).toMatchObject({
      error: { code: 'rate_limit_exceeded', message: expect.stringContaining('上游繁忙，请稍后重试') },
    })
    expect(done).toMatchObject({
      response: {
        id: 'r1',
        status: 'failed',
        usage,
        status_details: { type: 'failed', error: { ...hidden, message } },
      },
    })
    expect([code, reason]).toEqual([4000, ''])
  })
})

const place = { item_id: 'i1', content_index: 0 }
const unusual = [
  { type: 'error', event_id: 'e1', code: 'odd_code', message: `secret words ${key}` },
  { type: 'error', event_id: 'e1', error: `secret words ${key}` },
  { type: 'error', event_id: 'e1', errors: [{ message: `secret words ${key}` }], data: { odd: 'secret' } },
  { type: 'error.secret odd', error_msg: 'secret words' },
  { type: 'conversation.item.input_audio_transcription.failed', ...place, status_text: `secret words ${key}` },
  { type: 'mcp_list_tools.failed', ...place, info: { text: ['secret words', key] } },
  { type: 'session.error', description: `secret words ${key}`, trace: { odd: key } },
  { type: 'response.failed', response_id: 'r9', response: { id: 'r9', status: 'failed', cause: `secret ${key}` } },
  { type: 'response.done', response: { id: 'r8', status: 'error', detail: `secret ${key}`, output: [] } },
  { type: 'response.done', response: { id: 'r7', status: 'incomplete', error: `secret ${key}`, note: 'odd' } },
  { type: 'response.done', response: { id: 'r6', status: 'cancelled', status_details: { error, odd: 'secret' } } },
]
const escaped = `{"type":"error","error":{"message":"words \\u0073${key.slice(1)}"}}`

/** What its caller reads of these events, before a last one that failed in no way. */
async function readOf(written: typeof events) {
  const last = { type: 'rate_limits.updated', rate_limits: [{ name: 'odd' }] }
  events = [{ type: 'response.created', response: { id: 'r5' } }, ...written, last]
  const session = await openSession({ model: named })
  session.say({ type: 'response.create' })
  expect(await session.next('rate_limits.updated')).toEqual(last)
  session.socket.close()
  await session.closed
  await untilFree(app, user.id)
  return session.events.slice(2, -1)
}

test.each(unusual)('a failure in another form is hidden, and is masked where it is not: %j', async (event) => {
  const [shown] = await readOf([event])
  expect(JSON.stringify(shown)).toMatch(/secret/)
  expect(JSON.stringify(shown)).not.toContain(key)
  await withOptions(app, { 'global.hide_upstream_error_enabled': 'true' }, async () => {
    const [seen] = await readOf([event])
    expect(JSON.stringify(seen)).not.toMatch(/secret|odd|sk-Zx/)
    expect(JSON.stringify(seen)).toContain('upstream returned status')
    const places = Object.entries(event).filter(([name]) => /_id$|_index$/.test(name))
    expect(seen).toMatchObject(Object.fromEntries(places))
  })
})

test('a key that is written in escapes, or in what is no event, is masked', async () => {
  const shown = await readOf([escaped, `[{"error":"${key}"}]`, `no event ${key}`])
  expect(shown).toHaveLength(3)
  expect(JSON.stringify(shown)).not.toContain(key.slice(3))
})

test('a failure in a binary frame is masked, and sound in one reaches its caller byte for byte', async () => {
  const audio = Buffer.concat([Buffer.from([0xff, 0xfe, 0x00, 0x80]), Buffer.from(key)])
  events = [Buffer.from(escaped), audio]
  const session = await openSession({ model: named })
  const frames: Buffer[] = []
  session.socket.on('message', (data: Buffer, isBinary) => void (isBinary && frames.push(data)))
  session.say({ type: 'response.create' })
  await expect.poll(() => frames).toHaveLength(2)
  expect(frames[0]?.toString()).not.toContain(key.slice(3))
  expect(frames[1]).toEqual(audio)
  session.socket.close()
  await untilFree(app, user.id)
})

test('else its caller reads it without the key', async () => {
  const { done, reason, first, text } = await read()
  expect(text).not.toContain(key)
  expect(first).toMatchObject({ error: { ...error, message: 'secret words ***', event_id: 'mine' } })
  expect(done).toMatchObject({ response: { status_details: { error: { ...error, message: 'secret words ***' } } } })
  expect(reason).toBe('secret reason ***')
})

test('a response, or a transcription, whose end is reported twice is charged once', async () => {
  const before = (await chargesOf(app, user.id)).length
  const ended = { type: 'response.done', response: { id: 'r2', status: 'completed', output: [], usage } }
  const type = 'conversation.item.input_audio_transcription.completed'
  const written = { type, item_id: 'i2', content_index: 0, transcript: 'hello', usage: { type: 'tokens', ...usage } }
  events = [{ type: 'response.created', response: { id: 'r2', status: 'in_progress' } }, written, ended, written, ended]
  const session = await openSession({ model: named })
  session.say({ type: 'response.create' })
  await session.next('response.done')
  await session.next('response.done')
  session.socket.close()
  await session.closed
  await untilFree(app, user.id)
  expect((await chargesOf(app, user.id)).slice(before)).toHaveLength(2)
})
