import { expect, test } from 'vitest'
import { chunks, cut, json } from '#test/support/scripted-upstream.ts'
import { consumed } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'

const { app, scripted, token } = await startScriptedRelay()

const tokens = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
const choice = { index: 0, finish_reason: 'stop' }

async function charged(type: number, asked: object, { usage = tokens, stream = false, override = {} } = {}) {
  const answer = { ...choice, message: { role: 'assistant', content: 'found' } }
  const chunk = { ...choice, delta: { role: 'assistant', content: 'found' } }
  const play = stream ? chunks({ id: 'a', choices: [chunk], usage }) : json({ id: 'a', choices: [answer], usage })
  const paramOverride = JSON.stringify(override)
  const { model } = await serve(app, { type, baseUrl: scripted.play(play), paramOverride })
  const body = { model, messages: [{ role: 'user', content: 'what is new' }], stream, ...asked }
  const reply = await app.relay(token, '/v1/chat/completions', body)
  expect([reply.status, (await reply.text()).includes('found')]).toEqual([200, true])
  const row = (await consumed(app)).at(-1)
  return { quota: row?.quota, calls: row?.other['web_search_call_count'] }
}

/** (10 + 2) × 37.5, and 10 dollars for a thousand searches. */
const withSearches = (calls: number) => ({ quota: 450 + calls * 5000, calls: calls || undefined })

const settings: [number, string, { tools?: object[] } & Record<string, unknown>][] = [
  [20, 'a plugin', { plugins: [{ id: 'web' }] }],
  [20, 'options', { web_search_options: {} }],
  [20, 'a tool of the gateway', { tools: [{ type: 'openrouter:web_search' }] }],
  [17, 'a switch', { enable_search: true }],
  [26, 'a tool', { tools: [{ type: 'web_search', web_search: { enable: true } }] }],
  [46, 'a setting', { web_search: { enable: true } }],
]

test.each(settings)('a search asked for of a vendor of type %i by %s is charged once', async (type, _, asked) => {
  expect(await charged(type, asked)).toEqual(withSearches(1))
  expect(await charged(type, asked, { stream: true })).toEqual(withSearches(1))
})

test('what a vendor counts itself is charged as it counts', async () => {
  const usage = { ...tokens, server_tool_use: { web_search_requests: 3 } }
  expect(await charged(20, { plugins: [{ id: 'web' }] }, { usage })).toEqual(withSearches(3))
  expect(await charged(20, {}, { usage, stream: true })).toEqual(withSearches(3))
  const none = { ...tokens, server_tool_use: { web_search_requests: 0 } }
  expect(await charged(20, { tools: [{ type: 'openrouter:web_search' }] }, { usage: none })).toEqual(withSearches(0))
  const plugins = { ...tokens, plugins: { search: { count: 2 } } }
  expect(await charged(17, { enable_search: true }, { usage: plugins })).toEqual(withSearches(2))
})

test('a count of searches that cannot be is none, and no call is charged more of them than it allows', async () => {
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] }
  const event = (type: string, rest: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
  const charge = async (requests: number, allowed?: number) => {
    const steps = [
      event('message_start', {
        message: {
          ...message,
          usage: { input_tokens: 8, output_tokens: 1, server_tool_use: { web_search_requests: requests } },
        },
      }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'found' } }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } }),
      event('message_stop', {}),
    ]
    const { model } = await serve(app, { type: 14, baseUrl: scripted.play({ steps }) })
    const tool = { type: 'web_search_20250305', name: 'web_search', ...(allowed ? { max_uses: allowed } : {}) }
    const body = { model, stream: true, max_tokens: 100, tools: [tool], messages: [{ role: 'user', content: 'hi' }] }
    const reply = await app.relay(token, '/v1/messages', body)
    expect(reply.status, await reply.text()).toBe(200)
    const row = (await consumed(app)).at(-1)
    return [row?.quota, row?.other['usage_corrected']]
  }
  // 12 tokens at 37.5, and searches at ten dollars a thousand.
  const of = (searches: number): number => 12 * 37.5 + searches * 5000
  expect(await charge(900_000_000)).toEqual([of(0), true])
  expect(await charge(900_000_000, 5)).toEqual([of(0), true])
  expect(await charge(7, 5)).toEqual([of(5), true])
  expect(await charge(5, 5)).toEqual([of(5), undefined])
  expect(await charge(7)).toEqual([of(7), undefined])
  // Elsewhere a search that is asked for and not reported is one.
  const usage = { ...tokens, server_tool_use: { web_search_requests: 900_000_000 } }
  expect(await charged(20, { plugins: [{ id: 'web' }] }, { usage })).toEqual(withSearches(1))
})

