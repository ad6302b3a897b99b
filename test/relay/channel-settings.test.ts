import { describe, expect, test, vi } from 'vitest'
import { chunks, json, type ScriptedUpstream } from '#test/support/scripted-upstream.ts'
import { serve, withOptions } from './serve.ts'
import { chat, consumed, say, callerDialects } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'

const { app, scripted, token } = await startScriptedRelay()

const usage = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 }
const piece = (delta: object, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'upstream',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
})
const end = { ...piece({}, { finish_reason: 'stop' }), usage }
const unstreamed = (message: object, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'upstream',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
  usage,
  ...more,
})

type Chunk = { choices: { delta: Record<string, unknown>; finish_reason: string | null }[]; usage?: unknown }

/** The chunks of a stream in the order they came; a comment as its text. */
const eventsOf = (text: string): (Chunk | string)[] =>
  text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => (event.startsWith('data: {') ? (JSON.parse(event.slice(6)) as Chunk) : event))

const deltasOf = (text: string) =>
  eventsOf(text).flatMap((event) => (typeof event === 'string' ? [] : event.choices.map((choice) => choice.delta)))

const join = (text: string, field: string): string =>
  deltasOf(text)
    .map((delta) => (typeof delta[field] === 'string' ? delta[field] : ''))
    .join('')

async function ask(setting: object, play: Parameters<ScriptedUpstream['play']>[0], more: object = {}, by = chat) {
  // An OpenAI-like vendor that speaks chat completions alone.
  const type = by === chat ? 1 : 31
  const { model } = await serve(app, { type, setting: JSON.stringify(setting), baseUrl: scripted.play(play) })
  const stream = 'stream' in more
  const reply = await say(app, by, { token, model, stream, body: { ...by.body(model, 'hi', stream), ...more } })
  return { reply, text: await reply.text() }
}

describe('thinking_to_content', () => {
  const thinking = chunks(
    piece({ role: 'assistant', content: '' }),
    piece({ reasoning_content: 'let me ' }),
    piece({ reasoning_content: 'see' }),
    piece({ content: 'yes' }),
    end,
  )

  test('puts streamed reasoning into the content between tags, in chunks of its own', async () => {
    const { text } = await ask({ thinking_to_content: true }, thinking, { stream: true })
    const content = deltasOf(text).flatMap((delta) => (delta['content'] ? [delta['content']] : []))
    expect(content).toEqual(['<think>\nlet me ', 'see', '\n</think>\n', 'yes'])
    expect(text).not.toContain('reasoning')
    expect(text).toMatch(chat.closing)
  })

  test('puts the reasoning of a complete answer in front of its content', async () => {
    const { text } = await ask(
      { thinking_to_content: true },
      json(unstreamed({ reasoning_content: 'hm', content: 'yes' })),
    )
    const { message } = JSON.parse(text).choices[0]
    expect(message.content).toBe('<think>\nhm\n</think>\nyes')
    expect(message.reasoning_content).toBeUndefined()
  })

  test('leaves an answer without reasoning unchanged', async () => {
    const { text } = await ask({ thinking_to_content: true }, json(unstreamed({ content: 'yes' })))
    expect(JSON.parse(text).choices[0].message.content).toBe('yes')
  })

  test('leaves reasoning in its own field where the dialect has one', async () => {
    const messages = callerDialects.find((by) => by.dialect === 'messages') ?? chat
    const { text } = await ask({ thinking_to_content: true }, thinking, { stream: true }, messages)
    expect(text).toContain('"thinking_delta","thinking":"let me "')
    expect(text).not.toContain('<think>')
  })
})

