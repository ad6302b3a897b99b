import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { listenLocally } from '#test/support/local-server.ts'
import { serve } from './serve.ts'
import { chat, say } from './caller-dialects.ts'
import { image, user, vendorWorld, weather, servesEveryDialect, isNeverFinished } from './vendors.ts'
import { startRelay } from './relay-world.ts'

const { app, token } = await startRelay({ options: { RetryTimes: '0' } })

/** An address that ends in the native path asks for the native call always. */
const native = (does = 'words=2') => ({ type: 4, baseUrl: `${app.upstream.withDirectives(does)}/api` })

// Without a price of its own a token costs 37.5, both ways.
const rate = 37.5

describe('Ollama called natively', () => {
  test('answers whole and line by line, with the usage that the server reports, which is charged', async () => {
    const { model, ask, sent } = await vendorWorld(app, token, native('usage=20:10'))
    for (const stream of [false, true]) {
      const answer = await ask([{ role: 'system', content: 'Be brief.' }, user('hello')], {
        stream,
        fields: { max_tokens: 50, temperature: 0.5, stop: 'END', reasoning_effort: 'none', user: 'u' },
      })
      expect(answer).toMatchObject({ text: 'You said: hello', finish: 'stop', ended: true })
      expect(answer.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 })
      expect(answer.row).toMatchObject({ quota: 30 * rate, prompt_tokens: 20, completion_tokens: 10 })
      expect(sent()?.path).toBe('/api/chat')
      expect(sent()?.body).toEqual({
        model,
        messages: [{ role: 'system', content: 'Be brief.' }, user('hello')],
        stream,
        think: false,
        options: { num_predict: 50, temperature: 0.5, stop: ['END'] },
      })
    }
  })

  test('calls tools, is given their results by name, and reads images', async () => {
    const { ask, sent } = await vendorWorld(app, token, native('usage=20:10'))
    for (const stream of [false, true]) {
      const question = user('get_weather of Paris, city is Paris')
      const asked = await ask([question], { stream, fields: { tools: [weather] } })
      expect(asked).toMatchObject({ finish: 'tool_calls', calls: [{ name: 'get_weather' }] })
      const [call] = asked.calls
      expect(call?.id).toMatch(/^call_/)
      expect(JSON.parse(call?.arguments ?? '')).toEqual({ city: 'Paris' })
      const made = { id: call?.id, type: 'function', function: { name: call?.name, arguments: call?.arguments } }
      const answer = await ask(
        [
          question,
          { role: 'assistant', content: null, tool_calls: [made] },
          { role: 'tool', tool_call_id: call?.id, content: '21 degrees' },
        ],
        { stream, fields: { tools: [weather] } },
      )
      expect(answer).toMatchObject({ text: 'The tool says: 21 degrees', finish: 'stop' })
      expect(sent()?.body).toMatchObject({
        messages: [
          {},
          { role: 'assistant', tool_calls: [{ function: { name: 'get_weather', arguments: { city: 'Paris' } } }] },
          { role: 'tool', content: '21 degrees', tool_name: 'get_weather' },
        ],
      })
      const seen = await ask([
        user([
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: image } },
        ]),
      ])
      expect(seen.text).toMatch(/^Image image\/png \d+ bytes sha256 [0-9a-f]{16}\. You said: look$/)
    }
  })

  test('returns reasoning apart from its answer, and stops at the stop words', async () => {
    const { ask, sent } = await vendorWorld(app, token, native('usage=20:10'))
    for (const stream of [false, true]) {
      const answer = await ask([user('hello there you all')], { stream, fields: { reasoning_effort: 'high' } })
      expect(answer.reasoning).not.toBe('')
      expect(sent()?.body).toMatchObject({ think: 'high' })
      const short = await ask([user('hello there you all')], { stream, fields: { max_tokens: 2 } })
      expect(short.finish).toBe('length')
    }
  })

  test('serves every dialect of callers', async () => {
    await servesEveryDialect(app, token, native('usage=20:10'))
  })

  test('that fails, is cut or sends a broken line is never taken for finished', async () => {
    await isNeverFinished(
      app,
      token,
      ['words=9,errorevent=4', 'words=9,cut=5', 'words=9,fin=5', 'words=9,malformed=5'].map((does) => native(does)),
    )
    const { model } = await serve(app, native('status=404,message=model-not-pulled'))
    const refused = await say(app, chat, { token, model })
    expect(refused.status).toBe(404)
    expect(await refused.text()).toContain('model-not-pulled')
  })
})

test('Ollama is called by its OpenAI API, unless the call has fields that only the native API supports', async () => {
  const { ask, sent } = await vendorWorld(app, token, { type: 4, does: 'usage=20:10' })
  const pathOf = async (fields: Record<string, unknown>) => {
    for (const stream of [false, true]) {
      expect(await ask([user('hello')], { stream, fields })).toMatchObject({ text: 'You said: hello', finish: 'stop' })
    }
    return sent()?.path
  }
  expect(await pathOf({})).toBe('/v1/chat/completions')
  expect(await pathOf({ reasoning_effort: 'none' })).toBe('/v1/chat/completions')
  expect(await pathOf({ keep_alive: '10m' })).toBe('/api/chat')
  expect(await pathOf({ think: false })).toBe('/api/chat')
  expect(await pathOf({ options: { num_ctx: 4096 } })).toBe('/api/chat')
  expect(await pathOf({ top_k: 5 })).toBe('/api/chat')
  expect(sent()?.body).toMatchObject({ options: { top_k: 5 } })
})

test('Ollama is sent the images themselves, where a caller gives their addresses', async () => {
  const bytes = Buffer.from(image.slice(image.indexOf(',') + 1), 'base64')
  const files = await listenLocally(
    createServer((_, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end(bytes)),
  )
  const { ask, sent } = await vendorWorld(app, token, { type: 4, does: 'usage=20:10', upstreamModel: 'llava:7b' })
  for (const url of [`${files.url}/a.png`, image]) {
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url } },
    ]
    expect((await ask([user(content)])).text).toMatch(/^Image image\/png \d+ bytes .*You said: look$/)
    expect(sent()?.path).toBe('/v1/chat/completions')
  }
  await files[Symbol.asyncDispose]()
})

test('Ollama embeds by its own call, one row a text, in the encoding the caller wants', async () => {
  const { model } = await serve(app, { type: 4 })
  for (const encoding_format of ['float', 'base64']) {
    const body = { model, input: ['one', 'two'], dimensions: 4, encoding_format }
    const reply = await app.relay(token, '/v1/embeddings', body)
    const answer = (await reply.json()) as { data: { embedding: unknown }[]; usage: unknown }
    expect(app.upstream.requests.at(-1)).toMatchObject({
      path: '/api/embed',
      body: { model, input: ['one', 'two'], dimensions: 4 },
    })
    expect(answer.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 })
    expect(answer.data).toHaveLength(2)
    const [row] = answer.data
    if (encoding_format === 'float') expect(row?.embedding).toHaveLength(4)
    else expect(Buffer.from(String(row?.embedding), 'base64')).toHaveLength(16)
  }
})
