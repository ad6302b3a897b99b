import { beforeEach, describe, expect, test } from 'vitest'
import { serve, setOptions, withOptions } from './serve.ts'
import type { TestToken } from '#test/support/factories.ts'
import { chat, consumed, eventually, say, type CallerDialect, callerDialects } from './caller-dialects.ts'
import { startRelay } from './relay-world.ts'

const { app, token } = await startRelay()
beforeEach(() => app.upstream.clear())

const [, responses, messages, generate] = callerDialects as [CallerDialect, CallerDialect, CallerDialect, CallerDialect]

/** The model named to the upstream: in the body, or in the path. */
function askedModels(): unknown[] {
  return app.upstream.requests.map(({ body, path }) => {
    const { model } = body as { model?: string }
    return model ?? decodeURIComponent(/models\/([^:]+):/.exec(path)?.[1] ?? '')
  })
}

const lastRow = async () => {
  const row = (await consumed(app)).at(-1)
  if (!row) throw new Error('no row')
  return row
}

describe('a channel’s own names', () => {
  test('are followed from link to link, and the log keeps what the caller wrote', async () => {
    const { model } = await serve(app)
    for (const type of [1, 14, 24]) {
      app.upstream.clear()
      const mapping = { [model]: 'middle', middle: `final-${type}`, other: 'unused' }
      const { model: own } = await serve(app, { type, modelMapping: JSON.stringify({ ...mapping }) })
      const chain = JSON.stringify({ [own]: 'middle', middle: `final-${type}` })
      await app.pool.query('update channels set model_mapping = $1 where models = $2', [chain, own])
      await app.services.channels.reload()
      for (const by of callerDialects) {
        const reply = await say(app, by, { token, model: own })
        expect(reply.status, await reply.clone().text()).toBe(200)
      }
      expect(askedModels()).toEqual(callerDialects.map(() => `final-${type}`))
      const row = await lastRow()
      expect(row.model_name).toBe(own)
      expect(row.other).toMatchObject({ is_model_mapped: true, upstream_model_name: `final-${type}` })
    }
  })

  test('that stay as they are are no mapping, that go in circles are an error, reported in every dialect', async () => {
    const self = await serve(app, { modelMapping: '{}' })
    await app.pool.query('update channels set model_mapping = $1 where id = $2', [
      JSON.stringify({ [self.model]: self.model }),
      self.ids[0],
    ])
    await app.services.channels.reload()
    expect((await say(app, chat, { token, model: self.model })).status).toBe(200)
    expect((await lastRow()).other['is_model_mapped']).toBeUndefined()

    for (const [mapping, message] of [
      ['{"a":"b","b":"a","MODEL":"a"}', 'model_mapping_contains_cycle'],
      ['{"broken', 'unmarshal_model_mapping_failed'],
    ] as const) {
      const { model, ids } = await serve(app, {})
      await app.pool.query('update channels set model_mapping = $1 where id = $2', [
        mapping.replace('MODEL', model),
        ids[0],
      ])
      await app.services.channels.reload()
      app.upstream.clear()
      for (const by of callerDialects) {
        const reply = await say(app, by, { token, model })
        expect(reply.status).toBe(by.dialect === 'responses' ? 400 : 500)
        const error = by.readError(await reply.json())
        expect(error.message).toContain(message)
        if (by === chat) expect(error.code).toBe('model_mapped_error')
      }
      expect(app.upstream.total).toBe(0)
    }
  })
})

test('answers carry the name the caller wrote, passed through and translated, streamed and not', async () => {
  for (const type of [1, 14, 24]) {
    const { model, ids } = await serve(app, { type })
    await app.pool.query('update channels set model_mapping = $1 where id = $2', [
      JSON.stringify({ [model]: 'behind-2026' }),
      ids[0],
    ])
    await app.services.channels.reload()
    for (const by of callerDialects) {
      for (const stream of [false, true]) {
        const reply = await say(app, by, { token, model, stream })
        const text = await reply.text()
        const named = [...text.matchAll(/"(?:model|modelVersion)":"([^"]*)"/g)].map(([, name]) => name)
        expect(named.length, `${type} ${by.dialect} ${text.slice(0, 300)}`).toBeGreaterThan(0)
        expect(new Set(named), `${type} ${by.dialect}`).toEqual(new Set([model]))
      }
    }
  }
})