describe('think_tag_to_reasoning', () => {
  const content = '<think>\nlet me see</think>\n\nyes <b>'
  test('finds the tags wherever the stream cuts them', async () => {
    for (const size of [1, 2, 3, 5, 8, 13, 100]) {
      const cut = Array.from({ length: Math.ceil(content.length / size) }, (_, index) =>
        piece({ content: content.slice(index * size, (index + 1) * size) }),
      )
      const { text } = await ask({ think_tag_to_reasoning: true }, chunks(...cut, end), { stream: true })
      expect(join(text, 'reasoning_content'), String(size)).toBe('let me see')
      expect(join(text, 'content'), String(size)).toBe('yes <b>')
      expect(text).toMatch(chat.closing)
    }
  })

  test('of a complete answer too, for every dialect', async () => {
    for (const by of callerDialects) {
      const shown = { generationConfig: { thinkingConfig: { includeThoughts: true } } }
      const { text } = await ask({ think_tag_to_reasoning: true }, json(unstreamed({ content })), shown, by)
      expect(text.replace('let me see', 'found'), by.dialect).toMatch(/^(?!.*think>).*found/s)
    }
  })
})

test('force_format drops what is not of the canonical form and keeps what is', async () => {
  const odd = { ...piece({ content: 'yes', vendor_field: 1 }, { vendor: 2 }), service: 'x' }
  const probable = piece({ content: '!' }, { logprobs: { content: [{ token: '!', logprob: -1 }] } })
  const { text } = await ask({ force_format: true }, chunks(odd, probable, end), { stream: true })
  expect(text).not.toMatch(/vendor|service"/)
  expect(join(text, 'content')).toBe('yes!')
  expect(text).toContain('"logprobs":{"content":[{"token":"!","logprob":-1}]')
  const answer = await ask(
    { force_format: true },
    json(unstreamed({ content: 'yes', vendor_field: 1 }, { service: 'x' })),
  )
  expect(Object.keys(JSON.parse(answer.text)).toSorted()).toEqual(
    ['choices', 'created', 'id', 'model', 'object', 'system_fingerprint', 'usage'].toSorted(),
  )
  expect(answer.text).not.toContain('vendor')
  const plain = await ask({}, json(unstreamed({ content: 'yes', vendor_field: 1 })))
  expect(plain.text).toContain('vendor_field')
})

test('force_stream asks the upstream for a stream and answers in one piece', async () => {
  const play = chunks(piece({ content: 'a' }), piece({ content: 'b' }), end)
  const { reply, text } = await ask({ force_stream: true }, play)
  expect(reply.headers.get('content-type')).toContain('application/json')
  expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: 'ab' } }], usage })
  expect(JSON.parse(String(scripted.received.at(-1)?.bytes))).toMatchObject({
    stream: true,
    stream_options: { include_usage: true },
  })
  expect((await consumed(app)).at(-1)).toMatchObject({ is_stream: false, completion_tokens: 4 })
})

