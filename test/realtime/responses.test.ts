import { once } from 'node:events'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { startApp } from '#test/support/app.ts'
import { cut, startScriptedUpstream, type Step } from '#test/support/scripted-upstream.ts'
import { consumed, eventually } from '../relay/caller-dialects.ts'
import { allowUnpriced, serve } from '../relay/serve.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'
import { type Event, openResponses, says, unknownPrevious } from './responses-socket.ts'

const open = (key: string, at = app) => openResponses(key, at)

const app = await startBalancedApp()
await allowUnpriced(app)
beforeEach(() => app.upstream.clear())

async function payer(quota = 1_000_000_000) {
  const user = await app.make.user({ quota })
  return { user, token: await app.make.token(user) }
}

const textIn = ({ response }: Event) => JSON.stringify(response.output)
const usage = '[[usage=1000:100]]'

const families = [
  ['OpenAI', 1],
  ['Anthropic', 14],
  ['Gemini', 24],
  ['chat completions only', 43],
] as const

describe.each(families)('responses over a socket, on %s', (_, type) => {
  test('come one after the other, go on from each other though nobody stores them, and are each charged exactly', async () => {
    const { user, token } = await payer()
    const { model } = await serve(app, { type })
    const before = (await consumed(app)).length
    const session = await open(token.key)
    session.create({ model, store: false, input: says(`first ${usage}`) })
    const first = await session.ended()
    expect(first.type).toBe('response.completed')
    expect(textIn(first)).toContain('You said: first')
    session.create({ model, store: false, previous_response_id: first.response.id, input: says(`second ${usage}`) })
    const second = await session.ended()
    expect(textIn(second)).toContain('You said: second')
    const asked = JSON.stringify(app.upstream.requests.at(-1)?.body)
    for (const text of ['first', 'You said: first', 'second']) expect(asked).toContain(text)
    session.create({ model, store: false, previous_response_id: second.response.id, input: says(`third ${usage}`) })
    await session.ended()
    expect(JSON.stringify(app.upstream.requests.at(-1)?.body)).toContain('You said: second')
    session.socket.close()
    const rows = (await consumed(app)).slice(before)
    expect(rows).toHaveLength(3)
    for (const row of rows) {
      expect(row).toMatchObject({ prompt_tokens: 1000, completion_tokens: 100, quota: 41_250, is_stream: true })
      expect(row.other).toMatchObject({ session: 's-1', dialect: 'openai-responses' })
    }
    expect(1_000_000_000 - (await app.balanceOf(user.id))).toBe(3 * 41_250)
  })
})

test('what is stored is gone on from too, by a response that is not, and by a beginning', async () => {
  const { token } = await payer()
  const { model } = await serve(app, { type: 14 })
  const session = await open(token.key)
  const asked = () => JSON.stringify(app.upstream.requests.at(-1)?.body)
  session.create({ model, input: says('the first') })
  const stored = await session.ended()
  session.create({ model, store: false, previous_response_id: stored.response.id, input: says('the second') })
  const second = await session.ended()
  expect(asked()).toContain('the first')
  session.create({ model, store: false, previous_response_id: second.response.id, input: says('the third') })
  await session.ended()
  for (const text of ['the first', 'the second', 'the third']) expect(asked().split(`"${text}`)).toHaveLength(2)

  const made = await app.relay(token, '/v1/conversations', { items: [{ role: 'user', content: 'the beginning' }] })
  const { id } = (await made.json()) as { id: string }
  for (const named of [{ previous_response_id: stored.response.id }, { conversation: id }]) {
    session.create({ model, store: false, generate: false, input: says('prepared'), ...named })
    const { response: prepared } = await session.ended()
    session.create({ model, store: false, previous_response_id: prepared.id, input: says('and then') })
    expect((await session.ended()).type).toBe('response.completed')
    for (const text of ['conversation' in named ? 'the beginning' : 'the first', 'prepared', 'and then'])
      expect(asked().split(`"${text}`), text).toHaveLength(2)
  }
  session.socket.close()
})

