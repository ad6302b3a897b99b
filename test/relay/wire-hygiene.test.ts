import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import type { Play } from '#test/support/scripted-upstream.ts'
import { bytesOf, scenarios, type Scenario } from '../framing/scenarios.ts'
import { serve, withOptions } from './serve.ts'
import { chat, consumed, say, callerDialects } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'

const { app, scripted, token } = await startScriptedRelay({ options: { RetryTimes: '0' } })

const answer = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})
const asJson = { 'content-type': 'application/json' }
const [chatScenario] = scenarios as [Scenario]

async function ask(play: Play, stream = false, input: Partial<Parameters<typeof serve>[1]> = {}) {
  const { model } = await serve(app, { ...input, baseUrl: scripted.play(play) })
  const reply = await say(app, chat, { token, model, stream })
  return { reply, text: await reply.text() }
}

describe('headers', () => {
  test('of the caller that are its own business do not reach the upstream, and the upstream’s cookies not the caller', async () => {
    const play = { headers: { ...asJson, 'set-cookie': 'spy=1', 'x-powered-by': 'vendor' }, steps: [answer] }
    for (const type of [1, 14, 24]) {
      const { model } = await serve(app, { type, key: 'sk-channel', baseUrl: scripted.play(play) })
      const headers = {
        cookie: 'session=secret',
        'x-forwarded-for': '1.2.3.4',
        'x-real-ip': '1.2.3.4',
        forwarded: 'for=1.2.3.4',
        te: 'trailers',
        'x-stainless-os': 'Linux',
        'proxy-authorization': 'Basic x',
        referer: 'https://private.example',
        origin: 'https://private.example',
      }
      const reply = await say(app, chat, { token, model, headers })
      await reply.text()
      const sent = scripted.received.at(-1)?.headers ?? {}
      for (const name of Object.keys(headers)) expect(sent[name], name).toBeUndefined()
      expect(JSON.stringify(sent)).not.toContain(token.key)
      expect(JSON.stringify(sent)).toContain('sk-channel')
      expect(reply.headers.get('set-cookie')).toBeNull()
      expect(reply.headers.get('x-powered-by')).toBeNull()
    }
  })

  test('that describe the answer are passed to the caller', async () => {
    const passedHeaders = { 'x-ratelimit-remaining-requests': '7', 'openai-processing-ms': '12' }
    const { reply } = await ask({
      headers: { ...asJson, ...passedHeaders, 'openai-organization': 'ours' },
      steps: [answer],
    })
    expect(Object.fromEntries(reply.headers)).toMatchObject(passedHeaders)
    expect(reply.headers.get('openai-organization')).toBeNull()
  })

  test('that an operator set with line breaks or odd letters fail the call, not the process', async () => {
    for (const organization of ['a\r\nx-injected: 1', 'ключ', 'a\0b']) {
      const { ids, model } = await serve(app, { baseUrl: scripted.play({ headers: asJson, steps: [answer] }) })
      await app.pool.query('update channels set openai_organization = $1 where id = $2', [
        organization.replace('\0', '\u0001'),
        ids[0],
      ])
      await app.services.channels.reload(ids[0])
      const reply = await say(app, chat, { token, model })
      expect(reply.status, organization).toBeGreaterThanOrEqual(400)
      chat.readError(await reply.json())
      expect(scripted.received.at(-1)?.headers['x-injected']).toBeUndefined()
    }
    expect((await ask({ headers: asJson, steps: [answer] })).reply.status).toBe(200)
  })
})