describe('a channel that cannot stream', () => {
  const setting = { stream_support: 'NON_STREAM_ONLY' }
  const called = {
    content: 'look',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
  }

  test('sends keep-alive comments and answers in one chunk, with the usage that was asked for', async () => {
    const play = json(unstreamed(called))
    const input = { stream: true, stream_options: { include_usage: true } }
    const { reply, text } = await ask(setting, play, input)
    expect(reply.headers.get('content-type')).toContain('text/event-stream')
    const [comment, answer, counted, closing, ...rest] = eventsOf(text)
    expect(comment).toBe(': WAITING FOR UPSTREAM')
    expect(answer).toMatchObject({
      object: 'chat.completion.chunk',
      choices: [
        {
          delta: { role: 'assistant', content: 'look', tool_calls: [{ index: 0, ...called.tool_calls[0] }] },
          finish_reason: 'tool_calls',
        },
      ],
    })
    expect(counted).toMatchObject({ choices: [], usage })
    expect([closing, ...rest]).toEqual(['data: [DONE]'])
    const asked = JSON.parse(String(scripted.received.at(-1)?.bytes))
    expect(asked.stream).not.toBe(true)
    expect(asked.stream_options).toBeUndefined()
  })

  test('sends the first comment before the upstream has answered, and another every five seconds', async () => {
    const answered = Promise.withResolvers<void>()
    const steps = [answered.promise, JSON.stringify(unstreamed(called))]
    const baseUrl = scripted.play({ headers: { 'content-type': 'application/json' }, steps })
    const { model } = await serve(app, { type: 1, setting: JSON.stringify(setting), baseUrl })
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const reply = await say(app, chat, { token, model, stream: true })
      vi.advanceTimersByTime(5000)
      answered.resolve()
      expect((await reply.text()).match(/: WAITING FOR UPSTREAM\n\n/g)).toHaveLength(2)
    } finally {
      vi.useRealTimers()
    }
  })

  test('ends in an error event when it fails after its comments, in every dialect', async () => {
    await withOptions(app, { RetryTimes: '0' }, async () => {
      for (const by of callerDialects) {
        const play = { status: 500, headers: { 'content-type': 'application/json' }, steps: ['{"error":"no luck"}'] }
        const { reply, text } = await ask(setting, play, by.dialect === 'generateContent' ? {} : { stream: true }, by)
        if (by.dialect === 'generateContent') continue
        expect(reply.status, by.dialect).toBe(200)
        expect(text, by.dialect).toContain('no luck')
        expect(text, by.dialect).not.toMatch(by.closing)
      }
    })
  })

  test('gives way to another channel though its comments were sent', async () => {
    const failing = scripted.play({ status: 500, steps: ['{}'] })
    const { model } = await serve(
      app,
      { setting: JSON.stringify(setting), baseUrl: failing, priority: 2 },
      { baseUrl: scripted.play(chunks(piece({ content: 'here' }), end)), priority: 1 },
    )
    const text = await (await say(app, chat, { token, model, stream: true })).text()
    expect(text).toMatch(/^: WAITING FOR UPSTREAM\n\n/)
    expect(join(text, 'content')).toBe('here')
    expect(text).toMatch(chat.closing)
  })
})

describe('an override', () => {
  test('cannot give a thinking or reasoning model the temperature it refuses', async () => {
    const cases = [
      { type: 14, name: 'claude-sonnet-4-5-thinking', version: '2023-06-01', temperature: 1 },
      { type: 14, name: 'claude-opus-5-5', version: '2026-10-21', temperature: undefined },
      { type: 1, name: 'o3-mini', version: undefined, temperature: undefined },
    ]
    for (const { type, name, version, temperature } of cases) {
      const [channel] = (
        await serve(app, {
          type,
          baseUrl: scripted.play({ status: 400, steps: ['{}'] }),
          paramOverride: '{"temperature":0.2}',
        })
      ).ids
      await app.pool.query('update channels set models = $1 where id = $2', [name, channel])
      await app.services.channels.reload()
      const headers = { 'anthropic-version': '2026-10-21' }
      await (await say(app, chat, { token, model: name, headers })).text()
      const sent = scripted.received.findLast(({ bytes }) => bytes.length > 0)
      expect(JSON.parse(String(sent?.bytes)).temperature, name).toBe(temperature)
      expect(sent?.headers['anthropic-version'], name).toBe(version)
    }
  })

  test('that adds a sampling field forces the version that takes it', async () => {
    const baseUrl = scripted.play({ status: 400, steps: ['{}'] })
    const { ids } = await serve(app, { type: 14, baseUrl, paramOverride: '{"temperature":0.2}' })
    await app.pool.query("update channels set models = 'claude-sonnet-4-6' where id = $1", [ids[0]])
    await app.services.channels.reload()
    const messages = callerDialects.find((by) => by.dialect === 'messages') ?? chat
    const headers = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'some-beta' }
    await (await say(app, messages, { token, model: 'claude-sonnet-4-6', headers })).text()
    const sent = scripted.received.findLast(({ bytes }) => bytes.length > 0)
    expect(sent?.headers).toMatchObject({ 'anthropic-version': '2023-06-01', 'anthropic-beta': 'some-beta' })
    expect(JSON.parse(String(sent?.bytes)).temperature).toBe(0.2)
  })
})

