import { on, once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { quotaOfReceipt } from '#core/pricing/charge.ts'
import { receipt } from '#core/pricing/receipt.ts'
import type { TestToken } from '#test/support/factories.ts'
import { json, type ScriptedUpstream } from '#test/support/scripted-upstream.ts'
import { channelsOf, serve } from './serve.ts'
import { consumed, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { richToken, startScriptedRelay } from './relay-world.ts'

const { app, scripted, token: mine } = await startScriptedRelay()
const theirs = await richToken(app)

const responses = callerDialects[1] as CallerDialect
const ask = (token: TestToken, model: string, more: object) =>
  say(app, responses, { token, body: { model, input: 'hi', ...more } })

let made = 0
/** An answer with ids of its own that the upstream keeps, unstreamed or streamed. */
function answer(more: object = {}) {
  made += 1
  const id = `resp_${made}`
  const response = {
    id,
    object: 'response',
    status: 'completed',
    store: true,
    model: 'as-the-upstream-names-it',
    output: [
      { type: 'message', id: `msg_${made}`, role: 'assistant', content: [{ type: 'output_text', text: 'yes' }] },
    ],
    usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
    ...more,
  }
  const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  const stream = {
    steps: [
      event('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      event('response.output_text.delta', { item_id: `msg_${made}`, output_index: 0, content_index: 0, delta: 'yes' }),
      event('response.completed', { response }),
    ],
  }
  return { id, item: `msg_${made}`, unstreamed: json(response), stream }
}

/** A model behind three channels with two keys each, all of which give the same answers. */
async function storedBy(play: Parameters<ScriptedUpstream['play']>[0]) {
  const route = { key: 'key-one,key-two', baseUrl: scripted.play(play) }
  return serve(app, route, route, route)
}

const keyOf = () => scripted.received.at(-1)?.headers.authorization
const lastChannel = async () => channelsOf((await consumed(app)).at(-1))[0]

describe('a stored response', () => {
  test.each(['unstreamed', 'stream'] as const)(
    'is named again to the channel and key that made it, and nowhere else: %s',
    async (form) => {
      const { id, item, ...plays } = answer()
      const { model } = await storedBy(plays[form])
      expect(await (await ask(mine, model, { stream: form === 'stream' })).text()).toContain(id)
      const [channel, key] = [await lastChannel(), keyOf()]
      for (let turn = 0; turn < 6; turn += 1) {
        for (const named of [
          { previous_response_id: id },
          {
            input: [
              { type: 'item_reference', id: item },
              { role: 'user', content: 'go on' },
            ],
          },
          { input: [{ id: item }, { role: 'user', content: 'go on' }] },
        ]) {
          expect((await ask(mine, model, named)).status).toBe(200)
          expect(await lastChannel()).toBe(channel)
          expect(keyOf()).toBe(key)
        }
      }
    },
  )

  test('is unknown to other users, by any of its ids', async () => {
    const { id, item, unstreamed } = answer()
    const { model } = await storedBy(unstreamed)
    await ask(mine, model, {})
    const before = scripted.received.length
    for (const named of [
      { previous_response_id: id },
      { conversation: id },
      { conversation: { id } },
      { input: [{ type: 'item_reference', id: item }] },
      { input: [{ id: item }] },
      // Upstreams look up what is repeated by its id.
      {
        input: [
          { type: 'reasoning', id: item, summary: [] },
          { role: 'user', content: 'go on' },
        ],
      },
      { previous_response_id: 'resp_that_never_was' },
    ]) {
      const reply = await ask(theirs, model, named)
      const { code } = responses.readError(await reply.json())
      // By this status and code clients know that they have to send the whole conversation.
      const refused = 'previous_response_id' in named ? [400, 'previous_response_not_found'] : [404, null]
      expect([reply.status, code], JSON.stringify(named)).toEqual(refused)
    }
    expect(scripted.received.length).toBe(before)
  })

  test('can be sent back item by item, even where it is not stored', async () => {
    const { unstreamed } = answer()
    const { model } = await storedBy(unstreamed)
    const input = [
      { type: 'message', id: 'msg_of_a_translation', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
      { role: 'user', content: 'go on' },
    ]
    expect((await ask(mine, model, { input })).status).toBe(200)
  })

  test('is forgotten after thirty days', async () => {
    const { id, unstreamed } = answer()
    const { model } = await storedBy(unstreamed)
    await ask(mine, model, {})
    await app.pool.query("update upstream_objects set created_at = now() - interval '29 days' where id = $1", [id])
    expect((await ask(mine, model, { previous_response_id: id })).status).toBe(200)
    await app.pool.query("update upstream_objects set created_at = now() - interval '31 days' where id = $1", [id])
    expect((await ask(mine, model, { previous_response_id: id })).status).toBe(400)
  })

  test('with store: false has no row', async () => {
    const { id, unstreamed } = answer({ store: false })
    const { model } = await storedBy(unstreamed)
    await ask(mine, model, { store: false })
    expect((await ask(mine, model, { previous_response_id: id })).status).toBe(400)
  })

  test('of a channel that was switched off is refused, not asked for elsewhere', async () => {
    const { id, unstreamed } = answer()
    const { model } = await storedBy(unstreamed)
    await ask(mine, model, {})
    await app.pool.query('update channels set status = 2 where id = $1', [await lastChannel()])
    await app.services.channels.reload()
    expect((await ask(mine, model, { previous_response_id: id })).status).toBe(503)
  })

  test('cannot be taken over by an answer of the same name', async () => {
    const { id, unstreamed } = answer()
    const { model } = await storedBy(unstreamed)
    await ask(mine, model, {})
    await ask(theirs, model, {})
    expect((await ask(theirs, model, { previous_response_id: id })).status).toBe(400)
    expect((await ask(mine, model, { previous_response_id: id })).status).toBe(200)
  })

  test('is read and deleted by its maker alone', async () => {
    const { id, unstreamed } = answer()
    const { model } = await storedBy(unstreamed)
    await ask(mine, model, {})
    const key = keyOf()
    const rows = (await consumed(app)).length
    const call = (token: TestToken, path: string, method = 'GET') =>
      fetch(`${app.url}/v1/responses/${id}${path}`, { method, headers: { authorization: `Bearer sk-${token.key}` } })
    expect((await call(theirs, '')).status).toBe(404)
    expect((await call(theirs, '', 'DELETE')).status).toBe(404)
    const read = await call(mine, '?include[]=a')
    expect(await read.json()).toMatchObject({ id, model })
    expect(scripted.received.at(-1)).toMatchObject({ method: 'GET', path: `/v1/responses/${id}?include%5B%5D=a` })
    expect(keyOf()).toBe(key)
    expect((await call(mine, '/input_items')).status).toBe(200)
    expect(scripted.received.at(-1)?.path).toBe(`/v1/responses/${id}/input_items`)
    expect((await call(mine, '', 'DELETE')).status).toBe(200)
    expect(scripted.received.at(-1)?.method).toBe('DELETE')
    expect((await call(mine, '')).status).toBe(404)
    expect((await consumed(app)).length).toBe(rows)
  })
})

test.each([
  ['its upstream', 1],
  ['the gateway', 14],
])('what %s keeps of another user is unknown over a socket too', async (_, type) => {
  const { model } = await serve(app, { type })
  const first = await ask(mine, model, { input: 'a secret' })
  const { id, output } = (await first.json()) as { id: string; output: { id: string }[] }
  const socketOf = async (token: TestToken) => {
    const headers = { authorization: `Bearer sk-${token.key}` }
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/v1/responses`, { headers })
    await once(socket, 'open')
    return socket
  }
  const end = async (socket: WebSocket, named: object): Promise<{ type: string; status?: number }> => {
    socket.send(JSON.stringify({ type: 'response.create', model, input: 'hi', ...named }))
    for await (const [data] of on(socket, 'message')) {
      const event = JSON.parse(String(data)) as { type: string }
      if (/^(response\.completed|error)$/.test(event.type)) return event
    }
    throw new Error('the socket was closed')
  }
  const asked = app.upstream.total
  const other = await socketOf(theirs)
  for (const named of [
    { previous_response_id: id },
    { input: [{ type: 'item_reference', id: output[0]?.id }] },
    { conversation: id },
  ])
    expect((await end(other, named)).status).toBe('previous_response_id' in named ? 400 : 404)
  expect(app.upstream.total).toBe(asked)
  const owner = await socketOf(mine)
  expect(await end(owner, { previous_response_id: id })).toMatchObject({ type: 'response.completed' })
  for (const socket of [other, owner]) socket.close()
})

describe('a container and a file', () => {
  const code = {
    type: 'bash_code_execution_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: {
      type: 'bash_code_execution_result',
      content: [{ type: 'bash_code_execution_output', file_id: 'file_c' }],
    },
  }
  const message = {
    id: 'msg_c',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [code, { type: 'text', text: 'yes' }],
    container: { id: 'container_c', expires_at: '2026-12-01T00:00:00Z' },
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 1 },
  }
  const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  const { container, ...begun } = message
  const streamed = [
    event('message_start', { message: { ...begun, content: [], stop_reason: null } }),
    event('content_block_start', { index: 0, content_block: code }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn', container }, usage: message.usage }),
    event('message_stop', {}),
  ]
  const messages = callerDialects[2] as CallerDialect

  const batch = (status: string) => ({ id: 'msgbatch_c', type: 'message_batch', processing_status: status })
  /** What the vendor says of a batch of one call, and the call's answer to anything else. */
  const batched = (path: string) => {
    if (path.endsWith('/results'))
      return {
        steps: [JSON.stringify({ custom_id: 'a', result: { type: 'succeeded', message: inForm(message, 'batched') } })],
      }
    if (path.includes('/msgbatch_c')) return json({ ...batch('ended'), request_counts: { succeeded: 1 } })
    return json(path.endsWith('/batches') ? batch('in_progress') : message)
  }
  const inForm = <Value>(value: Value, form: string): Value =>
    JSON.parse(JSON.stringify(value).replaceAll(/(container|file)_c/g, '$1_c_' + form))
  const plays = {
    unstreamed: json(inForm(message, 'unstreamed')),
    streamed: { steps: inForm(streamed, 'streamed') },
    batched,
  }

  test.each(['unstreamed', 'streamed', 'batched'] as const)(
    'of messages are their maker’s alone, and are gone on with where they are: %s',
    async (form) => {
      const name = (id: string) => `${id}_${form}`
      const route = { type: 14, key: 'key-one,key-two', baseUrl: scripted.play(plays[form]) }
      const { model } = await serve(app, route, route, route)
      const send = (token: TestToken, more: object, path = '/v1/messages') =>
        app.relay(token, path, { ...messages.body(model, 'hi', false), ...more })
      if (form === 'batched') {
        const requests = [{ custom_id: 'a', params: messages.body(model, 'hi', false) }]
        expect((await app.relay(mine, '/v1/messages/batches', { requests })).status).toBe(200)
        await fetch(`${app.url}/v1/messages/batches/msgbatch_c`, {
          headers: { authorization: `Bearer sk-${mine.key}` },
        })
      } else await (await send(mine, { stream: form === 'streamed' })).text()
      const channel = (await consumed(app)).at(-1)?.channel_id
      const key = scripted.received.at(-1)?.headers['x-api-key']
      const file = { source: { type: 'file', file_id: name('file_c') } }
      const named = [
        { container: name('container_c') },
        { container: { id: name('container_c'), skills: [] } },
        { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: name('file_c') }] }] },
        { messages: [{ role: 'user', content: [{ type: 'document', ...file }] }] },
      ]
      for (const more of named) {
        expect((await send(mine, more)).status).toBe(200)
        expect((await consumed(app)).at(-1)?.channel_id).toBe(channel)
        expect(scripted.received.at(-1)?.headers['x-api-key']).toBe(key)
      }
      const before = scripted.received.length
      for (const more of named) {
        expect((await send(theirs, more)).status).toBe(404)
        expect((await send(theirs, more, '/v1/messages/count_tokens')).status).toBe(404)
        const params = { ...messages.body(model, 'hi', false), ...more }
        const batch = await app.relay(theirs, '/v1/messages/batches', { requests: [{ custom_id: 'a', params }] })
        expect(batch.status).toBe(404)
      }
      expect(scripted.received.length).toBe(before)
      // Nobody is known to have made it: the operator may.
      expect((await send(theirs, { container: 'container_of_the_operator' })).status).toBe(200)
    },
  )

  test.each([
    {
      call: { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', code: '', status: 'completed' },
      named: { type: 'code_interpreter', container: 'cntr_1' },
      unnamed: { type: 'code_interpreter', container: { type: 'auto' } },
    },
    {
      call: { type: 'shell_call', id: 'sh_1', environment: { type: 'container_reference', container_id: 'cntr_2' } },
      named: { type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_2' } },
      unnamed: { type: 'shell', environment: { type: 'container_auto' } },
    },
  ])('of responses are too, whether or not the answer is stored: $named.type', async ({ call, named, unnamed }) => {
    const { unstreamed } = answer({ store: false, output: [call] })
    const { model } = await storedBy(unstreamed)
    await ask(mine, model, { store: false })
    const channel = await lastChannel()
    const tools = [named]
    for (let turn = 0; turn < 4; turn += 1) {
      expect((await ask(mine, model, { tools })).status).toBe(200)
      expect(await lastChannel()).toBe(channel)
    }
    // The upstream goes on in the container of a call that is repeated.
    const input = [
      { ...call, id: 'another' },
      { role: 'user', content: 'hi' },
    ]
    const repeating = { input, tools: [unnamed] }
    const adding = { input: [{ type: 'additional_tools', tools }, ...input.slice(1)] }
    expect((await ask(mine, model, repeating)).status).toBe(200)
    expect(await lastChannel()).toBe(channel)
    const before = scripted.received.length
    for (const more of [{ tools }, repeating, adding]) expect((await ask(theirs, model, more)).status).toBe(404)
    expect(scripted.received.length).toBe(before)
  })
})

test.each(['unstreamed', 'stream'] as const)(
  'a container is charged with the answer that it was made for, not with those that go on in it: %s',
  async (form) => {
    const ran = (name: string) => ({ type: 'code_interpreter_call', id: `ci_${name}`, container_id: `cntr_${name}` })
    const [first, second] = [`${form}_first`, `${form}_second`]
    const plays = [[first], [first], [first, second], [second, first]].map(
      (names) => answer({ store: false, output: [...names, ...names].map(ran) })[form],
    )
    let turn = 0
    const { model } = await storedBy(() => plays[(turn += 1) - 1] as (typeof plays)[number])
    const tools = [{ type: 'code_interpreter', container: { type: 'auto' } }]
    for (const _ of plays) await (await ask(mine, model, { tools, stream: form === 'stream' })).text()
    const quotas = (await consumed(app)).slice(-plays.length).map(({ quota }) => Number(quota))
    const least = Math.min(...quotas)
    expect(least).toBeLessThan(15_000)
    // 0.03 dollars.
    expect(quotas.map((quota) => quota - least)).toEqual([15_000, 0, 15_000, 0])
  },
)

test('a container of code or of a shell costs as many times the price of one gigabyte as it has', async () => {
  const code = { type: 'code_interpreter', container: { type: 'auto', memory_limit: '64g' } }
  const shell = { type: 'shell', environment: { type: 'container_auto', memory_limit: '4g' } }
  const environment = { type: 'container_reference', container_id: 'cntr_of_shell' }
  const ran = [
    { type: 'code_interpreter_call', id: 'ci_many', container_id: 'cntr_of_code' },
    { type: 'shell_call', id: 'sh_many', environment },
    // A shell of the caller's own runs in none.
    { type: 'shell_call', id: 'sh_local', environment: { type: 'local' } },
  ]
  const { unstreamed } = answer({ store: false, tools: [code, shell], output: [...ran, ...ran] })
  const { model } = await storedBy(unstreamed)
  for (let turn = 0; turn < 2; turn += 1) await (await ask(mine, model, { tools: [code, shell] })).text()
  const rows = (await consumed(app)).slice(-2)
  const [first = 0, second = 0] = rows.map(({ quota }) => Number(quota))
  expect(second).toBeLessThan(15_000)
  // 0.03 dollars × (64 + 4).
  expect(first - second).toBe(68 * 15_000)
  expect(rows.map(({ other }) => quotaOfReceipt(receipt.parse(other['receipt'])))).toEqual([first, second])
})

test('a call sets aside the containers that its tools may make', async () => {
  const { model } = await storedBy(answer().unstreamed)
  const poor = await app.make.token(await app.make.user({ quota: 100_000 }))
  const refused = async (environment: object) => {
    const reply = await ask(poor, model, { tools: [{ type: 'shell', environment }] })
    return reply.status === 403
  }
  expect(await refused({ type: 'local' })).toBe(false)
  expect(await refused({ type: 'container_auto', memory_limit: '4g' })).toBe(false)
  expect(await refused({ type: 'container_auto', memory_limit: '16g' })).toBe(true)
})

test('work in the background is refused, because it could not be charged', async () => {
  const { model } = await storedBy(answer().unstreamed)
  const reply = await ask(mine, model, { background: true })
  expect(reply.status).toBe(400)
  expect(responses.readError(await reply.json()).message).toContain('background')
})