describe('encodings', () => {
  const packings = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync }
  test.each(Object.keys(packings) as (keyof typeof packings)[])(
    'of bodies and streams are undone, and no stale length or encoding goes on: %s',
    async (encoding) => {
      const pack = packings[encoding]
      const unstreamed = await ask({
        headers: { ...asJson, 'content-encoding': encoding },
        steps: [pack(Buffer.from(answer))],
      })
      expect(unstreamed.text).toBe(answer)
      expect(unstreamed.reply.headers.get('content-encoding')).toBeNull()
      const streamed = await ask(
        { headers: { 'content-encoding': encoding }, steps: [pack(bytesOf(chatScenario))] },
        true,
        { type: 31 },
      )
      expect(streamed.text).toContain('ße 好')
      expect(streamed.text).toMatch(chat.closing)
      expect(streamed.reply.headers.get('content-encoding')).toBeNull()
      expect(streamed.reply.headers.get('content-length')).toBeNull()
    },
  )

  test('that are false, unknown or a bomb are clean errors, unbilled', async () => {
    const before = (await consumed(app)).length
    const bomb = gzipSync(Buffer.alloc(64 * 1_048_576, ' '))
    const plays: Play[] = [
      { headers: { ...asJson, 'content-encoding': 'gzip' }, steps: [answer] },
      { headers: { ...asJson, 'content-encoding': 'rot13' }, steps: [answer] },
      { headers: { ...asJson, 'content-encoding': 'gzip' }, steps: [bomb] },
      { headers: { 'content-encoding': 'gzip' }, steps: [bomb] },
      { headers: { ...asJson, 'content-length': '100000' }, steps: [answer] },
      { status: 204, headers: asJson, steps: [] },
      { headers: { 'content-type': 'text/html' }, steps: ['<html>log in</html>'] },
    ]
    for (const [index, play] of plays.entries()) {
      for (const stream of [false, true]) {
        const { reply, text } = await ask(play, stream, { setting: '{"idle_timeout":0.3,"first_byte_timeout":1}' })
        expect(reply.status, `${index} ${stream}`).toBeGreaterThanOrEqual(400)
        chat.readError(JSON.parse(text))
      }
    }
    expect((await consumed(app)).length).toBe(before)
  })

  test('a body announced as what it is not is read as what was asked for, or refused', async () => {
    const plain = await ask({ headers: { 'content-type': 'text/plain' }, steps: [answer] })
    expect(plain.reply.status).toBe(200)
    expect(JSON.parse(plain.text)).toEqual(JSON.parse(answer))
    const { reply } = await ask({ headers: asJson, steps: [bytesOf(chatScenario)] })
    expect(reply.status).toBeGreaterThanOrEqual(400)
  })
})

describe('usage of an answer that ends otherwise than well', () => {
  const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  const place = { item_id: 'm', output_index: 0, content_index: 0 }
  const usage = { input_tokens: 50, output_tokens: 20, total_tokens: 70 }
  const begun = [
    event('response.created', { response: { id: 'r', status: 'in_progress', output: [] } }),
    event('response.output_text.delta', { ...place, delta: 'yes' }),
  ]
  const responses = callerDialects[1] as (typeof callerDialects)[number]

  test.each([
    ['incomplete', { incomplete_details: { reason: 'max_output_tokens' } }],
    ['cancelled', {}],
    ['failed', { error: { code: 'server_error', message: 'it broke' } }],
  ])('is taken where it is reported: %s', async (status, more) => {
    const response = { id: 'r', status, output: [], usage, store: false, ...more }
    const baseUrl = scripted.play({ steps: [...begun, event(`response.${status}`, { response })] })
    const { model } = await serve(app, { baseUrl })
    const { model: translated } = await serve(app, { type: 3, upstreamModel: 'gpt-5-codex', baseUrl })
    const isFailed = status === 'failed'
    const calls = [
      { by: responses, model, end: isFailed ? 'it broke' : `event: response.${status}` },
      { by: chat, model: translated, end: isFailed ? 'it broke' : '"finish_reason":"length"' },
    ]
    for (const { by, end, ...call } of calls) {
      const text = await (await say(app, by, { token, ...call, stream: true })).text()
      expect([by.dialect, text]).toEqual([by.dialect, expect.stringContaining(end)])
      expect((await consumed(app)).at(-1)).toMatchObject({ prompt_tokens: 50, completion_tokens: 20 })
    }
  })

  test('is counted where none is reported, and the log says so', async () => {
    const steps = [
      ...begun,
      event('response.failed', { response: { id: 'r', status: 'failed', error: { message: 'x' } } }),
    ]
    const { model } = await serve(app, { baseUrl: scripted.play({ steps }) })
    await (await say(app, responses, { token, model, stream: true })).text()
    const row = (await consumed(app)).at(-1)
    expect(row).toMatchObject({ completion_tokens: 1 })
    expect(row?.other).toMatchObject({ usage_source: 'estimated', end: 'failed' })
  })
})

