import { beforeAll, describe, expect, test } from 'vitest'
import { json } from '#test/support/scripted-upstream.ts'
import { chat, consumed, say } from './caller-dialects.ts'
import { richToken, startScriptedRelay } from './relay-world.ts'
import { serve, setOptions } from './serve.ts'

// Where the operator bills by the callers' names.
const { app, scripted, token } = await startScriptedRelay({ options: { SelfUseModeEnabled: 'false' } })
beforeAll(() => setOptions(app, { redirect_billing_enabled: 'true' }))

const lastRow = async () => (await consumed(app)).at(-1)
const answer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'found' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
}

describe('a call under a name that the channel replaces', () => {
  const drawn = (usage?: object) => json({ created: 1, data: [{ b64_json: 'AAAA' }], ...(usage ? { usage } : {}) })
  const images = '/v1/images/generations'
  const drawnByTokens = drawn({ input_tokens: 50, output_tokens: 4160, total_tokens: 4210 })
  const audio = { headers: { 'content-type': 'audio/mpeg' }, steps: ['sound'] }
  let priority = 0
  const calls = [
    // 0.04 dollars × size 2 × quality 1.5.
    ['dall-e-3', images, { prompt: 'a cat', size: '1792x1024', quality: 'hd' }, drawn(), 60_000],
    ['gpt-image-1', images, { prompt: 'a cat' }, drawnByTokens, (50 + 4160 * 8) * 2.5],
    ['gpt-image-1', images, { prompt: 'a cat', quality: 'low', size: '1024x1024' }, drawn(), 5500],
    // By the character.
    ['tts-1', '/v1/audio/speech', { input: 'a'.repeat(1000), voice: 'alloy' }, audio, 7500],
    [
      'gpt-4o-search-preview',
      chat.path('', false),
      { messages: [{ role: 'user', content: 'hi' }] },
      json(answer),
      // 25 dollars a thousand.
      Math.round((10 + 2 * 4) * 1.25) + 12_500,
    ],
  ] as const

  test.each(calls)('%s is charged by the formula of the name that is priced, at %s', async (...given) => {
    const [model, path, body, play, quota] = given
    const modelMapping = JSON.stringify({ [model]: 'deployed-here' })
    priority += 1
    const { id } = await app.make.channel({ baseUrl: scripted.play(play), models: model, modelMapping, priority })
    await app.services.channels.reload(id)
    const reply = await app.relay(token, path, { model, ...body })
    expect(reply.status, await reply.text()).toBe(200)
    expect(scripted.received.at(-1)?.bytes.toString()).toContain('deployed-here')
    expect(await lastRow()).toMatchObject({ model_name: model, quota })
    // Tokens that the upstream reports are known afterwards.
    if (play === drawnByTokens) return
    const before = scripted.received.length
    const poor = await app.make.token(await app.make.user({ quota: quota - 1 }))
    expect((await app.relay(poor, path, { model, ...body })).status).toBe(403)
    expect(scripted.received.length).toBe(before)
  })

  test('costs in a rehearsal of the same prices what it was charged', async () => {
    const root = await app.make.user({ role: 100 })
    const change = { prices: [{ model: 'another', modelRatio: 1 }], groupRatios: {} }
    const { before, after, unchanged } = await app.trpc(root).admin.prices.rehearse.query({ change, days: 1 })
    expect(unchanged).toBe(0)
    expect(after.quota).toBe(before.quota)
  })

  test('a search that a model runs by itself is charged whatever its callers know it as', async () => {
    const { model } = await serve(app, { baseUrl: scripted.play(json(answer)), upstreamModel: 'gpt-4o-search-preview' })
    await setOptions(app, { ModelRatio: JSON.stringify({ [model]: 2 }) })
    expect((await say(app, chat, { token, model })).status).toBe(200)
    expect(await lastRow()).toMatchObject({ quota: 12 * 2 + 5000, other: { web_search_call_count: 1 } })
  })
})

test('a name behind a channel’s prefix costs what it does without', async () => {
  const { model } = await serve(app, { modelPrefix: 'azure/', does: 'usage=1000:100' })
  const prices = { ModelRatio: JSON.stringify({ [model]: 2 }), CompletionRatio: '{}' }
  // Else a call by the piece, however long.
  await setOptions(app, { ...prices, fallback_pricing_enabled: 'true', fallback_single_price: '0.01' })
  for (const name of [model, `azure/${model}`]) {
    expect((await say(app, chat, { token: await richToken(app), model: name })).status).toBe(200)
    expect(await lastRow()).toMatchObject({ model_name: name, quota: 2200 })
    const messages = [{ role: 'user', content: 'hi' }]
    const explained = await app.relay(token, '/v1/explain', { model: name, messages })
    expect(await explained.json()).toMatchObject({ candidates: [{ price: { kind: 'ratio', modelRatio: 2 } }] })
  }
})
