import { describe, expect, test } from 'vitest'
import { hang, json, type Play } from '#test/support/scripted-upstream.ts'
import { callerDialects, consumed, eventually, say } from './caller-dialects.ts'
import { richToken, startScriptedRelay } from './relay-world.ts'
import { serve, withOptions } from './serve.ts'

const { app, scripted, token } = await startScriptedRelay()

const image = (quality: string, size: string) => ({ type: 'image_generation_call', result: 'AAAA', quality, size })
const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 }
/** (10 + 2) × 37.5, the answer's own tokens. */
const answered = 450
const output = [image('low', '1024x1024'), image('high', '1024x1536'), { type: 'image_generation_call', result: null }]
const responseOf = (more: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output,
  usage,
  ...more,
})
const eventText = (event: object): string => `data: ${JSON.stringify(event)}\n\n`

async function drawn(play: Play, { stream = false, asked = {} as object, path = '/v1/responses' } = {}) {
  const { model } = await serve(app, { baseUrl: scripted.play(play) })
  const body = { model, input: 'two cats', tools: [{ type: 'image_generation' }], ...asked, stream }
  const reply = await app.relay(token, path, body)
  expect([reply.status, (await reply.text()).includes('AAAA')]).toEqual([200, true])
  return (await consumed(app)).at(-1)
}

const inBothForms = (response: object): [Play, boolean][] => [
  [json(response), false],
  [{ steps: [eventText({ type: 'response.completed', response })] }, true],
]

test('images that a vendor draws with a tool of the responses API are charged by their quality and size', async () => {
  for (const [play, stream] of inBothForms(responseOf())) {
    const row = await drawn(play, { stream })
    // 0.011 and 0.25 dollars.
    expect(row).toMatchObject({ quota: answered + 5500 + 125_000, other: { image_generation: true } })
    // What clients compute from the row is the same sum.
    expect(row?.other).toMatchObject({ image_generation_call_count: 2, image_generation_price: 0.1305 })
  }
})

test('an image that says neither costs as the tool says, wherever that stands; what is left to the model costs the most', async () => {
  const plain = { type: 'image_generation_call', result: 'AAAA' }
  const low = { type: 'image_generation', quality: 'low', size: '1024x1024' }
  const auto = { type: 'image_generation', quality: 'auto', size: 'auto' }
  const quotaOf = async (item: object, tool: object, stands: 'beside' | 'inside') => {
    const more = { output: [item], tools: stands === 'beside' ? [tool] : [] }
    const asked = stands === 'beside' ? {} : adding(tool)
    return (await drawn(json(responseOf(more)), { asked }))?.quota
  }
  for (const stands of ['beside', 'inside'] as const) {
    expect(await quotaOf(plain, low, stands)).toBe(answered + 5500)
    expect(await quotaOf(plain, auto, stands)).toBe(answered + 125_000)
    // What the image itself says goes before.
    expect(await quotaOf(image('high', '1024x1536'), low, stands)).toBe(answered + 125_000)
  }
})

const tables = {
  ModelPrice: '{"draws-by-the-call":0.02}',
  ModelRatio: '{"gpt-image-1":5,"gpt-image-1.5":2,"draws-free":0}',
  CompletionRatio: '{"gpt-image-1":8,"gpt-image-1.5":8}',
}
const counted = {
  image_gen: { input_tokens: 30, input_tokens_details: { image_tokens: 10 }, output_tokens: 1000, total_tokens: 1030 },
}
const named = (model: string) => ({
  tools: [
    { type: 'function', name: 'f' },
    { type: 'image_generation', model },
  ],
})

test.each([
  ['by the call of the model that the tool names', named('draws-by-the-call'), 2 * 10_000],
  ['nothing where that model is free', named('draws-free'), 0],
  [
    'by the tokens that the vendor reports',
    { ...named('gpt-image-1.5'), tool_usage: counted },
    (20 + 10 * 1.6 + 1000 * 8) * 2,
  ],
  ['by the list, as the price of that model stands to the listed one', named('gpt-image-1.5'), 0.8 * 130_500],
  ['by the list, where the listed model has another price', {}, 2 * 130_500],
  ['by the list, where nobody has priced that model', named('unheard-of'), 130_500],
  [
    'by the list, where the vendor counts what cannot be',
    { tool_usage: { image_gen: { output_tokens: -1 } } },
    2 * 130_500,
  ],
])('images of a tool cost %s', async (_, more, quota) => {
  await withOptions(app, tables, async () => {
    for (const [play, stream] of inBothForms(responseOf(more)))
      expect(await drawn(play, { stream })).toMatchObject({ quota: answered + quota })
  })
})