test.each(families)('what another user’s calls left cannot be named over a socket, on %s', async (_, type) => {
  const [mine, theirs] = [await payer(), await payer()]
  const { model } = await serve(app, { type })
  const post = async (path: string, body: object) =>
    (await (await app.relay(mine.token, path, body)).json()) as { id: string; output: { id: string }[] }
  const stored = await post('/v1/responses', { model, input: 'a secret' })
  const thread = await post('/v1/conversations', { items: [{ role: 'user', content: 'a secret' }] })
  // One that only its own socket knows.
  const own = await open(mine.token.key)
  own.create({ model, store: false, input: says('a secret') })
  const { response: unstored } = await own.ended()
  const total = app.upstream.total

  const session = await open(theirs.token.key)
  for (const named of [
    { previous_response_id: stored.id },
    { previous_response_id: unstored.id },
    { conversation: thread.id },
    { input: [{ type: 'item_reference', id: stored.output[0]?.id }] },
    { input: [{ id: stored.output[0]?.id }] },
  ])
    for (const generate of [true, false]) {
      const { previous_response_id: previous } = named
      const refused = previous === undefined ? { type: 'error', status: 404 } : unknownPrevious(previous)
      session.create({ model, store: false, generate, input: says('go on'), ...named })
      const end = await session.ended()
      // What is only prepared names it all the same once it is gone on from.
      if (end.type === 'response.completed' && !generate) {
        session.create({ model, store: false, previous_response_id: end.response.id, input: says('go on') })
        expect(await session.ended(), JSON.stringify(named)).toMatchObject(refused)
      } else expect(end, JSON.stringify(named)).toMatchObject(refused)
    }
  expect(app.upstream.total).toBe(total)
  expect(await app.balanceOf(theirs.user.id)).toBe(1_000_000_000)
  session.socket.close()
  own.socket.close()
})

test('what a conversation begins with is prepared without a call or a charge, and gone on from', async () => {
  const { token } = await payer()
  const { model } = await serve(app, { type: 14 })
  const session = await open(token.key)
  const before = (await consumed(app)).length
  session.create({ model, store: false, generate: false, input: says('the beginning') })
  const prepared = await session.ended()
  expect(prepared.response.output).toEqual([])
  expect(app.upstream.total).toBe(0)
  session.create({ model, store: false, previous_response_id: prepared.response.id, input: says('and then') })
  expect((await session.ended()).type).toBe('response.completed')
  expect(JSON.stringify(app.upstream.requests.at(-1)?.body)).toContain('the beginning')
  expect(await consumed(app)).toHaveLength(before + 1)
  session.socket.close()
})

test('what a conversation begins with may come in pieces, of which no more is kept than a body may be', async () => {
  const { token } = await payer()
  const { model } = await serve(app, { type: 14 })
  const session = await open(token.key)
  const prepare = async (text: string, previous?: Event) => {
    const from = previous && { previous_response_id: previous.response.id }
    session.create({ model, store: false, generate: false, input: says(text), ...from })
    return session.ended()
  }
  const second = await prepare('piece two', await prepare('piece one'))
  session.create({ model, store: false, previous_response_id: second.response.id, input: says('and then') })
  expect((await session.ended()).type).toBe('response.completed')
  const asked = JSON.stringify(app.upstream.requests.at(-1)?.body)
  for (const text of ['piece one', 'piece two', 'and then']) expect(asked).toContain(text)

  const { limits } = app.services.bodies
  const { largest } = limits
  Object.assign(limits, { largest: 5000 })
  const small = await open(token.key)
  Object.assign(limits, { largest })
  let last: Event | undefined
  const total = app.upstream.total
  for (const text of ['a', 'b']) {
    const from = last && { previous_response_id: last.response.id }
    small.create({ model, store: false, generate: false, input: says(text.repeat(3000)), ...from })
    last = await small.ended()
  }
  small.create({ model, store: false, previous_response_id: last?.response.id, input: says('and then') })
  expect(await small.ended()).toMatchObject(unknownPrevious(last?.response.id ?? ''))
  expect(app.upstream.total).toBe(total)
  session.socket.close()
  small.socket.close()
})

test('what begins a conversation takes of the memory for bodies what it weighs once read', async () => {
  const { token } = await payer()
  const { model } = await serve(app, { type: 14 })
  const session = await open(token.key)
  const held = app.services.bodies.budget.heldBytes
  session.create({ model, store: false, generate: false, input: Array.from({ length: 30_000 }, () => ({})) })
  await session.ended()
  // 90 kB of text, and 30,000 objects.
  await expect.poll(() => app.services.bodies.budget.heldBytes - held).toBeGreaterThan(2_000_000)
  // Forgotten, it gives back what it took, though another lane keeps some.
  const some = { model, store: false, generate: false }
  session.create({ ...some, stream_id: 'other', input: Array.from({ length: 3000 }, () => ({})) })
  await session.ended()
  session.create({ ...some, input: says('anew') })
  await session.ended()
  await expect.poll(() => app.services.bodies.budget.heldBytes - held).toBeLessThan(2_000_000)
  expect(app.services.bodies.budget.heldBytes - held).toBeGreaterThan(0)
  session.socket.close()
})

