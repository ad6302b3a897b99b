import { afterAll, describe, expect, test } from 'vitest'
import { pixel } from '#test/simulator/media.ts'
import { consumed } from './caller-dialects.ts'
import { startRelay } from './relay-world.ts'
import { type Route, serve } from './serve.ts'
import { image, user, vendorWorld } from './vendors.ts'
import { json, startScriptedUpstream } from '#test/support/scripted-upstream.ts'

const { app, token } = await startRelay({ options: { RetryTimes: '0' } })
const scripted = await startScriptedUpstream()
afterAll(() => scripted[Symbol.asyncDispose]())

// Without a price of its own a token costs 37.5, both ways.
const rate = 37.5

/** An operation beside chat, as JSON or as a form, through one channel of a vendor. */
async function operate(route: Route, path: string, asked: Record<string, unknown> | FormData) {
  const { model } = await serve(app, route)
  const isForm = asked instanceof FormData
  if (isForm) asked.set('model', model)
  const reply = await fetch(`${app.url}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${token.key}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    body: isForm ? asked : JSON.stringify({ model, ...asked }),
  })
  const answer = await reply.json()
  return {
    answer,
    status: reply.status,
    losses: reply.headers.get('x-translation-loss'),
    sent: app.upstream.requests.at(-1),
    row: (await consumed(app)).at(-1),
  }
}

const pdf = (filename?: string) => ({
  type: 'file',
  file: { ...(filename === undefined ? {} : { filename }), file_data: 'data:application/pdf;base64,JVBERg==' },
})

describe('Bedrock', () => {
  test('serves models from 4.5 on in Asia too', async () => {
    const key = 'a-token|ap-northeast-1'
    for (const upstreamModel of ['claude-haiku-4-5', 'claude-sonnet-4-6']) {
      const { ask, sent } = await vendorWorld(app, token, { type: 33, key, upstreamModel })
      expect((await ask([user('hello')])).text).toBe('You said: hello')
      expect(sent()?.path).toContain(`/model/global.anthropic.${upstreamModel}`)
    }
  })

  test('reads documents without a name, and the same one twice', async () => {
    const route = { type: 33, key: 'a-token|us-east-1', upstreamModel: 'nova-pro-v1:0' }
    const { ask } = await vendorWorld(app, token, route)
    const files = [pdf(), pdf(), pdf('a_b.pdf'), pdf('a.b.pdf'), { type: 'text', text: 'compare' }]
    const answered = { role: 'assistant', content: 'done' }
    const answer = await ask([user(files), answered, user([pdf('a_b.pdf'), { type: 'text', text: 'again' }])])
    expect(answer.text).toContain('You said: again')
  })
})

describe('DashScope', () => {
  test('answers in one piece where a model only streams', async () => {
    for (const upstreamModel of ['qwq-plus', 'glm-4.5-air']) {
      const { ask, sent } = await vendorWorld(app, token, { type: 17, upstreamModel })
      const answer = await ask([user('hello')])
      expect(answer).toMatchObject({ text: 'You said: hello', finish: 'stop' })
      expect(answer.row).toMatchObject({ is_stream: false, other: { usage_source: 'upstream' } })
      expect(sent()?.body).toMatchObject({ stream: true })
    }
  })

  test('draws in a size that the model has, whatever OpenAI calls it, and in its own where none is asked for', async () => {
    const draw = async (upstreamModel: string, size?: string) => {
      const asked = { prompt: 'a hat', ...(size === undefined ? {} : { size }) }
      const { status, answer, sent } = await operate({ type: 17, upstreamModel }, '/images/generations', asked)
      expect(status, JSON.stringify(answer)).toBe(200)
      expect(answer.data).toEqual([{ url: expect.stringContaining('/media/pixel.png') }])
      const { parameters } = Object(sent?.body) as { parameters: { size?: string } }
      return parameters.size
    }
    expect(await draw('qwen-image')).toBeUndefined()
    expect(await draw('qwen-image-plus', '1024x1024')).toBe('1328*1328')
    expect(await draw('qwen-image', '1792x1024')).toBe('1664*928')
    expect(await draw('wan2.6-t2i', '1024x1024')).toBe('1280*1280')
    expect(await draw('z-image-turbo', '1024x1536')).toBe('1024*1536')
  })
})

describe('embeddings', () => {
  test('of texts by a model of Ark that sees are one of each text', async () => {
    const route = { type: 45, upstreamModel: 'doubao-embedding-vision-250615' }
    const input = ['first', 'second', 'third']
    const { answer, row } = await operate(route, '/embeddings', { input })
    expect(answer.data.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2])
    const alone = await Promise.all(input.map((text) => operate(route, '/embeddings', { input: text })))
    expect(answer.data.map(({ embedding }: { embedding: unknown }) => embedding)).toEqual(
      alone.map((one) => one.answer.data[0].embedding),
    )
    expect(row).toMatchObject({ prompt_tokens: answer.usage.prompt_tokens, other: { usage_source: 'upstream' } })
    const mixed = { input: ['a hat', { type: 'image_url', image_url: { url: image } }] }
    expect((await operate(route, '/embeddings', mixed)).answer.data).toHaveLength(1)
  })

  test('of Mistral are asked for in its own words, and what it has none for is named', async () => {
    const route = { type: 42, upstreamModel: 'codestral-embed' }
    const { answer, losses } = await operate(route, '/embeddings', { input: 'x', dimensions: 16, user: 'u' })
    expect(answer.data[0].embedding).toHaveLength(16)
    expect(losses).toBe('user')
  })

  test('of SiliconFlow go in portions', async () => {
    const input = Array.from({ length: 70 }, (_, index) => `text ${index}`)
    const { answer } = await operate({ type: 40, upstreamModel: 'BAAI/bge-m3' }, '/embeddings', { input })
    expect(answer.data).toHaveLength(70)
  })

  test('are packed for whoever asks for it in Jina’s word, by the vendor or here', async () => {
    const packed = Buffer.from(new Float32Array([0.5, -1]).buffer).toString('base64')
    for (const embedding of [packed, [0.5, -1]]) {
      const route = { type: 38, baseUrl: scripted.play(json({ data: [{ index: 0, embedding }] })) }
      const embed = async (type: string) =>
        (await operate(route, '/embeddings', { input: 'x', embedding_type: type })).answer.data[0].embedding
      expect(await embed('base64')).toBe(packed)
      expect(JSON.parse(String(scripted.received.at(-1)?.bytes))).toMatchObject({ embedding_type: 'base64' })
      expect(await embed('float')).toEqual([0.5, -1])
    }
  })

  test('and rankings say what they used, whatever the upstream says of it', async () => {
    const reported = { total_tokens: 26 }
    const shown = { prompt_tokens: 26, total_tokens: 26 }
    const answering = (body: object) => ({ baseUrl: scripted.play(json(body)) })
    const data = [{ index: 0, embedding: [1] }]
    const embedded = await operate(answering({ data, usage: reported }), '/embeddings', { input: 'x' })
    expect([embedded.answer.usage, embedded.row?.prompt_tokens]).toEqual([shown, 26])
    const results = [{ index: 0, relevance_score: 0.5 }]
    const asked = { query: 'q', documents: ['a hat'] }
    const ranked = await operate(answering({ results, usage: reported }), '/rerank', asked)
    expect(ranked.answer).toEqual({ results, usage: shown })
    for (const type of [34, 47]) {
      const { answer, row } = await operate({ type, ...answering({ results }) }, '/rerank', asked)
      const counted = row?.prompt_tokens
      expect(answer).toEqual({ results, usage: { prompt_tokens: counted, total_tokens: counted } })
      expect(counted).toBeGreaterThan(0)
    }
  })

  test('in a body that passes through go as they came, once', async () => {
    const input = Array.from({ length: 60 }, (_, index) => `text ${index}`)
    const setting = '{"pass_through_body_enabled":true}'
    const asked = app.upstream.total
    const { answer, sent } = await operate({ type: 17, setting }, '/embeddings', { input })
    expect(answer.data).toHaveLength(60)
    expect(app.upstream.total - asked).toBe(1)
    expect(sent?.body).toMatchObject({ input })
    // Whatever the vendor makes of it, nothing was left out.
    const { losses } = await operate({ type: 42, setting }, '/embeddings', { input: 'x', user: 'u' })
    expect(losses).toBeNull()
  })
})

test('Mistral reads documents, and conversations in which speakers have names and one was refused', async () => {
  const { ask, sent } = await vendorWorld(app, token, { type: 42, upstreamModel: 'mistral-large-latest' })
  const messages = [
    { ...user('hi'), name: 'alice' },
    { role: 'assistant', name: 'helper', content: null, refusal: 'No.' },
    { ...user([{ type: 'text', text: 'hello' }, pdf('report.pdf')]), name: 'bob' },
  ]
  expect((await ask(messages)).text).toMatch(/^File .* You said: hello$/)
  expect(Object(sent()?.body).messages).toEqual([
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'No.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'hello' },
        { type: 'document_url', document_url: pdf().file.file_data, document_name: 'report.pdf' },
      ],
    },
  ])
})

describe('images are edited', () => {
  const form = (fields: Record<string, string> = {}, count = 1) => {
    const given = new FormData()
    for (const [name, value] of Object.entries({ prompt: 'a hat', ...fields })) given.set(name, value)
    for (let index = 0; index < count; index += 1)
      given.append('image[]', new File([new Uint8Array(pixel)], `${index}.png`, { type: 'image/png' }))
    return given
  }

  test('by xAI, which reads JSON alone', async () => {
    const route = { type: 48, upstreamModel: 'grok-imagine-image' }
    const one = await operate(route, '/images/edits', form({ size: '1024x1024', n: '2' }))
    expect(one.status, JSON.stringify(one.answer)).toBe(200)
    expect(one.answer.data).toHaveLength(2)
    expect(one.sent?.body).toEqual({
      model: 'grok-imagine-image',
      prompt: 'a hat',
      n: 2,
      image: { url: image, type: 'image_url' },
    })
    expect(one.losses).toBe('size')
    const several = await operate(route, '/images/edits', form({ size: '1024x1024' }, 2))
    expect(several.sent?.body).toMatchObject({ images: [{ url: image }, { url: image }], aspect_ratio: '1:1' })
    expect(several.losses).toBeNull()
    const asJson = await operate(route, '/images/edits', { prompt: 'a hat', image: { url: image } })
    expect(asJson.status).toBe(200)
    expect((await operate(route, '/images/edits', form({}, 4))).status).toBe(400)
  })

  test('by SiliconFlow where it draws', async () => {
    const route = { type: 40, upstreamModel: 'Qwen/Qwen-Image-Edit-2509' }
    const { status, answer, sent } = await operate(route, '/images/edits', form({ seed: '7' }, 2))
    expect(status, JSON.stringify(answer)).toBe(200)
    expect(sent).toMatchObject({ path: '/v1/images/generations', body: { seed: 7, image, image2: image } })
  })

  test('by Ark where it draws', async () => {
    const route = { type: 45, upstreamModel: 'doubao-seedream-4-5' }
    const { status, answer, sent } = await operate(route, '/images/edits', form({ watermark: 'false', seed: '7' }, 2))
    expect(status, JSON.stringify(answer)).toBe(200)
    expect(answer.data).toHaveLength(1)
    expect(sent).toMatchObject({ path: '/api/v3/images/generations' })
    expect(sent?.body).toEqual({
      model: 'doubao-seedream-4-5',
      prompt: 'a hat',
      image: [image, image],
      watermark: false,
      seed: 7,
    })
    const before = app.upstream.requests.length
    expect((await operate(route, '/images/edits', form({ n: '2' }))).status).toBe(400)
    expect(app.upstream.requests.length).toBe(before)
  })
})

test('a workflow of Dify is charged by what its models read and wrote, streamed or not', async () => {
  const { ask } = await vendorWorld(app, token, { type: 37, other: 'workflow', does: 'usage=20:10' })
  for (const stream of [false, true]) {
    const answer = await ask([user('hello')], { stream })
    expect(answer).toMatchObject({ text: 'You said: hello', finish: 'stop', ended: true })
    expect(answer.reasoning).toBe(stream ? 'Workflow …\nLLM …\nLLM: succeeded\n' : '')
    expect(answer.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 })
    expect(answer.row).toMatchObject({ quota: 30 * rate, prompt_tokens: 20, completion_tokens: 10 })
  }
})