test('searches of Moonshot are charged by the call that hands their results back, and by that alone', async () => {
  const call = (id: string, name = '$web_search') => ({
    id,
    type: 'builtin_function',
    function: { name, arguments: '{}' },
  })
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: '{}' })
  const tools = [{ type: 'builtin_function', function: { name: '$web_search' } }]
  const question = { role: 'user', content: 'what is new' }
  const asking = { role: 'assistant', content: '', tool_calls: [call('a'), call('b'), call('c', 'other')] }
  const back = [question, asking, result('a'), result('b'), result('c')]
  for (const stream of [false, true]) {
    expect(await charged(25, { tools }, { stream })).toEqual(withSearches(0))
    expect(await charged(25, { tools, messages: back }, { stream })).toEqual(withSearches(2))
  }
  const override = { temperature: 0 }
  expect(await charged(25, { tools, messages: back }, { override })).toEqual(withSearches(2))
  const begun = { role: 'assistant', content: 'In short:', partial: true }
  for (const behind of [[question], [{ role: 'system', content: 'be brief' }], [begun]])
    expect(await charged(25, { tools, messages: [...back, ...behind] })).toEqual(withSearches(2))
  const named = [question, { ...asking, partial: true }, ...back.slice(2)]
  expect(await charged(25, { tools, messages: named })).toEqual(withSearches(2))
  const later = [...back, { role: 'assistant', content: 'found' }, question]
  for (const messages of [later, [...later, begun]])
    expect(await charged(25, { tools, messages })).toEqual(withSearches(0))
})

test.each([
  ['x_tools', { x_tools: { web_search: { count: 2 } } }],
  ['tool_usage', { tool_usage: { web_search: 2 } }],
  ['server_side_tool_usage_details', { server_side_tool_usage_details: { web_search_calls: 1, x_search_calls: 1 } }],
])('searches that a vendor counts in %s are charged, asked for by such a word or not', async (_, more) => {
  const usage = { ...tokens, ...more }
  expect(await charged(1, {}, { usage })).toEqual(withSearches(2))
  expect(await charged(1, { web_search_options: {} }, { usage, stream: true })).toEqual(withSearches(2))
})

test('a search is set aside for before it is asked for', async () => {
  const found = { ...choice, message: { role: 'assistant', content: 'found' } }
  const { model } = await serve(app, {
    type: 20,
    baseUrl: scripted.play(json({ id: 'a', choices: [found], usage: tokens })),
  })
  for (const [asked, status] of [
    [{}, 200],
    [{ plugins: [{ id: 'web' }] }, 403],
    [{ enable_search: true }, 403],
    [{ tools: [{ type: 'openrouter:web_search' }] }, 403],
    [{ tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }, 403],
  ] as const) {
    // Enough for the answer, and less than a search.
    const poor = await app.make.token(await app.make.user({ quota: 4900 }))
    const body = { model, max_tokens: 10, messages: [{ role: 'user', content: 'what is new' }], ...asked }
    expect([asked, (await app.relay(poor, '/v1/chat/completions', body)).status]).toEqual([asked, status])
  }
})