test('a body that passes through is the caller’s own to every upstream, whatever else is set', async () => {
  const body = { model: '', odd: [1], max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] }
  for (const type of [1, 14, 24]) {
    const { model } = await serve(app, {
      type,
      baseUrl: scripted.play({ status: 400, steps: ['{}'] }),
      setting: '{"pass_through_body_enabled":true}',
      paramOverride: '{"seed":1}',
      systemPrompt: 'channel',
    })
    await (await say(app, chat, { token, model, body: { ...body, model } })).text()
    expect(JSON.parse(String(scripted.received.at(-1)?.bytes)), String(type)).toEqual({ ...body, model })
  }
})

test('the site’s own switch passes every body through, whatever its channel says', async () => {
  await withOptions(app, { 'global.pass_through_request_enabled': 'true' }, async () => {
    const { model } = await serve(app, {
      type: 14,
      baseUrl: scripted.play({ status: 400, steps: ['{}'] }),
      systemPrompt: 'channel',
    })
    const body = { model, odd: [1], messages: [{ role: 'user', content: 'hi' }] }
    await (await say(app, chat, { token, model, body })).text()
    expect(JSON.parse(String(scripted.received.at(-1)?.bytes))).toEqual(body)
  })
})

test('a balance is reported in dollars or units, of the token or of its owner, as the site has it', async () => {
  const owner = await app.make.user({ quota: 3_000_000 })
  const own = await app.make.token(owner, { remainQuota: 1_000_000 })
  const limit = async () => {
    const reply = await fetch(`${app.url}/v1/dashboard/billing/subscription`, {
      headers: { authorization: `Bearer ${own.key}` },
    })
    return ((await reply.json()) as { hard_limit_usd: number }).hard_limit_usd
  }
  const shown: [Record<string, string>, number][] = [
    [{ DisplayTokenStatEnabled: 'true' }, 2],
    [{ DisplayTokenStatEnabled: 'false' }, 6],
    [{ DisplayTokenStatEnabled: 'true', DisplayInCurrencyEnabled: 'false' }, 1_000_000],
    [{ DisplayTokenStatEnabled: 'false', QuotaPerUnit: '1000000' }, 3],
  ]
  for (const [options, expected] of shown)
    await withOptions(app, options, async () => expect(await limit(), JSON.stringify(options)).toBe(expected))
})

test('what is written to a cache costs what the table of cache writes says, 1.25 without a row', async () => {
  const { model } = await serve(app, { type: 14, does: 'usage=1000:10:0:400' })
  const charged = async () => {
    await (await say(app, chat, { token, model })).text()
    const receipt = (await consumed(app)).at(-1)?.other['receipt'] as { price: object; usage: object } | undefined
    return { ...receipt?.price, ...receipt?.usage }
  }
  const prices = { ModelRatio: JSON.stringify({ [model]: 1 }) }
  await withOptions(app, prices, async () => expect(await charged()).toMatchObject({ cacheWriteRatio: 1.25 }))
  await withOptions(app, { ...prices, CreateCacheRatio: JSON.stringify({ [model]: 3 }) }, async () =>
    expect(await charged()).toMatchObject({ cacheWriteRatio: 3 }),
  )
})

test('the log has the system prompt as the channel set it, where contents are logged', async () => {
  await withOptions(app, { LogChatContentEnabled: 'true' }, async () => {
    const systemPrompt = 'channel'
    const body = (model: string) => ({
      model,
      messages: [
        { role: 'system', content: 'caller' },
        { role: 'user', content: 'hi' },
      ],
    })
    const replacing = await serve(app, { systemPrompt })
    await (await say(app, chat, { token, body: body(replacing.model) })).text()
    expect((await consumed(app)).at(-1)?.other).toMatchObject({ system_prompt: 'channel' })
    expect((await consumed(app)).at(-1)?.other['system_prompt_override']).toBeUndefined()
    const leading = await serve(app, { systemPrompt, setting: '{"system_prompt_override":true}' })
    await (await say(app, chat, { token, body: body(leading.model) })).text()
    expect((await consumed(app)).at(-1)?.other).toMatchObject({
      system_prompt: 'channel\ncaller',
      system_prompt_override: true,
    })
  })
})