test('so do answers of other operations, of which nothing else is changed', async () => {
  const { model } = await serve(app, { type: 1, upstreamModel: 'behind-2026' })
  for (const [path, body] of [
    ['/v1/embeddings', { input: 'hi', encoding_format: 'float' }],
    ['/v1/moderations', { input: 'hi' }],
  ] as const) {
    const text = await (await app.relay(token, path, { model, ...body })).text()
    expect(text).toContain(`"model":"${model}"`)
    expect(text).not.toContain('behind-2026')
  }
  for (const type of [1, 3]) {
    const { model: stored } = await serve(app, { type, upstreamModel: 'behind-2026' })
    const made = await app.relay(token, '/v1/responses', { model: stored, input: 'hi' })
    const { id } = (await made.json()) as { id: string }
    const headers = { authorization: `Bearer sk-${token.key}` }
    const read = await fetch(`${app.url}/v1/responses/${id}`, { headers })
    expect(await read.json()).toMatchObject({ id, model: stored })
  }
})

describe('which name is priced', () => {
  test('the one sent upstream, or the caller’s where the operator bills so', async () => {
    const { model, ids } = await serve(app, { does: 'usage=1000:100' })
    await app.pool.query('update channels set model_mapping = $1 where id = $2', [
      JSON.stringify({ [model]: 'behind' }),
      ids[0],
    ])
    await app.services.channels.reload()
    const prices = { ModelRatio: JSON.stringify({ [model]: 2, behind: 3 }), CompletionRatio: '{}' }
    await withOptions(app, prices, async () => {
      await say(app, chat, { token, model })
      // (1000 + 100) × 3
      expect((await lastRow()).quota).toBe(3300)
      await setOptions(app, { redirect_billing_enabled: 'true' })
      await say(app, chat, { token, model })
      // (1000 + 100) × 2
      expect((await lastRow()).quota).toBe(2200)
      await setOptions(app, { redirect_billing_enabled: 'false' })
    })
  })

  test('a model without a price is refused, with a hint for who can set one, and costs nothing', async () => {
    await withOptions(app, { SelfUseModeEnabled: 'false' }, async () => {
      const { model } = await serve(app, {})
      const admin = await app.make.token(await app.make.user({ role: 10 }))
      for (const by of callerDialects) {
        const reply = await say(app, by, { token, model })
        expect(reply.status).toBe(500)
        expect(by.readError(await reply.json()).message).toContain(`模型 ${model} 尚未设置价格`)
        expect(by.readError(await (await say(app, by, { token: admin, model })).json()).message).toContain('自用模式')
      }
      expect(app.upstream.total).toBe(0)
    })
  })
})