test('what stands beside the words that aim a call stays in it', async () => {
  const harmless = {
    extra_body: { google: { thinking_config: { thinking_budget: 0 } } },
    providerOptions: { openai: { store: false } },
    provider: { order: ['a'] },
    transforms: ['middle-out'],
    service_tier: 'flex',
    plugins: [{ id: 'response-healing' }],
  }
  const { extra_body: own, providerOptions } = harmless
  const added = { extra_body: { ...own, model: 'dearer' }, providerOptions: { ...providerOptions, gateway: {} } }
  await charged(20, { ...harmless, ...added })
  const sent = JSON.parse(String(scripted.received.at(-1)?.bytes)) as Record<string, unknown>
  expect(sent).toMatchObject(harmless)
  expect(sent['extra_body']).toEqual(own)
  expect(sent['providerOptions']).toEqual(providerOptions)
})

test('vendors who have no word for a search pass over those of others, and nothing is charged for them', async () => {
  for (const type of [25, 40, 42, 43])
    for (const [, , asked] of settings.filter(([, , { tools }]) => !tools)) {
      expect(await charged(type, asked)).toEqual(withSearches(0))
      expect(await charged(type, asked, { stream: true })).toEqual(withSearches(0))
    }
})

test('nothing is charged for a search that is switched off, or for other tools and plugins', async () => {
  expect(await charged(17, { enable_search: false })).toEqual(withSearches(0))
  expect(await charged(46, { web_search: { enable: false } })).toEqual(withSearches(0))
  expect(await charged(26, { tools: [{ type: 'web_search', web_search: { enable: false } }] })).toEqual(withSearches(0))
  const named = { type: 'function', function: { name: 'web_search', parameters: { type: 'object' } } }
  expect(await charged(1, { tools: [named], plugins: [{ id: 'response-healing' }] })).toEqual(withSearches(0))
})

test('nothing is charged for a search that the channel’s override takes out of the call', async () => {
  for (const stream of [false, true])
    for (const override of [{ enable_search: false }, { enable_search: null }])
      expect(await charged(17, { enable_search: true }, { override, stream })).toEqual(withSearches(0))
  const override = { temperature: 0 }
  expect(await charged(17, { enable_search: true }, { override })).toEqual(withSearches(1))
})

test('entries by which other models would work for a call are not sent on', async () => {
  const plugins = [{ id: 'fusion', model: 'dearer' }, { id: 'web' }]
  const tools = ['openrouter:advisor', 'advisor_20260301'].map((type) => ({ type, model: 'dearer' }))
  await charged(20, { plugins, tools })
  const sent = JSON.parse(String(scripted.received.at(-1)?.bytes)) as object
  expect(sent).toMatchObject({ plugins: [{ id: 'web' }] })
  expect(sent).not.toHaveProperty('tools')
})

test('reasoning that only the total counts, as at Google’s address of this form, is charged as output', async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 112 }
  for (const stream of [false, true]) expect((await charged(1, {}, { usage, stream })).quota).toBe(112 * 37.5)
  // What came from a cache and is counted beside the prompt is no output.
  const apart = { ...usage, prompt_tokens_details: { cached_tokens: 100 } }
  expect((await charged(1, {}, { usage: apart })).quota).toBe(12 * 37.5)
})

test('figures of FastGPT, which are one and one of every answer, are none, and its answers are counted as their streams are', async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 1 }
  const complete = await charged(22, {}, { usage })
  expect(complete).toEqual(await charged(1, {}, { usage: {} as typeof tokens }))
  expect(complete.quota).toBeGreaterThan(2 * 37.5)
})