describe('what root sets for a vendor', () => {
  /** What reaches the vendor when a model it knows as `known` is called by another name under these options. */
  async function sentTo(type: number, known: string, options: (name: string) => Record<string, unknown>) {
    const { model, ids } = await serve(app, { type, baseUrl: scripted.play({ status: 400, steps: ['{}'] }) })
    await app.pool.query('update channels set model_mapping = $1 where id = any ($2)', [`{"${model}":"${known}"}`, ids])
    for (const id of ids) await app.services.channels.reload(id)
    const texts = Object.entries(options(model)).map(([key, value]) => [key, JSON.stringify(value)])
    await withOptions(app, Object.fromEntries(texts), async () => {
      await (await say(app, chat, { token, body: { ...chat.body(model, 'hi', false), max_tokens: 10_000 } })).text()
    })
    const { path, headers, bytes } = scripted.received.at(-1) ?? {}
    return { path, headers, body: JSON.parse(String(bytes)) as Record<string, unknown> }
  }
  const thinking = 'claude-sonnet-4-5-thinking'
  const reasoner = 'gemini-2.5-flash-thinking'
  const adapter = { 'gemini.thinking_adapter_enabled': true }

  test('Gemini is asked under its safety levels, version, shares and lists of models', async () => {
    const levels = { default: 'BLOCK_NONE', HARM_CATEGORY_HARASSMENT: 'BLOCK_ONLY_HIGH' }
    const { path, body } = await sentTo(24, 'gemini-2.5-flash', (name) => ({
      'gemini.safety_settings': levels,
      'gemini.version_settings': { default: 'v1beta', [name]: 'v1alpha' },
      'gemini.supported_imagine_models': [name],
      'gemini.models_supported_thinking_budget': [name],
    }))
    expect(path).toMatch(/^\/v1alpha\//)
    expect(body['safetySettings']).toContainEqual({
      category: 'HARM_CATEGORY_HARASSMENT',
      threshold: 'BLOCK_ONLY_HIGH',
    })
    expect(body['generationConfig']).toMatchObject({
      responseModalities: ['TEXT', 'IMAGE'],
      thinkingConfig: { includeThoughts: true },
    })
    const half = { ...adapter, 'gemini.thinking_adapter_budget_tokens_percentage': 0.5 }
    expect((await sentTo(24, reasoner, () => half)).body['generationConfig']).toMatchObject({
      thinkingConfig: { thinkingBudget: 5000 },
    })
    expect((await sentTo(24, reasoner, () => ({}))).path).toContain(`/${reasoner}:`)
  })

  test('Claude is asked under its headers, limit and share for thinking, and by the full name without the adapter', async () => {
    const { headers, body } = await sentTo(14, thinking, (name) => ({
      'claude.model_headers_settings': { [name]: { 'anthropic-beta': ['a', 'b'] } },
      'claude.thinking_adapter_budget_tokens_percentage': 0.25,
    }))
    expect(headers?.['anthropic-beta']).toBe('a,b')
    expect(body).toMatchObject({ model: 'claude-sonnet-4-5', thinking: { budget_tokens: 2500 } })
    const off = await sentTo(14, thinking, () => ({ 'claude.thinking_adapter_enabled': false }))
    expect(off.body['model']).toBe(thinking)
    const { model } = await serve(app, { type: 14, baseUrl: scripted.play({ status: 400, steps: ['{}'] }) })
    await withOptions(app, { 'claude.default_max_tokens': `{"default":8192,"${model}":1234}` }, async () => {
      await (await say(app, chat, { token, model })).text()
    })
    expect(JSON.parse(String(scripted.received.at(-1)?.bytes))).toMatchObject({ max_tokens: 1234 })
  })
})