describe('prefixes and virtual names', () => {
  test('a prefix leads to its channels alone, whatever their priority; the bare name to all', async () => {
    const { model, ids } = await serve(app, { priority: 100 }, { modelPrefix: 'east/' })
    for (const by of callerDialects) {
      const reply = await say(app, by, { token, model: `east/${model}` })
      expect(reply.status, await reply.clone().text()).toBe(200)
      const row = await lastRow()
      expect(row).toMatchObject({ channel_id: ids[1], model_name: `east/${model}` })
      expect(row.other['is_model_mapped']).toBeUndefined()
    }
    expect(new Set(askedModels())).toEqual(new Set([model]))
    await say(app, chat, { token, model })
    expect((await lastRow()).channel_id).toBe(ids[0])
    const reply = await say(app, chat, { token, model: 'east/no-such-model' })
    expect(reply.status).toBe(503)
  })

  test('a limit on models knows the name with and without its prefix', async () => {
    const { model } = await serve(app, { modelPrefix: 'west/' })
    const user = await app.make.user()
    for (const modelLimits of [model, `west/${model}`]) {
      const limited = await app.make.token(user, { modelLimits })
      expect((await say(app, chat, { token: limited, model: `west/${model}` })).status).toBe(200)
    }
    const other = await app.make.token(user, { modelLimits: 'something-else' })
    expect((await say(app, chat, { token: other, model: `west/${model}` })).status).toBe(403)
  })

  test('a limit on models holds for the model that draws for a tool, too', async () => {
    const { model } = await serve(app, {})
    const user = await app.make.user()
    const draw = async (modelLimits: string) => {
      const limited = await app.make.token(user, { modelLimits })
      const tools = [{ type: 'image_generation', model: 'gpt-image-1', size: '1024x1024' }]
      return say(app, responses, { token: limited, model, body: { model, input: 'draw a cat', tools } })
    }
    const refused = await draw(model)
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('gpt-image-1')])
    const served = await draw(`${model},gpt-image-1`)
    expect(served.status, await served.text()).toBe(200)
  })

  test('spend caps and plans know the name with and without its prefix', async () => {
    const { model } = await serve(app, { modelPrefix: 'south/', does: 'usage=10:2' })
    const name = `south/${model}`
    const ask = (asking: TestToken) => say(app, chat, { token: asking, model: name })
    for (const models of [[model], [name], [`${model}*`]]) {
      const user = await app.make.user()
      const capped = await app.make.token(user)
      await app.make.spendCap({ scope: 'token', id: capped.id }, { amount: 10, models })
      expect((await ask(capped)).status, models[0]).toBe(429)
      const subscriber = await app.make.user({ quota: 0 })
      await app.make.subscription(subscriber, { windows: [{ amount: 1_000_000 }], models })
      expect((await ask(await app.make.token(subscriber))).status, models[0]).toBe(200)
    }
    const user = await app.make.user()
    const capped = await app.make.token(user)
    const cap = await app.make.spendCap({ scope: 'token', id: capped.id }, { amount: 1_000_000, models: [model] })
    const others = await app.make.spendCap({ scope: 'token', id: capped.id }, { amount: 10, models: ['south'] })
    expect((await ask(capped)).status).toBe(200)
    const counted = 'select cap_id, amount::int from spend_cap_buckets where cap_id = any ($1)'
    await eventually(
      async () => (await app.pool.query(counted, [[cap, others]])).rows,
      (rows) => rows.length === 1 && rows[0].cap_id === cap && rows[0].amount === 450,
    )
    const messages = [{ role: 'user', content: 'hi' }]
    const explained = await app.relay(capped, '/v1/explain', { model: name, messages })
    expect(await explained.json()).toMatchObject({ spend_caps: [{ models: [model], spent: 450 }] })
  })

  test('a virtual name goes to its models in their order, to the next when one has failed everywhere', async () => {
    const { model: first } = await serve(app, { does: 'status=500' })
    const { model: second } = await serve(app, { does: 'usage=10:2' })
    const mapping = {
      best: [
        { model: 'without-any-channel', priorities: 9 },
        { model: second, priorities: 1 },
        { model: first, priorities: 5 },
      ],
    }
    await withOptions(app, { global_model_mapping: JSON.stringify({ mapping }) }, async () => {
      for (const by of callerDialects) {
        app.upstream.clear()
        const reply = await say(app, by, { token, model: 'best' })
        expect(reply.status, await reply.clone().text()).toBe(200)
        expect(askedModels()).toEqual([first, second])
        const row = await lastRow()
        expect(row).toMatchObject({ model_name: 'best', quota: 450 })
        expect(row.other).toMatchObject({ is_model_mapped: true, upstream_model_name: second })
        const text = await reply.text()
        expect(text).not.toContain(first)
      }
    })
  })
})

