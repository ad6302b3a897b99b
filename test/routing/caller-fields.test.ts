import { monitorEventLoopDelay } from 'node:perf_hooks'
import { beforeEach, expect, test } from 'vitest'
import { serve, withOptions } from '../relay/serve.ts'
import { chat, say, callerDialects } from '../relay/caller-dialects.ts'
import { startRelay } from '../relay/relay-world.ts'

const { app, token } = await startRelay()
beforeEach(() => app.upstream.clear())

const aims = {
  api_base: 'http://127.0.0.1:9',
  base_url: 'http://127.0.0.1:9',
  api_key: 'sk-theirs',
  custom_host: 'http://127.0.0.1:9',
  custom_llm_provider: 'other',
  extra_headers: { authorization: 'Bearer sk-theirs' },
}
const headers = {
  cookie: 'session=mine',
  'x-api-base': 'http://127.0.0.1:9',
  'x-forwarded-for': '10.9.8.7',
  'x-custom-host': 'http://127.0.0.1:9',
  'openai-organization': 'theirs',
}

test.each(callerDialects)(
  'what a caller writes to aim a call elsewhere is not followed and not sent on, in $dialect',
  async (by) => {
    for (const type of [1, 14, 24]) {
      const { model } = await serve(app, { type })
      app.upstream.clear()
      const reply = await say(app, by, { token, model, body: { ...by.body(model, 'hello', false), ...aims }, headers })
      expect(reply.status).toBe(200)
      const [request] = app.upstream.requests
      expect(app.upstream.requests).toHaveLength(1)
      const sent = JSON.stringify(request)
      for (const text of ['sk-theirs', 'session=mine', '127.0.0.1:9', '10.9.8.7', 'custom_llm_provider', 'theirs'])
        expect(sent, text).not.toContain(text)
      expect(request?.key).toBe('sk-upstream')
    }
  },
)

const others = {
  models: ['dearer'],
  model_list: [{ model_name: 'dearer' }],
  fallbacks: [{ model: 'dearer' }],
  context_window_fallbacks: [{ cheap: ['dearer'] }],
  content_policy_fallbacks: [{ cheap: ['dearer'] }],
  context_window_fallback_dict: { cheap: 'dearer' },
  user_config: { model_list: [{ model_name: 'dearer' }] },
  router_settings_override: { fallbacks: [{ cheap: ['dearer'] }] },
  route: 'dearer',
  preset: 'dearer',
  prompt_id: 'dearer',
  providerOptions: { gateway: { models: ['dearer'] } },
  extra_body: { model: 'dearer' },
}

test.each(callerDialects)(
  'no upstream is told of other models that could answer than the one that is admitted and priced, in $dialect',
  async (by) => {
    const ownType = { messages: 14, generateContent: 24 }[by.dialect] ?? 1
    const asReceived = { type: ownType, setting: '{"pass_through_body_enabled":true}' }
    for (const route of [{ type: 1 }, { type: 14 }, { type: 20 }, { type: 24 }, asReceived]) {
      const { model } = await serve(app, route)
      app.upstream.clear()
      const reply = await say(app, by, { token, model, body: { ...by.body(model, 'hello', false), ...others } })
      expect(reply.status).toBe(200)
      expect(app.upstream.requests).toHaveLength(1)
      expect(JSON.stringify(app.upstream.requests)).not.toContain('dearer')
    }
  },
)

const fasterServices: Record<string, unknown>[] = [
  { service_tier: 'priority' },
  { service_tier: 'SERVICE_TIER_PRIORITY' },
  { serviceTier: 'priority' },
  { serviceTier: { type: 'priority' } },
  { speed: 'fast' },
  { performanceConfig: { latency: 'optimized' } },
]

test.each(callerDialects)(
  'no upstream is asked for a faster service, which costs a multiple of the price, in $dialect',
  async (by) => {
    const ownType = { messages: 14, generateContent: 24 }[by.dialect] ?? 1
    const { model } = await serve(app, { type: ownType })
    for (const service of fasterServices) {
      app.upstream.clear()
      await say(app, by, { token, model, body: { ...by.body(model, 'hello', false), ...service } })
      expect(JSON.stringify(app.upstream.requests[0]?.body)).not.toMatch(/priority|"fast"|optimized/i)
    }
    app.upstream.clear()
    const cheaper = { ...by.body(model, 'hello', false), service_tier: 'flex' }
    const { status } = await say(app, by, { token, model, body: cheaper })
    expect(status).toBe(200)
    if (ownType === 1) expect(app.upstream.requests[0]?.body).toMatchObject({ service_tier: 'flex' })
  },
)

test('nor by operations beside chat, JSON or forms', async () => {
  const { model } = await serve(app, {})
  await app.relay(token, '/v1/embeddings', { model, input: 'hello', ...aims })
  const form = new FormData()
  form.set('model', model)
  form.set('api_base', aims.api_base)
  form.set('file', new Blob([new Uint8Array(2000)]), 'sound.wav')
  await fetch(`${app.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${token.key}` },
    body: form,
  })
  expect(app.upstream.requests).toHaveLength(2)
  for (const request of app.upstream.requests) expect(JSON.stringify(request)).not.toContain('127.0.0.1:9')
})

test('a word list made to explode neither passes nor holds up the others', async () => {
  const { model } = await serve(app, {})
  const SensitiveWords = ['regex:(a+)+$', 'regex:(x|x|x)*y$', 'regex:([a-z]+)*1', 'forbidden'].join('\n')
  await withOptions(app, { SensitiveWords }, async () => {
    // The list is read once.
    await say(app, chat, { token, model })
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    const texts = [`${'a'.repeat(100_000)}!`, `${'x'.repeat(100_000)}!`, `${'word '.repeat(20_000)}!`]
    for (const text of texts) expect((await say(app, chat, { token, model, text })).status).toBe(200)
    delay.disable()
    // Milliseconds, or for ever: the machine's own pauses lie far below.
    expect(delay.max / 1e6).toBeLessThan(10_000)
    const refused = await say(app, chat, { token, model, text: `${'word '.repeat(20_000)} FORBIDDEN` })
    expect([refused.status, chat.readError(await refused.json()).code]).toEqual([400, 'sensitive_words_detected'])
  })
})

test('sensitive words are found in every form and refused with their documented code', async () => {
  const { model } = await serve(app, {})
  const text = 'this is test_sensitive, is it not'
  for (const by of callerDialects) {
    const reply = await say(app, by, { token, model, text })
    expect([by.dialect, reply.status]).toEqual([by.dialect, 400])
    const error = by.readError(await reply.json())
    expect(error.message).toContain('the request contains sensitive words')
    if (by.dialect === 'chat completions') expect(error.code).toBe('sensitive_words_detected')
    if (by.dialect === 'responses') expect(error.code).toBe('check_request_sensitive_error')
  }
  for (const [path, body, code] of [
    ['/v1/completions', { prompt: text }, 'sensitive_words_detected'],
    ['/v1/embeddings', { input: [text] }, 'sensitive_words_detected'],
    ['/v1/moderations', { input: text }, 'sensitive_words_detected'],
    ['/v1/images/generations', { prompt: text }, 'invalid_image_request'],
    ['/v1/audio/speech', { input: text }, 'invalid_audio_request'],
  ] as const) {
    const reply = await app.relay(token, path, { model, ...body })
    const { error } = (await reply.json()) as { error: { code: string } }
    expect([path, reply.status, error.code]).toEqual([path, 400, code])
  }
  expect(app.upstream.total).toBe(0)
})