test('a conversation that Anthropic shortens on the way is charged with the request that this takes', async () => {
  const compaction = { type: 'compaction', input_tokens: 1000, output_tokens: 100, cache_read_input_tokens: 0 }
  const iterations = [compaction, { type: 'message', input_tokens: 10, output_tokens: 2 }]
  const usage = { input_tokens: 10, output_tokens: 2, iterations }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'theirs', stop_reason: null, content: [] }
  const complete = { ...message, content: [{ type: 'text', text: 'found' }], stop_reason: 'end_turn', usage }
  const events = [
    { type: 'message_start', message: { ...message, usage: { input_tokens: 10, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'found' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
  const streamed = { steps: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`) }
  for (const stream of [false, true]) {
    const { model } = await serve(app, { type: 14, baseUrl: scripted.play(stream ? streamed : json(complete)) })
    const body = { model, max_tokens: 10, stream, messages: [{ role: 'user', content: 'hi' }] }
    for (const path of ['/v1/messages', '/v1/chat/completions']) {
      const reply = await app.relay(token, path, body)
      expect([reply.status, (await reply.text()).includes('found')]).toEqual([200, true])
      expect((await consumed(app)).at(-1)).toMatchObject({ quota: 1112 * 37.5 })
    }
  }
})

test.each([
  [
    'Anthropic',
    14,
    '/v1/messages',
    [
      { type: 'message_start', message: { content: [], usage: { input_tokens: 1000, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'found' } },
    ],
  ],
  [
    'a host of the responses form',
    1,
    '/v1/responses',
    [
      { type: 'response.created', response: { usage: { input_tokens: 1000, output_tokens: 0, total_tokens: 1000 } } },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'found' },
    ],
  ],
])('a stream that is cut costs the input that %s counted at its beginning', async (_, type, path, events) => {
  const steps = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const { model } = await serve(app, { type, baseUrl: scripted.play({ steps: [...steps, cut] }) })
  const asked = path === '/v1/responses' ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] }
  const reply = await app.relay(token, path, { model, max_tokens: 10, stream: true, ...asked })
  expect([reply.status, (await reply.text()).includes('found')]).toEqual([200, true])
  const row = (await consumed(app)).at(-1)
  expect(row).toMatchObject({ prompt_tokens: 1000, completion_tokens: 1, other: { end: 'failed' } })
})

test.each(['/v1/responses', '/v1/messages'])(
  'the tools of a response that reports no usage are charged, streamed or not, and its tokens are counted, at %s',
  async (path) => {
    const text = { type: 'output_text', text: 'found', annotations: [] }
    const output = [
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: [] },
      { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] },
    ]
    const complete = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output }
    const events = [
      { type: 'response.created', response: { ...complete, status: 'in_progress', output: [] } },
      ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
      { type: 'response.output_text.delta', output_index: 2, content_index: 0, delta: 'found' },
      { type: 'response.completed', response: complete },
    ]
    const steps = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    const asked = path === '/v1/responses' ? { input: 'hi' } : { messages: [{ role: 'user', content: 'hi' }] }
    for (const stream of [false, true]) {
      const baseUrl = scripted.play(stream ? { steps } : json(complete))
      const { model } = await serve(app, { baseUrl })
      const reply = await app.relay(token, path, { model, max_tokens: 10, stream, ...asked })
      const body = await reply.text()
      expect([reply.status, body.includes('found')], body).toEqual([200, true])
      const row = (await consumed(app)).at(-1)
      expect(row, String(stream)).toMatchObject({ model_name: model, completion_tokens: 1 })
      const prompt = Number(row?.prompt_tokens)
      expect(prompt).toBeGreaterThan(1)
      const tools = { usage_source: 'estimated', web_search_call_count: 1, file_search_call_count: 1 }
      expect(row?.other, String(stream)).toMatchObject(tools)
      // Ten dollars for a thousand searches of the web, 2.5 for a thousand of files. Claude's formula rounds down.
      const exact = (prompt + 1) * 37.5
      const rounded = path === '/v1/messages' ? Math.floor(exact) : Math.round(exact)
      expect(row?.quota, String(stream)).toBe(rounded + 5000 + 1250)
      // What was counted here is reported to the caller, where the answer is put in its words.
      if (path === '/v1/messages' && !stream)
        expect(JSON.parse(body).usage).toMatchObject({ input_tokens: prompt, output_tokens: 1 })
    }
  },
)
