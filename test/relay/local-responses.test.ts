import { randomUUID } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { keepResponse } from '#features/stored-responses/local-responses.ts'
import type { TestToken } from '#test/support/factories.ts'
import { json } from '#test/support/scripted-upstream.ts'
import { serve, withOptions } from './serve.ts'
import { consumed, eventually, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { richToken, startScriptedRelay } from './relay-world.ts'

const {
  app,
  scripted,
  token: mine,
} = await startScriptedRelay({ environment: { BODY_MEMORY_MB: '32', BODY_MAX_MB: '2', BODY_WAIT_SECONDS: '0' } })
const theirs = await richToken(app)

const responses = callerDialects[1] as CallerDialect
const ask = (token: TestToken, model: string, more: object) =>
  say(app, responses, { token, body: { model, input: 'hi', ...more } })

describe('an answer that the gateway keeps, since its upstream does not', () => {
  const upstreams = [
    { name: 'Anthropic', type: 14 },
    { name: 'Gemini', type: 24 },
    { name: 'chat completions only', type: 43 },
  ]
  /** What a plain second turn carries: who spoke, and what. */
  const spoken = (): string => JSON.stringify(app.upstream.requests.at(-1)?.body)
  const call = (token: TestToken, path: string, method = 'GET') =>
    fetch(`${app.url}/v1/responses/${path}`, { method, headers: { authorization: `Bearer sk-${token.key}` } })
  type Answer = { id: string; store: boolean; previous_response_id: string | null; output: { id: string }[] }
  const read = async (reply: Response, stream: boolean): Promise<Answer> => {
    const text = await reply.text()
    expect(reply.status, text).toBe(200)
    const closing = /event: response\.completed\ndata: (.*)/.exec(text)?.[1]
    return stream ? (JSON.parse(closing ?? '').response as Answer) : (JSON.parse(text) as Answer)
  }

  test.each(upstreams)('is gone on from by its id and by those of its items: $name', async ({ type }) => {
    const { model } = await serve(app, { type })
    for (const stream of [false, true]) {
      const first = await read(await ask(mine, model, { input: 'the word is plover', stream }), stream)
      expect(first.store).toBe(true)
      const second = await read(
        await ask(mine, model, { input: 'go on', previous_response_id: first.id, stream }),
        stream,
      )
      expect(second.previous_response_id).toBe(first.id)
      expect(spoken()).toMatch(/the word is plover.*You said: the word is plover.*go on/s)
      const third = await read(
        await ask(mine, model, { input: 'and on', previous_response_id: second.id, stream }),
        stream,
      )
      expect(spoken()).toMatch(/the word is plover.*go on.*and on/s)
      const referring = [
        { role: 'user', content: 'the word is plover' },
        { type: 'item_reference', id: first.output[0]?.id },
        { role: 'user', content: 'by reference' },
      ]
      await read(await ask(mine, model, { input: referring, stream }), stream)
      expect(spoken()).toMatch(/the word is plover.*You said: the word is plover.*by reference/s)
      expect(await (await call(mine, third.id)).json()).toMatchObject({ id: third.id, store: true })
      const page = (await (await call(mine, `${third.id}/input_items?order=asc&limit=4`)).json()) as {
        data: object[]
        has_more: boolean
      }
      expect(page.data).toHaveLength(4)
      expect(page.has_more).toBe(true)
      expect(JSON.stringify(page.data[0])).toContain('the word is plover')
    }
  })

  test('belongs to its maker, and is gone when that one deletes it', async () => {
    const { model } = await serve(app, { type: 14 })
    const first = await read(await ask(mine, model, { input: 'hello' }), false)
    for (const [named, status] of [
      [{ previous_response_id: first.id }, 400],
      [{ input: [{ type: 'item_reference', id: first.output[0]?.id }] }, 404],
    ] as const) {
      const reply = await ask(theirs, model, named)
      expect(reply.status).toBe(status)
      responses.readError(await reply.json())
    }
    for (const path of [first.id, `${first.id}/input_items`]) expect((await call(theirs, path)).status).toBe(404)
    expect((await call(theirs, first.id, 'DELETE')).status).toBe(404)
    expect(await (await call(mine, first.id, 'DELETE')).json()).toEqual({
      id: first.id,
      object: 'response',
      deleted: true,
    })
    expect((await call(mine, first.id)).status).toBe(404)
    expect((await ask(mine, model, { previous_response_id: first.id })).status).toBe(400)
  })

  test('is sealed in the database, expires, and makes room for later ones', async () => {
    const { model } = await serve(app, { type: 14 })
    const owner = await app.make.token(await app.make.user({ quota: 1_000_000_000 }))
    const first = await read(await ask(owner, model, { input: 'a secret plover' }), false)
    const { rows } = await app.pool.query('select sealed, bytes from local_responses where id = $1', [first.id])
    expect(rows[0].sealed).not.toContain('plover')
    await app.pool.query("update local_responses set used_at = now() - interval '31 days' where id = $1", [first.id])
    expect((await ask(owner, model, { previous_response_id: first.id })).status).toBe(400)

    await app.pool.query(
      "update local_responses set used_at = now() - interval '1 day', bytes = 1024 * 1024 where id = $1",
      [first.id],
    )
    await withOptions(app, { 'global.stored_responses_megabytes': '1' }, async () => {
      const second = await read(await ask(owner, model, { input: 'later' }), false)
      expect((await call(owner, first.id)).status).toBe(404)
      expect((await call(owner, second.id)).status).toBe(200)
    })
  })

  test('is not kept where the caller or the operator says no, and the answer says so', async () => {
    const { model } = await serve(app, { type: 24 })
    const response = await read(await ask(mine, model, { store: false }), false)
    expect(response.store).toBe(false)
    expect((await call(mine, response.id)).status).toBe(404)
    await withOptions(app, { 'global.stored_responses_days': '0' }, async () => {
      for (const stream of [false, true]) {
        const off = await read(await ask(mine, model, { store: true, stream }), stream)
        expect(off.store).toBe(false)
        expect((await call(mine, off.id)).status).toBe(404)
      }
    })
  })

  const kilobyte = 1024
  const megabyte = 1024 * kilobyte
  const heldBytes = () => app.services.bodies.budget.heldBytes
  const reference = (id: string | undefined) => ({ type: 'item_reference', id })
  /** A stored answer with a message of so many letters. */
  const askLong = async (length: number) => {
    const content = [{ type: 'text', text: 'x'.repeat(length) }]
    const usage = { input_tokens: 3, output_tokens: 1 }
    const message = { id: 'msg', type: 'message', role: 'assistant', content, stop_reason: 'end_turn', usage }
    const { model } = await serve(app, { type: 14, baseUrl: scripted.play(json(message)) })
    return read(await ask(mine, model, { input: 'hello' }), false)
  }
  const newOwner = async () => app.make.token(await app.make.user({ quota: 1_000_000_000 }))

  test('makes no call larger than a body may be, by its history or by an item named many times', async () => {
    const { model } = await serve(app, { type: 14 })
    const first = await askLong(400 * kilobyte)
    const before = app.upstream.requests.length
    const item = first.output[0]?.id
    for (const named of [
      { input: Array.from({ length: 6 }, () => reference(item)) },
      { previous_response_id: first.id, input: Array.from({ length: 5 }, () => reference(item)) },
    ]) {
      const reply = await ask(mine, model, named)
      expect(reply.status).toBe(413)
      responses.readError(await reply.json())
    }
    expect(app.upstream.requests.length).toBe(before)
    const few = { previous_response_id: first.id, input: [reference(item), reference(item)] }
    expect((await ask(mine, model, few)).status).toBe(200)
  })

  test('holds memory while a call goes on from it, and gives it back', async () => {
    const first = await askLong(400 * kilobyte)
    const gate = Promise.withResolvers<void>()
    const later = await serve(app, { type: 14, baseUrl: scripted.play({ status: 400, steps: [gate.promise] }) })
    await expect.poll(heldBytes).toBe(0)
    const reply = ask(mine, later.model, { previous_response_id: first.id })
    const expected = 3 * 400 * kilobyte
    const held = await eventually(heldBytes, (bytes) => bytes >= expected)
    gate.resolve()
    await (await reply).text()
    expect(held).toBeGreaterThanOrEqual(expected)
    await expect.poll(heldBytes).toBe(0)
  })

  test('is not read where there is no memory for it', async () => {
    const { model } = await serve(app, { type: 14 })
    const first = await read(await ask(mine, model, { input: 'hello' }), false)
    await app.pool.query('update local_responses set bytes = $2 where id = $1', [first.id, 8 * megabyte])
    await expect.poll(heldBytes).toBe(0)
    const others = app.services.bodies.budget.open('192.0.2.1')
    await others.raise(20 * megabyte)
    const uses = [
      () => call(mine, first.id),
      () => call(mine, `${first.id}/input_items`),
      () => ask(mine, model, { previous_response_id: first.id }),
      () => ask(mine, model, { input: [reference(first.output[0]?.id)] }),
    ]
    for (const use of uses) {
      const reply = await use()
      expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5'])
      await reply.text()
    }
    others.release()
    for (const use of uses) expect((await use()).status).toBe(200)
  })

  test('counts by what it takes unpacked', async () => {
    const { model } = await serve(app, { type: 14 })
    const owner = await newOwner()
    const first = await read(await ask(owner, model, { input: 'x'.repeat(300 * kilobyte) }), false)
    const { rows } = await app.pool.query('select bytes from local_responses where id = $1', [first.id])
    expect(rows[0].bytes).toBeGreaterThan(300 * kilobyte)
    await withOptions(app, { 'global.stored_responses_megabytes': '1' }, async () => {
      const large = await read(await ask(owner, model, { input: 'x'.repeat(1200 * kilobyte) }), false)
      expect(large.store).toBe(false)
      expect((await call(owner, large.id)).status).toBe(404)
    })
  })

  test('is not unpacked beyond what is kept, nor are more than a conversation may take', async () => {
    const { model } = await serve(app, { type: 14 })
    const owner = await newOwner()
    const first = await read(await ask(owner, model, { input: 'hello' }), false)
    const { rows } = await app.pool.query('select user_id from local_responses where id = $1', [first.id])
    const input = [{ type: 'reasoning', text: 'a'.repeat(17 * megabyte) }]
    const turn = { input, response: { id: 'resp_huge', output: [{ type: 'message', id: 'msg_huge' }] } }
    const stored = {
      id: 'resp_huge',
      userId: rows[0].user_id,
      previousId: null,
      chain: [],
      itemIds: ['msg_huge'],
      turn,
    }
    const deps = { pool: app.pool, secrets: app.services.secrets }
    expect(await keepResponse(deps, { ...stored, mostBytes: 1024 * megabyte })).toBe(false)
    const packed = deflateRawSync(JSON.stringify(turn), { level: 1 }).toString('base64')
    await app.pool.query(
      `insert into local_responses (id, user_id, item_ids, bytes, sealed) values ($1, $2, $3::text[], $4, $5)`,
      [stored.id, stored.userId, stored.itemIds, packed.length, app.services.secrets.encrypt(packed)],
    )
    for (const path of [stored.id, `${stored.id}/input_items`]) expect((await call(owner, path)).status).toBe(404)
    expect((await ask(owner, model, { previous_response_id: stored.id })).status).toBe(400)
    expect((await ask(owner, model, { input: [reference('msg_huge')] })).status).toBe(404)

    const second = await read(await ask(owner, model, { input: 'hello' }), false)
    const both = { input: [reference(first.output[0]?.id), reference(second.output[0]?.id)] }
    expect((await ask(owner, model, both)).status).toBe(200)
    await app.pool.query('update local_responses set bytes = $2 where id = $1', [first.id, 64 * megabyte])
    await app.pool.query("update local_responses set used_at = now() - interval '1 hour' where id = $1", [first.id])
    expect((await ask(owner, model, both)).status).toBe(404)
  })

  test('is kept beside others of its user that make room for theirs at the same time', async () => {
    const { userId } = await newOwner()
    const deps = { pool: app.pool, secrets: app.services.secrets }
    const chains = Array.from({ length: 8 }, (): string[] => [])
    for (let round = 0; round < 12; round++) {
      const calls = chains.map(async (chain) => {
        const id = `resp_${randomUUID()}`
        const turn = { input: [], response: { id, output: [{ type: 'message', text: 'x'.repeat(20 * kilobyte) }] } }
        const own = { id, userId, previousId: chain.at(-1) ?? null, chain: [...chain].toReversed() }
        expect(await keepResponse(deps, { ...own, itemIds: [], turn, mostBytes: 400 * kilobyte })).toBe(true)
        chain.push(id)
      })
      await Promise.all(calls)
    }
  })

  test('is kept whatever it says, however deep its tools nest, with every digit', async () => {
    const { model } = await serve(app, { type: 14 })
    let parameters: object = { type: 'object' }
    while (JSON.stringify(parameters).split('{').length < 253)
      parameters = { type: 'object', properties: { a: parameters } }
    const tools = [{ type: 'function', name: 'deep', parameters }]
    for (const stream of [false, true]) {
      const more = { instructions: 'metadata: none', stream }
      const first = await read(await ask(mine, model, { input: 'where data: is {}', ...more }), stream)
      const deep = await read(await ask(mine, model, { input: 'deep', tools, ...more }), stream)
      for (const { id, store } of [first, deep]) {
        expect(store).toBe(true)
        expect((await ask(mine, model, { previous_response_id: id })).status).toBe(200)
      }
    }
    const digits = '12345678901234567890'
    const body = `{"model":"${model}","input":[{"role":"user","content":"hi","mark":${digits}}]}`
    const headers = { authorization: `Bearer sk-${mine.key}`, 'content-type': 'application/json' }
    const exact = await read(await fetch(`${app.url}/v1/responses`, { method: 'POST', headers, body }), false)
    expect(await (await call(mine, `${exact.id}/input_items`)).text()).toContain(`"mark":${digits}`)
  })
})

describe('a server that speaks the chat form alone', () => {
  const chat = { choices: [{ message: { content: 'A plover.' }, finish_reason: 'stop' }] }

  test('answers callers of responses too, where it has no path for them', async () => {
    const paths: string[] = []
    const baseUrl = scripted.play((path) => {
      paths.push(path)
      return path.endsWith('/responses') ? { status: 404, steps: ['{"detail":"Not Found"}'] } : json(chat)
    })
    const { model } = await serve(app, { type: 1, baseUrl })
    const reply = await ask(mine, model, {})
    expect(reply.status).toBe(200)
    expect(await reply.json()).toMatchObject({ output: [{ content: [{ text: 'A plover.' }] }] })
    expect(paths).toEqual(['/v1/responses', '/v1/chat/completions'])
  })

  test('is not asked in it for a body that passes through, which has no other form', async () => {
    const paths: string[] = []
    const baseUrl = scripted.play((path) => {
      paths.push(path)
      return { status: 404, steps: ['{"detail":"Not Found"}'] }
    })
    const { model } = await serve(app, { type: 1, baseUrl, setting: '{"pass_through_body_enabled":true}' })
    expect((await ask(mine, model, {})).status).toBe(404)
    expect(paths).toEqual(['/v1/responses'])
  })

  test('is not asked in it for what the call names and the server does not know', async () => {
    const paths: string[] = []
    const message = "Previous response with id 'resp_1' not found."
    const error = { message, type: 'invalid_request_error', param: 'previous_response_id', code: null }
    const baseUrl = scripted.play((path) => {
      paths.push(path)
      return { status: 404, steps: [JSON.stringify({ error })] }
    })
    const { model } = await serve(app, { type: 1, baseUrl })
    expect((await ask(mine, model, {})).status).toBe(404)
    expect(paths).toEqual(['/v1/responses'])
  })
})

describe('a conversation that is compacted', () => {
  const compact = (model: string, body: object) =>
    app.relay(mine, '/v1/responses/compact', { model, input: 'the bird is a plover', ...body })
  type Compacted = { output: { type: string; encrypted_content?: string }[] }

  test('is summed up by its model where the upstream turns out not to do it, and read by every other', async () => {
    const chat = {
      choices: [{ message: { content: 'A plover.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 30, completion_tokens: 4 },
    }
    const lacking = scripted.play((path) => (path.endsWith('/compact') ? { status: 404, steps: ['{}'] } : json(chat)))
    const { model } = await serve(app, { type: 1, baseUrl: lacking })
    const reply = await compact(model, {})
    const { output } = (await reply.json()) as Compacted
    expect(output.map(({ type }) => type)).toEqual(['message', 'compaction'])
    expect((await consumed(app)).at(-1)).toMatchObject({ prompt_tokens: 30, completion_tokens: 4 })
    for (const type of [1, 14, 24, 43]) {
      const other = await serve(app, { type })
      expect((await ask(mine, other.model, { input: [...output, { role: 'user', content: 'go on' }] })).status).toBe(
        200,
      )
      expect(JSON.stringify(app.upstream.requests.at(-1)?.body)).toContain('A plover.')
    }
  })

  test.each([14, 24, 43])(
    'by a trigger at its end is answered by one compaction, streamed or not: %i',
    async (type) => {
      const { model } = await serve(app, { type })
      for (const stream of [false, true]) {
        const input = [{ role: 'user', content: 'the bird is a plover' }, { type: 'compaction_trigger' }]
        const reply = await ask(mine, model, { input, stream })
        const text = await reply.text()
        expect(reply.status, text).toBe(200)
        expect(reply.headers.get('x-translation-loss')).toBeNull()
        const closing = stream ? (/event: response\.completed\ndata: (.*)/.exec(text)?.[1] ?? '') : text
        const answer = JSON.parse(closing) as Compacted & { response?: Compacted }
        const { output } = answer.response ?? answer
        expect(output.map((item) => item.type)).toEqual(['compaction'])
        expect(JSON.stringify(app.upstream.requests.at(-1)?.body)).toContain('Summarise the conversation so far')
        const next = await ask(mine, model, { input: [...output, { role: 'user', content: 'go on' }] })
        expect(next.status).toBe(200)
        expect(JSON.stringify(app.upstream.requests.at(-1)?.body)).toContain('replaced by a summary of it')
      }
    },
  )

  test('is not asked again in another form of an upstream that does not know the model', async () => {
    const paths: string[] = []
    const failure = { error: { message: 'no such model', type: 'invalid_request_error', code: 'model_not_found' } }
    const unknowing = scripted.play((path) => {
      paths.push(path)
      return { status: 404, steps: [JSON.stringify(failure)] }
    })
    const { model } = await serve(app, { type: 1, baseUrl: unknowing })
    const reply = await compact(model, {})
    expect({ status: reply.status, body: await reply.json() }).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found' } },
    })
    expect(paths).toEqual(['/v1/responses/compact'])
  })

  test('costs nothing where nothing was summed up', async () => {
    const { model } = await serve(app, { type: 14, does: 'blank' })
    const rows = (await consumed(app)).length
    expect((await compact(model, {})).status).toBe(500)
    expect((await compact(model, { input: [] })).status).toBe(400)
    expect((await compact(model, { previous_response_id: 'resp_unknown' })).status).toBe(400)
    expect((await consumed(app)).length).toBe(rows)
  })
})
