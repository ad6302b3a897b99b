import { createServer } from 'node:http'
import { beforeEach, describe, expect, test } from 'vitest'
import { consumed } from './caller-dialects.ts'
import { startScriptedRelay } from './relay-world.ts'
import { serve } from './serve.ts'
import { listenLocally } from '#test/support/local-server.ts'

const { app, scripted, token } = await startScriptedRelay({ options: { RetryTimes: '0' } })
beforeEach(() => app.upstream.clear())

/** https://code.claude.com/docs/en/llm-gateway-protocol */
describe('what Claude’s applications require of a gateway', () => {
  const betas = 'claude-code-20250219,interleaved-thinking-2025-05-14,some-beta-of-2027'
  const headers = {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': betas,
    'x-claude-code-session-id': 'session-of-claude',
    'x-claude-code-agent-id': 'agent-of-claude',
    'user-agent': 'claude-cli/2.1.197 (external, cli)',
  }
  const messages = [{ role: 'user', content: 'hello' }]
  const billing = 'x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=cli;'
  const answer = {
    headers: { 'content-type': 'application/json', 'anthropic-ratelimit-requests-remaining': '7' },
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
  }
  const ask = (model: string, more: object = {}, path = '/v1/messages?beta=true') =>
    app.relay(token, path, { model, max_tokens: 100, messages, ...more }, { headers })

  test('version and betas reach the upstream byte for byte, unknown ones included', async () => {
    const { model } = await serve(app, { type: 14, baseUrl: scripted.play(answer) })
    expect((await ask(model)).status).toBe(200)
    expect(scripted.received.at(-1)?.headers).toMatchObject({
      'anthropic-version': '2023-06-01',
      'anthropic-beta': betas,
    })
  })

  test('the body reaches it byte for byte: attribution first, fields that nobody knows, numbers beyond doubles', async () => {
    const { model } = await serve(app, { type: 14, baseUrl: scripted.play(answer) })
    const system = `[{"type":"text","text":"${billing}"},{"type":"text","text":"You are Claude Code."}]`
    const body = `{"model":"${model}", "max_tokens":100,"system":${system},"messages":[{"role":"user","content":"hi"}],"of_2027":{"n":12345678901234567890}}`
    const reply = await app.relay(token, '/v1/messages?beta=true', body, { headers })
    expect(reply.status).toBe(200)
    expect(scripted.received.at(-1)?.bytes.toString()).toBe(body)
  })

  test('session and agent stand in the log', async () => {
    const { model } = await serve(app, { type: 14, baseUrl: scripted.play(answer) })
    expect((await ask(model)).status).toBe(200)
    const row = (await consumed(app)).at(-1)
    expect(row?.other).toMatchObject({ session: 'session-of-claude', agent: 'agent-of-claude' })
  })

  test('tokens are counted, under the same version and betas', async () => {
    const counted = { headers: { 'content-type': 'application/json' }, steps: ['{"input_tokens":42}'] }
    const { model } = await serve(app, { type: 14, baseUrl: scripted.play(counted) })
    const reply = await app.relay(token, '/v1/messages/count_tokens?beta=true', { model, messages }, { headers })
    expect(await reply.json()).toEqual({ input_tokens: 42 })
    expect(scripted.received.at(-1)).toMatchObject({
      path: expect.stringContaining('/v1/messages/count_tokens') as unknown,
      headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': betas },
    })
  })

  test('models are found by whichever header the key comes in, each with what it holds', async () => {
    await app.make.channel({ type: 14, models: 'claude-sonnet-4-20250514' })
    await app.services.channels.reload()
    const ways: [string, string][] = [
      ['authorization', `Bearer sk-${token.key}`],
      ['x-api-key', `sk-${token.key}`],
    ]
    for (const way of ways) {
      const reply = await fetch(`${app.url}/v1/models?limit=1000`, {
        headers: [['anthropic-version', '2023-06-01'], way],
      })
      const { data, has_more: hasMore } = (await reply.json()) as { data: { id: string }[]; has_more: boolean }
      expect(hasMore).toBe(false)
      expect(data.find(({ id }) => id === 'claude-sonnet-4-20250514')).toMatchObject({
        type: 'model',
        display_name: 'claude-sonnet-4-20250514',
        max_input_tokens: 200_000,
      })
    }
  })

  test('limits of the upstream and its failures come back as it sent them', async () => {
    const { model } = await serve(app, { type: 14, baseUrl: scripted.play(answer) })
    expect((await ask(model)).headers.get('anthropic-ratelimit-requests-remaining')).toBe('7')
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    const { model: busy } = await serve(app, {
      type: 14,
      baseUrl: scripted.play({
        status: 529,
        headers: { 'content-type': 'application/json', 'retry-after': '3' },
        steps: [JSON.stringify(overloaded)],
      }),
    })
    const reply = await ask(busy)
    expect(reply.status).toBe(529)
    expect(reply.headers.get('retry-after')).toBe('3')
    expect(reply.headers.get('x-should-retry')).not.toBe('false')
    expect(await reply.json()).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } })
  })
})