test('handshakes and beginnings count against the limits of their caller', async () => {
  const { token } = await payer()
  const { model } = await serve(app, { type: 1 })
  await app.pool.query(
    'update tokens set rate_limit_enabled = true, rate_limit_count = 2, rate_limit_period = 3600 where id = $1',
    [token.id],
  )
  app.services.tokens.drop(token.id)
  const session = await open(token.key)
  session.create({ model, store: false, generate: false, input: says('one') })
  expect((await session.ended()).type).toBe('response.completed')
  session.create({ model, store: false, generate: false, input: says('two') })
  expect(await session.ended()).toMatchObject({ type: 'error', status: 429, error: { code: 'rate_limit_exceeded' } })
  const refused = new WebSocket(`${app.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer sk-${token.key}` },
  })
  const [, answer] = (await once(
    refused.on('error', () => {}),
    'unexpected-response',
  )) as [unknown, { statusCode: number }]
  expect(answer.statusCode).toBe(429)
  session.socket.close()
})

test('failures are reported in form, cost nothing, and leave the socket open', async () => {
  const { user, token } = await payer()
  const { model } = await serve(app, { type: 1 })
  const session = await open(token.key)
  session.create({ model, input: `hi [[status=400,message=no such thing]]` })
  expect(await session.ended()).toMatchObject({
    type: 'error',
    status: 400,
    error: { message: expect.stringContaining('no such thing') },
  })
  session.create({ model, store: false, previous_response_id: 'resp_nobody', input: says('hi') })
  expect(await session.ended()).toMatchObject(unknownPrevious('resp_nobody'))
  session.create({ model, background: true, input: 'hi' })
  expect(await session.ended()).toMatchObject({ type: 'error', status: 400, error: { param: 'background' } })
  session.socket.send('no json')
  expect(await session.ended()).toMatchObject({ type: 'error', status: 400, error: { code: 'invalid_json' } })
  session.socket.send(JSON.stringify({ type: 'response.other' }))
  expect(await session.ended()).toMatchObject({ type: 'error', status: 400, error: { code: 'unknown_event' } })
  session.socket.send('{"type":{"toString":1}}')
  expect(await session.ended()).toMatchObject({ type: 'error', status: 400, error: { code: 'unknown_event' } })
  session.socket.send(`{"type":"response.create","input":${'['.repeat(300)}${']'.repeat(300)}}`)
  expect(await session.ended()).toMatchObject({ type: 'error', status: 400, error: { code: 'invalid_json' } })
  await expect.poll(() => app.balanceOf(user.id)).toBe(1_000_000_000)
  session.create({ model, input: 'hi' })
  expect((await session.ended()).type).toBe('response.completed')
  session.socket.close()
})