describe('what a channel adds to a body', () => {
  test('its overrides, in every form, but never model, stream or what was priced', async () => {
    const paramOverride = JSON.stringify({
      temperature: 0.25,
      model: 'evil',
      stream: false,
      stream_options: null,
      added: { deep: [1] },
      removed: null,
      __proto__: { polluted: 1 },
    })
    for (const type of [1, 14, 24]) {
      const { model } = await serve(app, { type, paramOverride, does: 'lenient' })
      for (const by of callerDialects) {
        app.upstream.clear()
        const body = { ...by.body(model, 'hello', true), removed: 1 }
        const reply = await say(app, by, { token, model, stream: true, body })
        expect(await reply.text(), `${type} ${by.dialect}`).toMatch(by.closing)
        const sent = app.upstream.requests.at(-1)?.body as Record<string, unknown>
        expect(sent).toMatchObject({ temperature: 0.25, added: { deep: [1] } })
        expect(sent).not.toHaveProperty('removed')
        expect(askedModels()).toEqual([model])
      }
    }
  })

  test('its system prompt: instead of the caller’s first one, or before it where the channel says so', async () => {
    const systems: [CallerDialect, object][] = [
      [
        chat,
        {
          messages: [
            { role: 'system', content: 'caller' },
            { role: 'user', content: 'system?' },
          ],
        },
      ],
      [responses, { instructions: 'caller', input: 'system?' }],
      [messages, { system: 'caller', max_tokens: 50, messages: [{ role: 'user', content: 'system?' }] }],
      [generate, { systemInstruction: { parts: [{ text: 'caller' }] }, contents: [{ parts: [{ text: 'system?' }] }] }],
    ]
    for (const type of [1, 14, 24]) {
      const replacing = await serve(app, { type, systemPrompt: 'channel' })
      const leading = await serve(app, { type, systemPrompt: 'channel', setting: '{"system_prompt_override":true}' })
      for (const [by, rest] of systems) {
        const ask = async (model: string, body: object) =>
          (await say(app, by, { token, model, body: { model, ...body } })).text()
        const label = `${type} ${by.dialect}`
        expect(await ask(replacing.model, rest), label).toMatch(/System: channel(?!\\ncaller)/)
        expect(await ask(leading.model, rest), label).toMatch(/System: channel(\\n)+caller/)
        const bare = by.body(replacing.model, 'system?', false)
        expect(await ask(replacing.model, bare), label).toContain('System: channel')
      }
    }
  })

  test('nothing, where bodies are to pass through', async () => {
    const { model, ids } = await serve(app, {
      does: 'lenient',
      paramOverride: '{"temperature":1}',
      systemPrompt: 'channel',
      setting: '{"pass_through_body_enabled":true}',
    })
    await app.pool.query('update channels set model_mapping = $1 where id = $2', [
      JSON.stringify({ [model]: 'mapped' }),
      ids[0],
    ])
    await app.services.channels.reload()
    const body = { ...chat.body(model, 'hello', false), unknown_field: { nested: true } }
    expect((await say(app, chat, { token, body })).status).toBe(200)
    expect(app.upstream.requests.at(-1)?.body).toEqual({ ...body, model: 'mapped' })
  })
})

describe('what is lost in translation', () => {
  test('is named to the caller and in the log; what is not lost is not', async () => {
    const { model: claude } = await serve(app, { type: 14 })
    const lossy = { ...chat.body(claude, 'hello', false), seed: 7, logit_bias: { 1: 2 } }
    for (const stream of [false, true]) {
      const reply = await say(app, chat, { token, body: { ...lossy, stream } })
      await reply.text()
      const named = reply.headers.get('x-translation-loss')?.split(',').toSorted()
      expect(named).toEqual(['logit_bias', 'seed'])
      expect(((await lastRow()).other['losses'] as string[]).toSorted()).toEqual(['logit_bias', 'seed'])
    }
    const plain = await say(app, chat, { token, model: claude })
    expect(plain.headers.get('x-translation-loss')).toBeNull()
    expect((await lastRow()).other['losses']).toBeUndefined()
    const { model: openai } = await serve(app, { type: 1 })
    const native = await say(app, chat, { token, body: { ...lossy, model: openai } })
    expect(native.headers.get('x-translation-loss')).toBeNull()
    expect(app.upstream.requests.at(-1)?.body).toMatchObject({ seed: 7, logit_bias: { 1: 2 } })
  })

  test('is named whatever the caller calls its fields, and the answer comes', async () => {
    const { model: claude } = await serve(app, { type: 14 })
    const odd = { 'héé\r\nset-cookie: a=b': 1, ключ: 2, ['x'.repeat(20_000)]: 3, 'a,b': 4 }
    for (const stream of [false, true]) {
      const reply = await say(app, chat, { token, body: { ...chat.body(claude, 'hello', stream), ...odd } })
      expect(reply.status).toBe(200)
      await reply.text()
      expect(reply.headers.get('set-cookie')).toBeNull()
      const named = ['h????set-cookie:?a=b', '????', 'x'.repeat(64), 'a?b']
      expect(reply.headers.get('x-translation-loss')?.split(',')).toEqual(named)
      expect((await lastRow()).other['losses']).toEqual(named)
    }
  })
})
