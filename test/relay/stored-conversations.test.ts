import { once } from 'node:events'
import { afterAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { startApp } from '#test/support/app.ts'
import type { TestToken } from '#test/support/factories.ts'
import { cut, hang, json, type Play, type Step } from '#test/support/scripted-upstream.ts'
import { serve, setOptions } from './serve.ts'
import { callerDialects, consumed, eventually, openHolds, say, type CallerDialect } from './caller-dialects.ts'
import { richToken, startScriptedRelay } from './relay-world.ts'
import { event, newId, read, turnOf, wordsOf, written } from './stored-turns.ts'

// What an upstream keeps it reads whole for every call that goes on there: 1 a token, read or written. Two nodes on one database.
const prices = { SelfUseModeEnabled: 'false', GroupRatio: '{"default":1}', PreConsumedQuota: '100' }
const { app, scripted, token: mine } = await startScriptedRelay({ options: prices })
const other = await startApp({ on: app })
afterAll(() => other[Symbol.asyncDispose]())

const responses = callerDialects[1] as CallerDialect
const messages = callerDialects[2] as CallerDialect

/** A model whose turns are played one after the other, the last again and again, and its price known. */
async function servedBy(plays: Play[], input: { type?: number; setting?: string; models?: string } = {}) {
  let next = 0
  const { model, ids } = await serve(app, {
    ...input,
    baseUrl: scripted.play(() => plays[Math.min(next++, plays.length - 1)] as Play),
  })
  await setOptions(app, { ModelRatio: `{"${model}":1}`, CompletionRatio: `{"${model}":1}` })
  await other.services.options.reload()
  for (const id of ids) await other.services.channels.reload(id)
  return model
}

const ask = (token: TestToken, model: string, more: object, { at = app, by = responses, signal }: Where = {}) =>
  say(at, by, { token, body: { ...by.body(model, 'hi', false), ...more }, ...(signal ? { signal } : {}) })
type Where = { at?: typeof app; by?: CallerDialect; signal?: AbortSignal }

/** A second turn whose caller reads all that is said and leaves before the end. Resolves with its log row. */
async function leave(token: TestToken, model: string, more: object, where: Where = {}) {
  const before = (await consumed(app)).length
  const leaving = new AbortController()
  const reply = await ask(token, model, { ...more, stream: true }, { ...where, signal: leaving.signal })
  expect(reply.status).toBe(200)
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  while (text.split(' word').length <= written) text += new TextDecoder().decode((await reader.read()).value)
  leaving.abort()
  await reader.closed.catch(() => {})
  const rows = await eventually(
    () => consumed(app),
    (all) => all.length > before,
  )
  return rows.at(-1)
}

const balanceOf = async (token: TestToken) =>
  (
    await app.pool.query<{ quota: number; remain: number }>(
      'select u.quota::int, t.remain_quota::int as remain from tokens t join users u on u.id = t.user_id where t.id = $1',
      [token.id],
    )
  ).rows[0]

/** What a turn costs that reads the conversation, counted here: a few tokens of the new input beside. */
const expectAllOfIt = (
  row: { prompt_tokens?: unknown; quota?: unknown } | undefined,
  before = read + written,
): void => {
  const prompt = Number(row?.prompt_tokens)
  expect(prompt).toBeGreaterThan(before)
  expect(prompt).toBeLessThan(before + 60)
  expect(Number(row?.quota)).toBe(prompt + written)
}

describe('a call that goes on from what the upstream keeps pays for the conversation, also where its caller hangs up', () => {
  test.each([
    ['as it comes', {}],
    ['passed through', { setting: '{"pass_through_body_enabled":true}' }],
  ])('on either node, fork after fork: %s', async (_, input) => {
    const id = newId()
    const model = await servedBy([turnOf({ id }).unstreamed, turnOf({ id: newId(), ends: false }).stream], input)
    await (await ask(mine, model, {})).text()
    for (const at of [app, other]) {
      const row = await leave(mine, model, { previous_response_id: id }, { at })
      expect(row?.other).toMatchObject({ end: 'hung-up', usage_source: 'estimated' })
      expectAllOfIt(row)
    }
  })

  test('and where the upstream breaks off', async () => {
    const id = newId()
    const model = await servedBy([turnOf({ id }).unstreamed, turnOf({ id: newId(), ends: cut }).stream])
    await (await ask(mine, model, {})).text()
    await (await ask(mine, model, { previous_response_id: id, stream: true })).text()
    const row = (await consumed(app)).at(-1)
    expect(row?.other).toMatchObject({ end: 'failed' })
    expectAllOfIt(row)
  })

  test('and where the balance ends, which is not overdrawn', async () => {
    const id = newId()
    const long = turnOf({ id: newId(), ends: false, length: 5000 })
    const model = await servedBy([turnOf({ id }).unstreamed, long.stream])
    const token = await app.make.token(await app.make.user({ quota: 2 * (read + written) + 1000 }))
    await (await ask(token, model, {})).text()
    await (await ask(token, model, { previous_response_id: id, stream: true })).text()
    const row = (await consumed(app)).at(-1)
    expect(row?.other).toMatchObject({ end: 'unpaid' })
    expect(row?.prompt_tokens).toBeGreaterThan(read + written)
    expect(row?.completion_tokens).toBeGreaterThan(500)
    expect((await balanceOf(token))?.quota).toBeGreaterThanOrEqual(0)
  })

  test('the upstream’s own figure is believed, and not added to', async () => {
    const [id, next] = [newId(), newId()]
    const second = turnOf({ id: next, usage: { input_tokens: 70_000, output_tokens: 5 } })
    const model = await servedBy([
      turnOf({ id }).unstreamed,
      second.stream,
      turnOf({ id: 'resp_cut', ends: false }).stream,
    ])
    await (await ask(mine, model, {})).text()
    await (await ask(mine, model, { previous_response_id: id, stream: true })).text()
    expect((await consumed(app)).at(-1)).toMatchObject({ prompt_tokens: 70_000, quota: 70_005 })
    // Shortened by the upstream: what it counted last is what is there.
    expectAllOfIt(await leave(mine, model, { previous_response_id: next }), 70_005)
  })

  test('an answer without usage stands for what was charged for it', async () => {
    const [id, next] = [newId(), newId()]
    const silent = turnOf({ id: next, usage: null })
    for (const [form, stream] of [
      ['stream', true],
      ['unstreamed', false],
    ] as const) {
      const model = await servedBy([
        turnOf({ id }).unstreamed,
        silent[form],
        turnOf({ id: 'resp_cut', ends: false }).stream,
      ])
      await (await ask(mine, model, {})).text()
      await (await ask(mine, model, { previous_response_id: id, stream })).text()
      const row = (await consumed(app)).at(-1)
      expectAllOfIt(row)
      expectAllOfIt(await leave(mine, model, { previous_response_id: next }), Number(row?.quota))
    }
  })

  test('a conversation has what its latest turn left it with, also one that was cut', async () => {
    const id = newId()
    const cutTurn = turnOf({ id: newId(), ends: false }).stream
    const model = await servedBy([
      turnOf({ id }).unstreamed,
      cutTurn,
      cutTurn,
      turnOf({ id: newId() }).unstreamed,
      cutTurn,
    ])
    const isRemembered = (tokens: number) => {
      const text = 'select conversation_tokens as tokens from upstream_objects where id = $1'
      return expect.poll(async () => (await app.pool.query(text, [id])).rows[0]?.tokens).toBe(tokens)
    }
    await (await ask(mine, model, {})).text()
    const first = await leave(mine, model, { conversation: id })
    expectAllOfIt(first)
    await isRemembered(Number(first?.quota))
    const second = await leave(mine, model, { conversation: { id } })
    expectAllOfIt(second, Number(first?.quota))
    await isRemembered(Number(second?.quota))
    await (await ask(mine, model, { conversation: id })).text()
    expectAllOfIt(await leave(mine, model, { conversation: id }))
  })

  test('what an upstream counts later, when an answer is read, counts from then on', async () => {
    const id = newId()
    const model = await servedBy([
      turnOf({ id, usage: null }).unstreamed,
      turnOf({ id }).unstreamed,
      turnOf({ id: 'resp_cut', ends: false }).stream,
    ])
    await (await ask(mine, model, {})).text()
    const headers = { authorization: `Bearer sk-${mine.key}` }
    expect((await fetch(`${app.url}/v1/responses/${id}`, { headers })).status).toBe(200)
    expectAllOfIt(await leave(mine, model, { previous_response_id: id }))
  })

  test('a figure that cannot be written costs no more than the estimate', async () => {
    const id = newId()
    const longer = turnOf({ id, usage: { input_tokens: 2 * read, output_tokens: written } }).unstreamed
    const model = await servedBy([
      turnOf({ id }).unstreamed,
      longer,
      longer,
      turnOf({ id: 'resp_cut', ends: false }).stream,
    ])
    await (await ask(mine, model, {})).text()
    await app.pool.query(
      `alter table upstream_objects add constraint unwritable check (conversation_tokens < ${2 * read}) not valid`,
    )
    try {
      const headers = { authorization: `Bearer sk-${mine.key}` }
      expect((await fetch(`${app.url}/v1/responses/${id}`, { headers })).status).toBe(200)
      expect((await ask(mine, model, { conversation: id })).status).toBe(200)
      expectAllOfIt(await leave(mine, model, { previous_response_id: id }))
    } finally {
      await app.pool.query('alter table upstream_objects drop constraint unwritable')
    }
  })

  test('references to items count as the longest conversation that they stand in, and rows of older versions nothing', async () => {
    const [id, longer] = [newId(), newId()]
    const model = await servedBy([
      turnOf({ id }).unstreamed,
      turnOf({ id: longer, usage: { input_tokens: 2 * read, output_tokens: written } }).unstreamed,
      turnOf({ id: 'resp_cut', ends: false }).stream,
    ])
    await (await ask(mine, model, {})).text()
    await (await ask(mine, model, {})).text()
    const goOn = { role: 'user', content: 'go on' }
    const input = [{ type: 'item_reference', id: `msg_${id}` }, goOn]
    expectAllOfIt(await leave(mine, model, { input }))
    expectAllOfIt(await leave(mine, model, { input: [{ id: `msg_${longer}` }, ...input] }), 2 * read + written)
    expectAllOfIt(await leave(mine, model, { input, previous_response_id: longer }), 2 * read + written)
    await app.pool.query('update upstream_objects set conversation_tokens = null where id = any($1)', [
      [id, `msg_${id}`],
    ])
    for (const more of [{ previous_response_id: id }, { input }])
      expect((await leave(mine, model, more))?.prompt_tokens).toBeLessThan(50)
  })

  test('a thread of Anthropic’s clients', async () => {
    const usage = { input_tokens: 60_000, cache_read_input_tokens: 40_000, output_tokens: written }
    const message = { id: 'msg_thread_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' }
    const first = json({ ...message, content: [{ type: 'text', text: 'yes' }], usage })
    const begun = { ...message, id: 'msg_thread_2', content: [], stop_reason: null }
    const delta = (text: string) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
    const steps: Step[] = [
      event('message_start', { message: begun }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      ...wordsOf(written).map(delta),
      hang,
    ]
    const model = await servedBy([first, { steps }], { type: 14 })
    await (await ask(mine, model, { thread: {} }, { by: messages })).text()
    const thread = { previous_message_id: message.id }
    expectAllOfIt(await leave(mine, model, { thread }, { by: messages }))
  })

  test('an open socket, whose own turns nobody stores and are sent again', async () => {
    const id = newId()
    const model = await servedBy([
      turnOf({ id }).unstreamed,
      turnOf({ id: newId(), store: false }).stream,
      turnOf({ id: newId(), store: false, usage: null }).stream,
    ])
    await (await ask(mine, model, {})).text()
    const headers = { authorization: `Bearer sk-${mine.key}` }
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/v1/responses`, { headers })
    const ended: string[] = []
    socket.on('message', (data: Buffer) => {
      const { type, response } = JSON.parse(data.toString()) as { type: string; response?: { id: string } }
      if (type === 'response.completed' && response) ended.push(response.id)
    })
    await once(socket, 'open')
    const create = async (previous: string | undefined) => {
      const count = ended.length
      const body = { type: 'response.create', model, input: 'hi', store: false, previous_response_id: previous }
      socket.send(JSON.stringify(body))
      await expect.poll(() => ended.length).toBe(count + 1)
    }
    await create(id)
    await create(ended.at(-1))
    socket.close()
    const { prompt_tokens: prompt } = (await consumed(app)).at(-1) ?? {}
    expect(prompt).toBeGreaterThan(read + 2 * written)
    expect(prompt).toBeLessThan(read + 3 * written + 30)
  })

  test.each([
    ['stored by the gateway', 14],
    ['by chat completions', 43],
  ])('but not twice for one that is sent along: %s', async (_, type) => {
    const { model } = await serve(app, { type })
    await setOptions(app, { ModelRatio: `{"${model}":1}`, CompletionRatio: `{"${model}":1}` })
    const say = async (more: object) => (await (await ask(mine, model, more)).json()) as { id: string }
    const { id } = await say({ input: '[[usage=100000:40]]' })
    await say({ input: '[[nousage]]', previous_response_id: id })
    expect((await consumed(app)).at(-1)?.prompt_tokens).toBeLessThan(200)
  })
})

describe('six calls at once that go on from what the upstream keeps', () => {
  const most = 3
  // Three can be paid, a fourth cannot.
  const enough = (read + written) * (most + 0.5)

  async function rush(stream: boolean, payer: (quota: number) => Promise<TestToken>) {
    const id = newId()
    const form = stream ? 'stream' : 'unstreamed'
    const model = await servedBy([turnOf({ id }).unstreamed, turnOf({ id: newId() })[form]])
    const token = await payer(enough + read + written)
    expect((await ask(token, model, {})).status).toBe(200)
    const asked = scripted.received.length
    const answers = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const more = { previous_response_id: id, max_output_tokens: 100, stream }
        const reply = await ask(token, model, more, { at: index % 2 === 0 ? app : other })
        await reply.text()
        return reply.status
      }),
    )
    await expect.poll(() => openHolds(app)).toBe(0)
    return { token, served: answers.filter((status) => status === 200).length, asked: scripted.received.length - asked }
  }

  describe.each([
    ['streamed', true],
    ['unstreamed', false],
  ])('%s', (_, stream) => {
    test('are served as far as the balance goes, which ends above zero', async () => {
      const done = await rush(stream, async (quota) => app.make.token(await app.make.user({ quota })))
      expect(done).toMatchObject({ served: most, asked: most })
      expect((await balanceOf(done.token))?.quota).toBe(enough - most * (read + written))
    })

    test('are served as far as the quota of the token goes', async () => {
      const done = await rush(stream, async (remainQuota) =>
        app.make.token(await app.make.user({ quota: 1_000_000_000 }), { remainQuota }),
      )
      expect(done).toMatchObject({ served: most, asked: most })
      expect((await balanceOf(done.token))?.remain).toBe(enough - most * (read + written))
    })

    test('are served as far as a spend cap goes', async () => {
      const done = await rush(stream, async (amount) => {
        const user = await app.make.user({ quota: 1_000_000_000 })
        await app.make.spendCap({ scope: 'user', id: user.id }, { amount })
        return app.make.token(user)
      })
      expect(done).toMatchObject({ served: most, asked: most })
    })
  })
})

test('the limit of an answer is lowered to what is left beside the conversation', async () => {
  const id = newId()
  const model = await servedBy([turnOf({ id }).unstreamed, turnOf({ id: newId() }).unstreamed])
  const token = await app.make.token(await app.make.user({ quota: 2 * (read + written) + 3000 }))
  await (await ask(token, model, {})).text()
  const reply = await ask(token, model, { previous_response_id: id, max_output_tokens: 20_000 })
  expect(reply.status).toBe(200)
  const lowered = Number(reply.headers.get('x-max-tokens-lowered'))
  expect(lowered).toBeGreaterThan(100)
  expect(lowered).toBeLessThan(3100)
})

test('what the conversation is too long for is refused before the upstream is asked, a compaction too', async () => {
  const id = newId()
  const model = await servedBy([turnOf({ id }).unstreamed])
  const token = await app.make.token(await app.make.user({ quota: 1.5 * (read + written) }))
  await (await ask(token, model, {})).text()
  const asked = scripted.received.length
  for (const path of ['/v1/responses', '/v1/responses/compact']) {
    const reply = await app.relay(token, path, { model, input: 'hi', previous_response_id: id })
    expect(reply.status).toBe(403)
  }
  expect(scripted.received.length).toBe(asked)
})

test('a prompt that is counted here counts with the conversation', async () => {
  const id = newId()
  const notFound: Play = { status: 404, steps: ['{}'] }
  const model = await servedBy([turnOf({ id }).unstreamed, notFound])
  await (await ask(mine, model, {})).text()
  const body = { model, input: 'hi', previous_response_id: id }
  const reply = await app.relay(mine, '/v1/responses/input_tokens', body)
  expect(((await reply.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(read + written)
})

test('how prompts are counted is not learnt from what was not counted here', async () => {
  const id = newId()
  const model = await servedBy([turnOf({ id }).unstreamed])
  const token = await richToken(app)
  await (await ask(token, model, {})).text()
  const long = 'many words '.repeat(300)
  await (await ask(token, model, { input: long, previous_response_id: id })).text()
  const { user_id: user } = (await consumed(app)).at(-1) ?? {}
  expect(app.services.holds.lengths.expect(`${user}:${token.id}`, model).promptRatio).toBe(1)
})