const adding = (...tools: object[]) => ({
  tools: [],
  input: [
    { type: 'additional_tools', role: 'developer', tools },
    { role: 'user', content: 'two cats' },
  ],
})

test('what tools make that stand in the conversation costs what those say', async () => {
  const code = { type: 'code_interpreter', container: { type: 'auto', memory_limit: '64g' } }
  const shell = { type: 'shell', environment: { type: 'container_auto', memory_limit: '4g' } }
  const ran = (name: string) => [
    { type: 'code_interpreter_call', id: `ci_${name}`, container_id: `cntr_of_code_${name}` },
    { type: 'shell_call', environment: { type: 'container_reference', container_id: `cntr_of_shell_${name}` } },
  ]
  const asked = adding(code, shell, { type: 'image_generation', model: 'draws-by-the-call' })
  await withOptions(app, tables, async () => {
    for (const name of ['unstreamed', 'streamed']) {
      const response = responseOf({ output: [...output, ...ran(name)], tools: [] })
      const [play, stream] = inBothForms(response)[name === 'streamed' ? 1 : 0] as [Play, boolean]
      // Two images, and 0.03 dollars for each of 64 and 4 gigabytes.
      expect(await drawn(play, { stream, asked })).toMatchObject({ quota: answered + 2 * 10_000 + 68 * 15_000 })
    }
  })
})

test('a call sets aside an image of the model that its tool names', async () => {
  await withOptions(app, { ...tables, ModelPrice: '{"draws-by-the-call":0.02,"draws-dearly":3}' }, async () => {
    const { model } = await serve(app, { baseUrl: scripted.play(json(responseOf())) })
    const poor = await app.make.token(await app.make.user({ quota: 1_000_000 }))
    const ask = (draws: string) =>
      app.relay(poor, '/v1/responses', { model, input: 'a cat', tools: [{ type: 'image_generation', model: draws }] })
    expect((await ask('draws-dearly')).status).toBe(403)
    expect((await ask('draws-by-the-call')).status).toBe(200)
  })
})

/** The row of a caller who leaves once this has come. */
async function leftAt(word: string, { path, body, steps }: { path: string; body: object; steps: string[] }) {
  const { model } = await serve(app, { baseUrl: scripted.play({ steps: [...steps, hang] }) })
  const leaving = new AbortController()
  const reply = await fetch(app.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${token.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: true, ...body }),
    signal: leaving.signal,
  })
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let text = ''; !text.includes(word);) text += (await reader?.read())?.value ?? ''
  leaving.abort()
  const [row] = await eventually(
    async () => (await consumed(app)).filter((one) => one.model_name === model),
    (rows) => rows.length > 0,
  )
  return row
}

test.each([
  ['/v1/responses', { input: 'hi' }],
  ['/v1/messages', { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }],
])('who leaves after a search and a shell before the answer ends pays for both, at %s', async (path, body) => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'cats' } }
  const environment = { type: 'container_reference', container_id: `cntr_left_at${path.replaceAll('/', '_')}` }
  const shell = { type: 'shell_call', id: 'sh_1', status: 'completed', environment }
  const steps = [
    { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] } },
    { type: 'response.output_item.done', output_index: 0, item: search },
    { type: 'response.output_item.done', output_index: 1, item: shell },
    { type: 'response.output_text.delta', output_index: 2, content_index: 0, delta: 'found' },
  ].map(eventText)
  const row = await leftAt('found', { path, body, steps })
  expect(row).toMatchObject({ other: { end: 'hung-up', usage_source: 'estimated', web_search_call_count: 1 } })
  const tokens = Number(row?.prompt_tokens) + Number(row?.completion_tokens)
  // Each formula rounds in its own way.
  expect(Number(row?.quota) - tokens * 37.5).toBeCloseTo(5000 + 15_000, -1)
  // Its container is as much its own as that of a complete answer.
  const named = { model: row?.model_name, input: 'hi', tools: [{ type: 'shell', environment }] }
  expect((await app.relay(await richToken(app), '/v1/responses', named)).status).toBe(404)
})