test('keep-alive comments are never written into an answer that is not streamed', async () => {
  const pings = { 'general_setting.ping_interval_enabled': 'true', 'general_setting.ping_interval_seconds': '1' }
  await withOptions(app, pings, async () => {
    const { text } = await ask({ headers: asJson, steps: [1300, answer] })
    expect(text).toBe(answer)
    const { model } = await serve(app, {
      baseUrl: scripted.play({ status: 500, headers: asJson, steps: [1300, '{}'] }),
    })
    const reply = await say(app, chat, { token, model })
    expect(reply.status).toBe(500)
    chat.readError(await reply.json())
  })
})

describe('a search of Claude Code', () => {
  const question = {
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Perform a web search for the query: capital of France' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }],
  }
  const text = 'Paris 🗼 is it.'
  const item = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
  const sources = [{ type: 'url', url: 'https://a.test' }]
  const annotation = { type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 8 }
  const response = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'm',
    output: [
      { ...item, action: { type: 'search', query: 'capital of France', sources } },
      { ...item, id: 'ws_2', action: { type: 'open_page', url: 'https://a.test' } },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [annotation] }],
      },
    ],
    usage: { input_tokens: 10, output_tokens: 2 },
  }
  const generated = {
    candidates: [
      {
        content: { role: 'model', parts: [{ text }] },
        finishReason: 'STOP',
        index: 0,
        groundingMetadata: {
          webSearchQueries: ['capital of France', ''],
          groundingChunks: [{ web: { uri: 'https://a.test', title: 'A' } }],
          groundingSupports: [{ segment: { endIndex: 10, text: 'Paris 🗼' }, groundingChunkIndices: [0] }],
        },
      },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2 },
    modelVersion: 'gemini-3-pro-preview',
  }
  // One search, at ten and at fourteen dollars a thousand.
  const families = [
    { name: 'OpenAI', type: 3, upstreamModel: 'gpt-5-codex', reply: response, quota: (10 + 2 * 8) * 37.5 + 5000 },
    {
      name: 'Gemini',
      type: 24,
      upstreamModel: 'gemini-3-pro-preview',
      reply: generated,
      quota: (10 + 2 * 6) * 37.5 + 7000,
    },
  ]

  test.each(families)(
    'over $name comes back as a call with its result, sources at their text, each charged once',
    async ({ type, upstreamModel, reply: given, quota }) => {
      const baseUrl = scripted.play({ headers: { 'content-type': 'application/json' }, steps: [JSON.stringify(given)] })
      const model = `search-by-${upstreamModel}`
      const modelMapping = JSON.stringify({ [model]: upstreamModel })
      await app.services.channels.reload((await app.make.channel({ type, baseUrl, models: model, modelMapping })).id)
      const before = (await consumed(app)).length
      const reply = await app.relay(token, '/v1/messages', { model, ...question })
      expect(reply.status).toBe(200)
      const body: unknown = await reply.json()
      const [use, result, ...texts] = (body as { content: Record<string, unknown>[] }).content
      expect(use).toMatchObject({ type: 'server_tool_use', name: 'web_search', input: { query: 'capital of France' } })
      expect(result).toMatchObject({
        type: 'web_search_tool_result',
        tool_use_id: use?.['id'],
        content: [{ type: 'web_search_result', url: 'https://a.test', title: 'A' }],
      })
      expect(texts).toMatchObject([
        { text: 'Paris 🗼', citations: [{ type: 'web_search_result_location', url: 'https://a.test', title: 'A' }] },
        { text: ' is it.' },
      ])
      expect(body).toMatchObject({ usage: { server_tool_use: { web_search_requests: 1 } } })
      const [row] = (await consumed(app)).slice(before)
      expect(row?.quota).toBe(quota)
    },
  )

  test('names written with escapes are those of their caller, whatever another has sent', async () => {
    const { model } = await serve(app, { type: 14, baseUrl: scripted.play({ headers: asJson, steps: [answer] }) })
    const sentWith = async (names: readonly [string, string]) => {
      const properties = `{"city":{"type":"string"},${names.map((name) => `"${name}":{"type":"string"}`).join(',')}}`
      const tool = `{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":${properties}}}}`
      const body = `{"model":"${model}","messages":[{"role":"user","content":"hi"}],"tools":[${tool}]}`
      const headers = { authorization: `Bearer sk-${token.key}`, 'content-type': 'application/json' }
      await (await fetch(`${app.url}/v1/chat/completions`, { method: 'POST', headers, body })).text()
      const { tools } = JSON.parse(Buffer.from(scripted.received.at(-1)?.bytes ?? '').toString()) as {
        tools: [{ input_schema: { properties: object } }]
      }
      return Object.keys(tools[0].input_schema.properties)
    }
    await sentWith([String.raw`\\u`, 'day'])
    expect(await sentWith([String.raw`\u65e5\u671f`, 'day'])).toEqual(['city', '日期', 'day'])
  })

  test('a token for a remote server goes to the upstream alone', async () => {
    const baseUrl = scripted.play({
      headers: { 'content-type': 'application/json' },
      steps: [
        JSON.stringify({
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [{ type: 'text', text: 'yes' }],
          stop_reason: 'end_turn',
          usage: { input_tokens: 3, output_tokens: 1 },
        }),
      ],
    })
    const { model } = await serve(app, { type: 14, baseUrl })
    const secret = 'token-of-a-remote-server'
    const tool = { type: 'mcp', server_label: 'docs', server_url: 'https://mcp.test', authorization: secret }
    const ask = (more: object) =>
      app.relay(token, '/v1/responses', { model, input: 'hi', tools: [{ ...tool, ...more }] })
    const reply = await ask({ require_approval: 'never' })
    expect(reply.status).toBe(200)
    expect(Buffer.from(scripted.received.at(-1)?.bytes ?? '').toString()).toContain(secret)
    const answer = await reply.text()
    const { id } = JSON.parse(answer) as { id: string }
    const stored = await fetch(`${app.url}/v1/responses/${id}`, {
      headers: { authorization: `Bearer sk-${token.key}` },
    })
    expect(stored.status).toBe(200)
    const dropped = await ask({})
    expect(dropped.headers.get('x-translation-loss')).toContain('tools.mcp')
    const texts = [answer, await stored.text(), await dropped.text(), JSON.stringify(await app.logs())]
    expect(texts.join()).not.toContain(secret)
  })
})

test('a call that fails in a way nobody foresaw is answered without a word of what broke, and the next one is served', async () => {
  const { model } = await serve(app, { baseUrl: scripted.play({ headers: asJson, steps: [answer] }) })
  const underWay = vi.spyOn(app.services.underWay, 'add').mockImplementationOnce(() => {
    throw new Error('an inner secret')
  })
  try {
    const broken = await say(app, chat, { token, model })
    expect([broken.status, await broken.text()]).toEqual([
      500,
      JSON.stringify({ error: { message: 'internal server error', type: 'gateway_error' } }),
    ])
  } finally {
    underWay.mockRestore()
  }
  const next = await say(app, chat, { token, model })
  expect([next.status, await next.text()]).toEqual([200, answer])
})