/** A vendor that keeps the prompts of each key, and says how much of a prompt it had kept. A token is four characters. */
async function startCachingUpstream() {
  const promptsByKey = new Map<string, string[]>()
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { tools, system, messages } = JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>
    const prompt = JSON.stringify([tools, system, messages])
    const key = String(request.headers['x-api-key'] ?? request.headers.authorization)
    const before = promptsByKey.get(key) ?? []
    const shared = (other: string): number => {
      let at = 0
      while (at < other.length && other[at] === prompt[at]) at += 1
      return at
    }
    const cached = Math.floor(Math.max(0, ...before.map(shared)) / 4)
    promptsByKey.set(key, [...before, prompt])
    const total = Math.ceil(prompt.length / 4)
    const usage = { input_tokens: total - cached, cache_read_input_tokens: cached, output_tokens: 5 }
    const content = [{ type: 'text', text: `answer ${before.length}` }]
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content,
        stop_reason: 'end_turn',
        usage,
      }),
    )
  })
  return listenLocally(server)
}

test('a session of ten turns over many channels and keys finds as much cached as one that asks its vendor itself', async () => {
  await using vendor = await startCachingUpstream()
  const route = { type: 14, key: 'key-a,key-b,key-c', baseUrl: vendor.url }
  const { model } = await serve(app, route, route, route)
  const history: object[] = []
  const direct = { cached: 0, prompt: 0 }
  const before = (await consumed(app)).length
  for (let turn = 0; turn < 10; turn += 1) {
    history.push({ role: 'user', content: `turn ${turn}: ${'what the tools gave and what was asked. '.repeat(40)}` })
    const body = { model, max_tokens: 100, system: 'You are Claude Code. '.repeat(200), messages: history }
    const [reply, own] = await Promise.all([
      app.relay(token, '/v1/messages', body, { headers: { 'x-claude-code-session-id': 'cached-session' } }),
      fetch(`${vendor.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': 'own' },
        body: JSON.stringify(body),
      }),
    ])
    expect(reply.status).toBe(200)
    const { content } = (await reply.json()) as { content: object[] }
    const { usage } = (await own.json()) as { usage: { input_tokens: number; cache_read_input_tokens: number } }
    direct.cached += usage.cache_read_input_tokens
    direct.prompt += usage.input_tokens + usage.cache_read_input_tokens
    history.push({ role: 'assistant', content })
  }
  const rows = (await consumed(app)).slice(before)
  const cached = rows.reduce((sum, { other }) => sum + Number(other['cache_tokens']), 0)
  const prompt = rows.reduce((sum, row) => sum + row.prompt_tokens, 0)
  expect(rows).toHaveLength(10)
  expect(cached / prompt).toBeGreaterThan(direct.cached / direct.prompt - 0.01)
})

test('calls are summed up by session, agent and project, the most expensive first, for their owner and for administrators', async () => {
  const user = await app.make.user({ quota: 1_000_000_000 })
  const payer = await app.make.token(user)
  const { model } = await serve(app, { type: 1 })
  const calls = [
    { session: 'one', agent: 'main', project: 'shop', usage: '1000:100:400' },
    { session: 'one', agent: 'helper', project: 'shop', usage: '10:10' },
    { session: 'two', agent: 'main', project: 'site', usage: '5000:100' },
  ]
  for (const { session, agent, project, usage } of calls) {
    const headers = { 'x-session-id': session, 'x-agent-id': agent, 'x-project-id': project }
    const content = `hi [[usage=${usage}]]`
    // What an agent asks of other operations belongs to its session too.
    const [path, body] =
      agent === 'helper'
        ? ['/v1/embeddings', { model, input: content }]
        : ['/v1/chat/completions', { model, messages: [{ role: 'user', content }] }]
    expect((await app.relay(payer, path, body, { headers })).status).toBe(200)
  }
  const rows = (await consumed(app)).slice(-3)
  const { logs } = app.trpc(user).user
  const quotaOf = (...at: number[]) => at.reduce((sum, index) => sum + (rows[index]?.quota ?? 0), 0)
  const named = (sums: { name: string; calls: number; quota: number }[]) =>
    sums.map(({ name, calls: count, quota }) => [name, count, quota])
  const bySession = await logs.sums.query({ by: 'session' })
  expect(named(bySession)).toEqual([
    ['two', 1, quotaOf(2)],
    ['one', 2, quotaOf(0, 1)],
  ])
  expect(bySession[1]).toMatchObject({ promptTokens: 1005, cachedTokens: 400, completionTokens: 100 })
  expect(named(await logs.sums.query({ by: 'agent' }))).toEqual([
    ['main', 2, quotaOf(0, 2)],
    ['helper', 1, quotaOf(1)],
  ])
  expect(named(await logs.sums.query({ by: 'project', agent: 'main', modelName: model }))).toEqual([
    ['site', 1, quotaOf(2)],
    ['shop', 1, quotaOf(0)],
  ])
  expect((await logs.list.query({ project: 'shop', agent: ['helper'] })).items).toHaveLength(1)
  expect(await logs.stat.query({ project: 'shop' })).toMatchObject({ quota: quotaOf(0, 1) })
  const [otherUser, admin] = [await app.make.user(), await app.make.user({ role: 10 })]
  expect(await app.trpc(otherUser).user.logs.sums.query({ by: 'session' })).toEqual([])
  const all = await app.trpc(admin).admin.logs.sums.query({ by: 'session', username: user.username })
  expect(named(all)).toEqual(named(bySession))
  expect(await app.trpc(admin).admin.logs.sums.query({ by: 'session', username: otherUser.username })).toEqual([])
})

test.each([
  ['Anthropic', 14],
  ['Gemini', 24],
  ['chat completions only', 43],
] as const)('the patches of Codex are called and answered as its own kind of tool on %s', async (_family, type) => {
  const { model } = await serve(app, { type })
  const input: object[] = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'apply_patch now' }] },
  ]
  const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' }
  const tools = [{ type: 'custom', name: 'apply_patch', description: 'Edits files.', format: grammar }]
  const body = { model, store: false, tools, input }
  type Output = { output: { type: string; call_id: string; name: string; input: string }[] }
  const { output } = (await (await app.relay(token, '/v1/responses', body)).json()) as Output
  const call = output.find((item) => item.type === 'custom_tool_call')
  expect(call).toMatchObject({ name: 'apply_patch', input: expect.any(String) as unknown })
  input.push(...output, { type: 'custom_tool_call_output', call_id: call?.call_id, output: 'Done!' })
  expect(await (await app.relay(token, '/v1/responses', body)).text()).toMatch(/The tool says: .*Done!/)
})

const ownTools = [
  ['apply_patch', { operation: { type: 'create_file', path: 'a', diff: '+b' } }, 'Done!'],
  ['shell', { action: { commands: ['ls'], timeout_ms: null, max_output_length: null } }, [{ stdout: 'Done!' }]],
  ['local_shell', { action: { type: 'exec', env: {}, command: ['ls'] } }, 'Done!'],
] as const
test.each(
  ownTools.flatMap(([tool, says, output]) =>
    [14, 24, 43].flatMap((type) => [true, false].map((stream) => ({ tool, says, output, type, stream }))),
  ),
)('$tool, which only OpenAI’s models know, is a function on type $type: streamed $stream', async (given) => {
  const { tool, says, output, type, stream } = given
  const { model } = await serve(app, { type })
  const args = encodeURIComponent(JSON.stringify('action' in says ? says.action : says))
  const input: object[] = [{ role: 'user', content: `go [[tool=${tool},args=${args}]]` }]
  const body = { model, store: false, tools: [{ type: tool }], input, stream }
  const text = await (await app.relay(token, '/v1/responses', body)).text()
  const completed = text.split('\n').findLast((line) => line.startsWith('data: {')) ?? `data: {"response":${text}}`
  type Completed = { response: { output: { type: string; call_id: string }[] } }
  const items = (JSON.parse(completed.slice('data: '.length)) as Completed).response.output
  const call = items.at(-1)
  expect(call).toMatchObject({ type: `${tool}_call`, status: 'completed', ...says })
  input.push(...items, { type: `${tool}_call_output`, call_id: call?.call_id, output })
  expect(await (await app.relay(token, '/v1/responses', { ...body, stream: false })).text()).toMatch(
    /The tool says: .*Done!/,
  )
})

test.each([14, 24, 43].flatMap((type) => [true, false].map((stream) => ({ type, stream }))))(
  'a search for tools that its caller runs is a function on type $type, and what it finds can be called: streamed $stream',
  async ({ type, stream }) => {
    const { model } = await serve(app, { type })
    const ask = async (input: object[], streamed = stream) => {
      const schema = { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] }
      const search = { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: schema }
      const body = { model, store: false, tools: [search], input, stream: streamed }
      const reply = await app.relay(token, '/v1/responses', body)
      const losses = reply.headers.get('x-translation-loss')
      const text = await reply.text()
      const completed = text.split('\n').findLast((line) => line.startsWith('data: {')) ?? `data: {"response":${text}}`
      type Completed = { response: { output: { type: string; call_id: string }[] } }
      const { output } = (JSON.parse(completed.slice('data: '.length)) as Completed).response
      return { losses, output, last: output.at(-1) }
    }
    const args = (value: object) => encodeURIComponent(JSON.stringify(value))
    const input: object[] = [{ role: 'user', content: `go [[tool=tool_search,args=${args({ words: 'events' })}]]` }]
    const first = await ask(input)
    expect(first.losses ?? '').not.toContain('tool_search')
    expect(JSON.stringify(app.upstream.requests.at(-1)?.body)).toContain('Finds tools.')
    const asked = { type: 'tool_search_call', execution: 'client', arguments: { words: 'events' }, status: 'completed' }
    expect(first.last).toMatchObject(asked)
    const create = {
      type: 'function',
      name: 'create',
      defer_loading: true,
      parameters: { type: 'object', properties: {} },
    }
    const tools = [{ type: 'namespace', name: 'mcp__calendar', description: 'Dates.', tools: [create] }]
    const found = {
      type: 'tool_search_output',
      call_id: first.last?.call_id,
      execution: 'client',
      status: 'completed',
      tools,
    }
    const answered = await ask([...input, ...first.output, found], false)
    expect(answered.losses ?? '').not.toContain('defer_loading')
    expect(JSON.stringify(answered.output)).toMatch(/The tool says: .*mcp__calendar__create/)
    const next = { role: 'user', content: `now [[tool=mcp__calendar__create,args=${args({})}]]` }
    const second = await ask([...input, ...first.output, found, next])
    expect(second.last).toMatchObject({ type: 'function_call', namespace: 'mcp__calendar', name: 'create' })
  },
)

test('a search for tools that the vendor would run is dropped elsewhere, and reported', async () => {
  const { model } = await serve(app, { type: 14 })
  const reply = await app.relay(token, '/v1/responses', { model, input: 'hi', tools: [{ type: 'tool_search' }] })
  expect([...reply.headers.values()].join(' ')).toContain('tools.tool_search')
})