test('a stream that breaks ends in a failed response, and one without an end in an error with its status', async () => {
  const { token } = await payer()
  await using scripted = await startScriptedUpstream()
  const named = (type: string, rest: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
  const response = { id: 'resp_1', object: 'response', status: 'in_progress', output: [] }
  const begun = [
    named('response.created', { response, sequence_number: 0 }),
    named('response.output_text.delta', { item_id: 'i', output_index: 0, content_index: 0, delta: 'word' }),
  ]
  const end = async (...steps: Step[]) => {
    const { model } = await serve(app, { baseUrl: scripted.play({ steps: [...begun, ...steps] }) })
    const session = await open(token.key)
    session.create({ model, input: 'hi' })
    const isEnd = ({ type, status }: Event) => type === 'response.failed' || (type === 'error' && status !== undefined)
    const last = await eventually(
      () => session.events.findLast(isEnd),
      (found) => found !== undefined,
    )
    session.socket.close()
    return last
  }
  const quota = { code: 'insufficient_quota', message: 'no more' }
  const failed = { id: 'resp_1', status: 'failed', error: { code: 'insufficient_quota' } }
  expect(await end(cut)).toMatchObject({ response: { ...failed, error: { code: 'server_error' } } })
  expect(await end(named('error', quota))).toMatchObject({ response: failed })
  expect(await end(named('response.failed', { response: { ...response, error: quota } }))).toMatchObject({
    response: { ...failed, error: { message: expect.stringContaining('no more (request id') } },
  })
  const cancelled = named('response.cancelled', { response: { ...response, status: 'cancelled' } })
  expect(await end(cancelled)).toMatchObject({ type: 'error', status: 502 })
})

test('a response whose end repeats none of its items is not gone on from: its caller sends everything again', async () => {
  const { token } = await payer()
  await using scripted = await startScriptedUpstream()
  const response = { id: 'resp_bare', object: 'response', status: 'completed', store: false, output: [] }
  const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' }
  const steps = [
    { type: 'response.created', response },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const { model } = await serve(app, { baseUrl: scripted.play({ steps }) })
  const session = await open(token.key)
  session.create({ model, store: false, input: 'hi' })
  expect((await session.ended()).type).toBe('response.completed')
  const input = [{ type: 'function_call_output', call_id: 'c', output: '1' }]
  session.create({ model, store: false, previous_response_id: response.id, input })
  expect(await session.ended()).toMatchObject(unknownPrevious(response.id))
  session.socket.close()
})

test('a token that was switched off ends nothing that runs and begins nothing more', async () => {
  const { token } = await payer()
  const { model } = await serve(app, { type: 1 })
  const session = await open(token.key)
  session.create({ model, input: 'hi' })
  expect((await session.ended()).type).toBe('response.completed')
  await app.pool.query('update tokens set status = 2 where id = $1', [token.id])
  app.services.tokens.drop(token.id)
  session.create({ model, input: 'hi' })
  expect(await session.ended()).toMatchObject({ type: 'error', status: 401 })
  session.socket.close()
})

test('nobody opens a socket without a key, and a plain question for it finds nothing', async () => {
  const socket = new WebSocket(`${app.url.replace('http', 'ws')}/v1/responses`)
  const [, refused] = (await once(
    socket.on('error', () => {}),
    'unexpected-response',
  )) as [unknown, { statusCode: number }]
  expect(refused.statusCode).toBe(401)
  expect((await fetch(`${app.url}/v1/responses`)).status).toBe(404)
})

test('a caller who leaves ends its upstream and pays what was delivered', async () => {
  const { user, token } = await payer()
  const { model } = await serve(app, { type: 1 })
  const session = await open(token.key)
  session.create({ model, input: 'go on [[words=5000,gap=5]]' })
  await expect
    .poll(() => session.events.filter(({ type }) => type === 'response.output_text.delta').length)
    .toBeGreaterThan(3)
  session.socket.terminate()
  const row = await eventually(
    async () => (await consumed(app)).find(({ user_id: id }) => Number(id) === user.id),
    (found) => found !== undefined,
  )
  expect(row?.completion_tokens).toBeGreaterThan(0)
  expect(row?.completion_tokens).toBeLessThan(5000)
  await expect.poll(() => app.upstream.open).toBe(0)
  await expect.poll(() => app.services.underWay.size).toBe(0)
})

test('an answer that stops for want of money is incomplete, and the next is refused', async () => {
  const { token } = await payer(60_000)
  const { model } = await serve(app, { type: 1 })
  const session = await open(token.key)
  session.create({ model, input: 'go on [[words=5000,usage=10:5000]]' })
  expect(await session.ended()).toMatchObject({ type: 'response.incomplete' })
  session.create({ model, input: 'hi' })
  expect(await session.ended()).toMatchObject({ type: 'error', status: 403 })
  session.socket.close()
})

test('a process that is asked to stop finishes the response under way and disconnects its callers', async () => {
  await using stopping = await startApp({ on: { connection: app.connection, upstream: app.upstream } })
  const { token } = await payer()
  const { model } = await serve(app, { type: 1 })
  await stopping.services.channels.reload()
  const session = await open(token.key, stopping)
  const idle = await open(token.key, stopping)
  session.create({ model, input: 'go on [[words=60,gate=stopping,gateat=10]]' })
  await expect.poll(() => session.events.length).toBeGreaterThan(3)
  // One more waits behind it, and is neither begun nor charged.
  session.create({ model, input: 'and on' })
  stopping.services.draining = () => true
  expect(await idle.closed).toBe(1012)
  app.upstream.openGate('stopping')
  expect((await session.ended()).type).toBe('response.completed')
  expect(await session.closed).toBe(1012)
  expect(app.upstream.total).toBe(1)
})

test('a caller who never pauses between responses is parted from in the end', async () => {
  const { token } = await payer()
  const { model } = await serve(app, { type: 1 })
  const session = await open(token.key)
  session.create({ model, input: 'go on [[words=5000,gap=5]]' })
  await expect.poll(() => session.events.length).toBeGreaterThan(3)
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 2.5 * 60 * 60 * 1000)
  try {
    expect(await session.closed).toBe(1006)
  } finally {
    clock.mockRestore()
  }
})

test('the official library is served', async () => {
  const { token } = await payer()
  const { model } = await serve(app, { type: 24 })
  const socket = new ResponsesWS(new OpenAI({ apiKey: `sk-${token.key}`, baseURL: `${app.url}/v1` }))
  const done = new Promise<string>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('response.completed', ({ response }) => resolve(JSON.stringify(response.output)))
  })
  socket.send({ type: 'response.create', model, input: 'hello' })
  expect(await done).toContain('You said: hello')
  socket.close()
})