test('who leaves with an image before the answer ends pays for the image', async () => {
  const tools = [{ type: 'image_generation', model: 'draws-by-the-call' }]
  const response = { id: 'resp_1', object: 'response', status: 'in_progress', output: [], tools }
  for (const isNamed of [true, false]) {
    const events = [
      { type: 'response.created', response },
      { type: 'response.output_item.done', output_index: 0, item: image('low', '1024x1024') },
    ]
    const steps = events.map((event) => (isNamed ? `event: ${event.type}\n` : '') + eventText(event))
    await withOptions(app, tables, async () => {
      const body = { input: 'a cat', tools: [{ type: 'image_generation' }] }
      const row = await leftAt('AAAA', { path: '/v1/responses', body, steps })
      expect(row).toMatchObject({ other: { end: 'hung-up', image_generation: true } })
      // The image, and the words of the question alone: the image is nothing that the answering model wrote.
      expect(row?.completion_tokens).toBe(0)
      expect(row?.quota).toBe(10_000 + Math.round(Number(row?.prompt_tokens) * 37.5))
    })
  }
})

describe('an image that Gemini draws', () => {
  const parts = [{ text: 'here' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }]
  const usageMetadata = {
    promptTokenCount: 10,
    candidatesTokenCount: 1310,
    totalTokenCount: 1320,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
  }
  const play = json({ candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata })
  const model = 'gemini-2.5-flash-image'
  const prices = { ModelRatio: `{"${model}":0.15}`, CompletionRatio: '{}' }
  // 30 dollars a million tokens of images, 2.5 a million of words.
  const exact = (10 + 20 * 8.3333 + 1290 * 100) * 0.15

  test('costs its tokens at the price of images, whatever path and dialect it is asked for by', async () => {
    const { id } = await app.make.channel({ type: 24, baseUrl: scripted.play(play), models: model })
    await app.services.channels.reload(id)
    await withOptions(app, prices, async () => {
      for (const by of callerDialects) {
        expect((await say(app, by, { token, model, text: 'a cat' })).status, by.dialect).toBe(200)
        const row = (await consumed(app)).at(-1)
        expect(Math.abs(Number(row?.quota) - exact), by.dialect).toBeLessThan(1)
      }
      const reply = await app.relay(token, '/v1/images/generations', { model, prompt: 'a cat' })
      expect(reply.status, await reply.text()).toBe(200)
      expect((await consumed(app)).at(-1)).toMatchObject({ quota: Math.round(exact) })
      const poor = await app.make.token(await app.make.user({ quota: 1290 * 15 - 1 }))
      expect((await app.relay(poor, '/v1/images/generations', { model, prompt: 'a cat' })).status).toBe(403)
    })
  })

  test('stands in the price list at that price', async () => {
    await withOptions(app, prices, async () => {
      const { items } = await app.trpc().public.models.pricing.query()
      expect(items.find((item) => item.model === model)?.price).toMatchObject({ imageOutputRatio: 100 })
    })
  })
})

test('what a vendor is sent as a form has the fields of the channel’s override too', async () => {
  const { model } = await serve(app, {
    type: 39,
    other: 'acc',
    baseUrl: scripted.play(json({ result: { image: 'AAAA' }, success: true })),
    upstreamModel: '@cf/black-forest-labs/flux-2-klein-4b',
    paramOverride: '{"seed":7}',
  })
  const reply = await app.relay(token, '/v1/images/generations', { model, prompt: 'a sunset' })
  expect(await reply.json()).toMatchObject({ data: [{ b64_json: 'AAAA' }] })
  const sent = scripted.received.at(-1)
  expect(sent?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
  expect(String(sent?.bytes)).toMatch(/name="prompt"\s+a sunset\s[^]*name="seed"\s+7\s/)
})
