import { beforeEach, describe, expect, test } from 'vitest'
import { serve, setOptions, withOptions } from '../relay/serve.ts'
import { chat, consumed, say, callerDialects } from '../relay/caller-dialects.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'

const app = await startBalancedApp()
// Unpriced models cost 37.5 a token, both ways.
await setOptions(app, { SelfUseModeEnabled: 'true', ModelPrice: '{"dall-e-2":0.02}' })
const rich = await app.make.user({ quota: 1_000_000_000 })
beforeEach(() => app.upstream.clear())

/** Whether a balance of so many tokens' price is enough for a call to be let in. */
const affords = async (
  tokens: number,
  by: (typeof callerDialects)[number],
  body: Record<string, unknown>,
  model: string,
) => {
  const token = await app.make.token(await app.make.user({ quota: Math.ceil(tokens * 37.5) }))
  const reply = await say(app, by, { token, body, model })
  if (reply.status !== 200) expect(reply.status, await reply.clone().text()).toBe(403)
  return reply.status === 200
}

const limits: Record<string, (limit: number) => Record<string, unknown>> = {
  'chat completions': (limit) => ({ max_tokens: limit }),
  responses: (limit) => ({ max_output_tokens: limit }),
  messages: (limit) => ({ max_tokens: limit }),
  generateContent: (limit) => ({ generationConfig: { maxOutputTokens: limit } }),
}
const typeOf: Record<string, number> = { messages: 14, generateContent: 24 }

describe('what is set aside for a call', () => {
  test.each(callerDialects)('follows the output limit that the channel sends, in $dialect', async (by) => {
    const limit = limits[by.dialect] as (limit: number) => Record<string, unknown>
    const route = (override: Record<string, unknown>) =>
      serve(app, { type: typeOf[by.dialect] ?? 1, does: 'usage=5:5,lenient', paramOverride: JSON.stringify(override) })
    const ask = (model: string, own: number) => ({ ...by.body(model, 'hello', false), ...limit(own) })
    const { model: longer } = await route(limit(5000))
    expect(await affords(100, by, ask(longer, 10), longer)).toBe(false)
    expect(app.upstream.total).toBe(0)
    // A channel's limit beyond the balance is lowered like a caller's.
    expect(await affords(1500, by, ask(longer, 10), longer)).toBe(true)
    expect(JSON.stringify(app.upstream.requests[0]?.body)).not.toContain('5000')
    expect(await affords(30_000, by, ask(longer, 10), longer)).toBe(true)
    expect(JSON.stringify(app.upstream.requests[1]?.body)).toContain('5000')
    const { model: shorter } = await route(limit(10))
    expect(await affords(1000, by, ask(shorter, 100_000), shorter)).toBe(true)
  })

  test('follows the number of answers, and the channel’s own prompts', async () => {
    const ask = (model: string) => ({ ...chat.body(model, 'hello', false), max_tokens: 100 })
    const { model: many } = await serve(app, { does: 'usage=5:5', paramOverride: '{"n":8}' })
    expect(await affords(400, chat, ask(many), many)).toBe(false)
    expect(await affords(1000, chat, ask(many), many)).toBe(true)
    const { model: led } = await serve(app, { does: 'usage=5:5', systemPrompt: 'word '.repeat(800) })
    expect(await affords(600, chat, ask(led), led)).toBe(false)
    expect(await affords(1400, chat, ask(led), led)).toBe(true)
    const { model: tooled } = await serve(app, {
      does: 'usage=5:5',
      paramOverride: JSON.stringify({ metadata: { text: 'word '.repeat(800) } }),
    })
    expect(await affords(600, chat, ask(tooled), tooled)).toBe(false)
  })

  test('leaves out what is not sent where bodies pass through', async () => {
    const setting = '{"pass_through_body_enabled":true}'
    const { model } = await serve(app, {
      setting,
      does: 'usage=5:5',
      paramOverride: '{"max_tokens":5000}',
      systemPrompt: 'word '.repeat(800),
    })
    expect(await affords(200, chat, { ...chat.body(model, 'hello', false), max_tokens: 100 }, model)).toBe(true)
    expect(app.upstream.requests[0]?.body).toMatchObject({ max_tokens: 100 })
  })
})

describe('what is charged', () => {
  test('counts the channel’s own prompt where the upstream reports no usage', async () => {
    const token = await app.make.token(rich)
    const quotas = []
    for (const systemPrompt of ['', 'word '.repeat(500)]) {
      const { model } = await serve(app, { systemPrompt, does: 'nousage' })
      await say(app, chat, { token, model })
      quotas.push((await consumed(app)).at(-1)?.prompt_tokens ?? 0)
    }
    expect((quotas[1] ?? 0) - (quotas[0] ?? 0)).toBeGreaterThanOrEqual(500)
  })

  test('is for the images that the channel orders, in number and size', async () => {
    const token = await app.make.token(rich)
    const channel = await app.make.channel({ models: 'dall-e-2', paramOverride: '{"n":3,"size":"512x512"}' })
    await app.services.channels.reload(channel.id)
    const order = { model: 'dall-e-2', prompt: 'a cat', n: 1, size: '1024x1024' }
    const poor = await app.make.token(await app.make.user({ quota: 12_000 }))
    expect((await app.relay(poor, '/v1/images/generations', order)).status).toBe(403)
    expect(app.upstream.total).toBe(0)
    expect((await app.relay(token, '/v1/images/generations', order)).status).toBe(200)
    expect(app.upstream.requests[0]?.body).toMatchObject({ n: 3, size: '512x512' })
    const row = (await consumed(app)).at(-1)
    // 3 × 0.02 × 0.45 (the factor of 512 × 512) × 500000
    expect([row?.quota, row?.content]).toEqual([13_500, expect.stringContaining('大小 512x512') as string])
  })
})

describe('an override of what a call was admitted for', () => {
  test.each(['model', 'stream', 'stream_options'])('is refused when a channel is saved: %s', async (name) => {
    const admin = await app.make.user({ role: 100 })
    const override = JSON.stringify({ temperature: 1, [name]: name === 'model' ? 'gpt-4o' : true })
    const fields = { name: 'named', type: 1, key: 'sk-x', models: 'gpt-4o', group: 'default' }
    const refusal = { success: false, message: `参数覆盖不能包含 ${name}` }
    const created = await app.rest(admin, 'POST', '/api/channel/', { ...fields, param_override: override })
    expect(created.json).toMatchObject(refusal)
    const { id } = await app.make.channel()
    const updated = await app.rest(admin, 'PUT', '/api/channel/', { id, param_override: override })
    expect(updated.json).toMatchObject(refusal)
    const fine = await app.rest(admin, 'PUT', '/api/channel/', { id, param_override: '{"temperature":1}' })
    expect(fine.json).toMatchObject({ success: true })
  })

  test('that a channel had before is not followed', async () => {
    const { model } = await serve(app, {
      does: 'usage=100:20',
      paramOverride: '{"model":"dear","stream":true,"seed":7}',
    })
    const token = await app.make.token(rich)
    await withOptions(
      app,
      { ModelRatio: JSON.stringify({ [model]: 2, dear: 1000 }), CompletionRatio: '{}' },
      async () => {
        expect((await say(app, chat, { token, model })).headers.get('content-type')).toContain('application/json')
        // (100 + 20) × 2
        expect((await consumed(app)).at(-1)?.quota).toBe(240)
      },
    )
    expect(app.upstream.requests[0]?.body).toMatchObject({ model, seed: 7 })
  })
})
