import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collectEvents, replayResponse } from '#relay/chat/collect.ts'
import type { ChatEvent, ChatResponse, ResponsePart } from '#relay/chat/events.ts'
import type { McpCall, WebSearch } from '#relay/chat/hosted/types.ts'
import { lossesTowards } from '#relay/chat/losses.ts'
import type { ChatRequest, DialectId } from '#relay/chat/request.ts'
import { dialects } from '#relay/dialects/registry.ts'
import { testContext } from '#relay/dialects/testing/stream-text.ts'
import { targets } from './conformance/wanted-features.ts'
import { anthropic } from './anthropic/index.ts'
import { callWith } from './conformance/fixtures.ts'

const targetOf = (dialect: DialectId) => targets.find((target) => target.dialect === dialect) ?? expect.unreachable()

/** An answer in the form of a dialect, read as that of its vendor: what an answer becomes on its way through both. */
function unstreamed(dialect: DialectId, answer: ChatResponse): ChatResponse {
  const { provider, call } = targetOf(dialect)
  const body: unknown = JSON.parse(JSON.stringify(dialects[dialect].encode(answer, testContext())))
  return provider.chat.response(body, call)
}

function streamed(dialect: DialectId, events: ChatEvent[]): { text: string; answer: ChatResponse } {
  const { provider, call } = targetOf(dialect)
  const encoder = dialects[dialect].stream(testContext())
  const text = events.map((event) => encoder.push(event)).join('') + encoder.close()
  const decoder = provider.chat.stream({ ...call, stream: true })
  const read: ChatEvent[] = []
  const parser = createParser({
    onEvent: ({ event, data }) => read.push(...decoder.push({ ...(event ? { event } : {}), data })),
  })
  parser.feed(text)
  return { text, answer: collectEvents([...read, ...decoder.end()]) }
}

type Piece = { text: string; url: string | undefined }
const word = fc
  .tuple(fc.constantFrom('a', 'é', '好', '👩‍🚀', '🏁 ', 'words of it. '), fc.nat(3))
  .map(([unit, more]) => unit.repeat(more + 1))
const pieces = fc.array(
  fc.record({
    text: word,
    url: fc.option(fc.constantFrom('https://a.test/1', 'https://b.test/2'), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 6 },
)

/** A text with sources at some of its stretches, as one part. */
function cited(given: readonly Piece[]): Extract<ResponsePart, { type: 'text' }> {
  let text = ''
  const citations = given.flatMap((piece) => {
    const startIndex = text.length
    text += piece.text
    return piece.url === undefined ? [] : [{ url: piece.url, title: 'T', startIndex, endIndex: text.length }]
  })
  return { type: 'text', text, ...(citations.length > 0 ? { citations } : {}) }
}

const asEvents = (given: readonly Piece[]): ChatEvent[] => {
  const { citations = [] } = cited(given)
  const waiting = [...citations]
  return given.flatMap((piece): ChatEvent[] => {
    const source = piece.url === undefined ? undefined : waiting.shift()
    return [
      { type: 'text-delta', text: piece.text },
      ...(source ? [{ type: 'citation' as const, citation: source }] : []),
    ]
  })
}

/** The stretches that sources stand at, in the text of the complete answer. */
function sources(answer: ChatResponse): [string, string][] {
  const texts = (answer.choices[0]?.parts ?? []).filter((part) => part.type === 'text')
  const text = texts.map((part) => part.text).join('')
  return texts
    .flatMap((part) => part.citations ?? [])
    .map(({ url, startIndex, endIndex }) => [url, text.slice(startIndex, endIndex)])
}

const answerOf = (parts: ResponsePart[]): ChatResponse => ({
  id: 'answer-1',
  model: 'm',
  choices: [{ parts, finish: 'stop' }],
  usage: { promptTokens: 1, completionTokens: 1, webSearchCalls: 1 },
})

const search: WebSearch = {
  id: 'one',
  queries: ['capital of France'],
  results: [{ url: 'https://a.test/1', title: 'A', pageAge: '2 days' }],
}
const remote: McpCall = { id: 'two', server: 'docs', name: 'find', arguments: '{"q":"x"}', output: 'found it' }

const all = Object.keys(dialects) as DialectId[]

describe.each(all)('by way of %s', (dialect) => {
  test('sources stand at what they support, wherever they came from', () => {
    fc.assert(
      fc.property(pieces, pieces, fc.boolean(), (first, second, between) => {
        const before = cited(first)
        const behind = cited(second)
        const moved = (behind.citations ?? []).map((each) => ({
          ...each,
          startIndex: each.startIndex! + before.text.length,
          endIndex: each.endIndex! + before.text.length,
        }))
        const later: ResponsePart = moved.length > 0 ? { ...behind, citations: moved } : behind
        const given = answerOf([before, ...(between ? [{ type: 'web-search' as const, search }] : []), later])
        expect(sources(unstreamed(dialect, given))).toEqual(sources(given))
      }),
      { numRuns: 60 },
    )
  })

  test('sources of a stream stand at what they support', () => {
    fc.assert(
      fc.property(pieces, (given) => {
        const expected = sources(answerOf([cited(given)]))
        const events: ChatEvent[] = [
          { type: 'start', id: 'a', model: 'm' },
          { type: 'web-search', search },
          ...asEvents(given),
          { type: 'finish', reason: 'stop' },
        ]
        const found = sources(streamed(dialect, events).answer)
        // One dialect has no offsets: a block ends with what is cited, and begins where the one before ended.
        if (dialect !== 'claude') expect(found).toEqual(expected)
        else {
          expect(found.map(([url]) => url)).toEqual(expected.map(([url]) => url))
          for (const [index, [, text]] of found.entries()) expect(text.endsWith(expected[index]![1])).toBe(true)
        }
      }),
      { numRuns: 60 },
    )
  })

  const takesSearch = dialect !== 'openai-chat'
  test.runIf(takesSearch)('a search keeps its query and what it found, streamed or not', () => {
    const given = answerOf([
      { type: 'web-search', search },
      {
        type: 'text',
        text: 'Paris.',
        citations: [{ url: 'https://a.test/1', title: 'A', startIndex: 0, endIndex: 6 }],
      },
    ])
    const stream = streamed(dialect, replayResponse(given))
    for (const answer of [unstreamed(dialect, given), stream.answer]) {
      const found = answer.choices[0]?.parts.flatMap((part) => (part.type === 'web-search' ? [part.search] : []))
      expect(found).toMatchObject([{ queries: search.queries, results: [{ url: 'https://a.test/1' }] }])
      expect(answer.usage?.webSearchCalls).toBe(1)
    }
  })

  const takesRemote = dialect === 'claude' || dialect === 'openai-responses'
  test.runIf(takesRemote)('a call of a remote tool keeps all of it, streamed or not, failed or not', () => {
    for (const call of [remote, { ...remote, output: 'no such page', isError: true }]) {
      const given = answerOf([
        { type: 'mcp-call', call },
        { type: 'text', text: 'Done.' },
      ])
      for (const answer of [unstreamed(dialect, given), streamed(dialect, replayResponse(given)).answer]) {
        const { id: _, ...fields } = call
        expect(answer.choices[0]?.parts[0]).toMatchObject({ type: 'mcp-call', call: fields })
      }
    }
  })
})

test('a search comes as a call and its result, in the order of events that clients of messages read', () => {
  const { text } = streamed(
    'claude',
    replayResponse(answerOf([{ type: 'web-search', search }, cited([{ text: 'P', url: 'https://a.test/1' }])])),
  )
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>)
  const id = 'srvtoolu_one'
  expect(events.slice(1, 6)).toEqual([
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'server_tool_use', id, name: 'web_search', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"query":"capital of France"}' },
    },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: {
        type: 'web_search_tool_result',
        tool_use_id: id,
        content: [
          {
            type: 'web_search_result',
            url: 'https://a.test/1',
            title: 'A',
            encrypted_content: '',
            page_age: '2 days',
          },
        ],
      },
    },
    { type: 'content_block_stop', index: 1 },
  ])
  expect(events.at(-2)).toMatchObject({ usage: { server_tool_use: { web_search_requests: 1 } } })
  const failed = dialects.claude.encode(
    answerOf([{ type: 'web-search', search: { id: 'x', queries: ['q'], error: 'unavailable' } }]),
    testContext(),
  )
  expect(failed).toMatchObject({
    content: [{}, { content: { type: 'web_search_tool_result_error', error_code: 'unavailable' } }],
  })
})

/** What a caller of the dialect sends back as the answer before. */
function asHistory(dialect: 'claude' | 'openai-responses', answer: ChatResponse, more: object = {}): ChatRequest {
  const body = dialects[dialect].encode(answer, testContext()) as { content: unknown; output: unknown[] }
  const question = { role: 'user', content: 'Where?' }
  const history =
    dialect === 'claude'
      ? {
          max_tokens: 99,
          messages: [question, { role: 'assistant', content: body.content }, { role: 'user', content: 'And?' }],
        }
      : { input: [question, ...body.output, { role: 'user', content: 'And?' }] }
  return dialects[dialect].parse(JSON.parse(JSON.stringify({ model: 'm', ...history, ...more })), {})
}

const done = answerOf([
  { type: 'web-search', search },
  { type: 'mcp-call', call: remote },
  { type: 'text', text: 'Paris.' },
])

test('what a vendor of Claude’s did goes to responses as its items, and to others not at all but by name', () => {
  const request = asHistory('claude', done)
  const { body } = targetOf('openai-responses').provider.chat.request(request, targetOf('openai-responses').call)
  expect((body as { input: unknown[] }).input.slice(1, 3)).toEqual([
    {
      type: 'web_search_call',
      id: 'ws_one',
      status: 'completed',
      action: { type: 'search', query: 'capital of France', sources: [{ type: 'url', url: 'https://a.test/1' }] },
    },
    {
      type: 'mcp_call',
      id: 'mcp_two',
      server_label: 'docs',
      name: 'find',
      arguments: '{"q":"x"}',
      output: 'found it',
      error: null,
    },
  ])
  expect(lossesTowards(request, 'openai-responses')).toEqual([])
  expect(lossesTowards(request, 'gemini')).toEqual([
    'server_tool_use',
    'web_search_tool_result',
    'mcp_tool_use',
    'mcp_tool_result',
  ])
  expect(lossesTowards(asHistory('openai-responses', done), 'openai-chat')).toEqual(['web_search_call', 'mcp_call'])
})

const server = { type: 'mcp', server_label: 'docs', server_url: 'https://mcp.test/sse', authorization: 'secret-token' }
const toMessages = (tool: object) => {
  const { provider, call } = targetOf('claude')
  return provider.chat.request(asHistory('openai-responses', done, { tools: [tool] }), call)
}

test('a remote server of responses is one of messages where its tools need no approval, its calls beside it', () => {
  const made = toMessages({ ...server, require_approval: 'never', allowed_tools: ['find', 'read'] })
  expect(made.headers['anthropic-beta']).toBe('mcp-client-2025-11-20')
  expect(made.losses).toEqual(['web_search_call'])
  const body = made.body as Record<string, unknown>
  expect(body['mcp_servers']).toEqual([
    { type: 'url', name: 'docs', url: 'https://mcp.test/sse', authorization_token: 'secret-token' },
  ])
  expect(body['tools']).toEqual([
    {
      type: 'mcp_toolset',
      mcp_server_name: 'docs',
      default_config: { enabled: false },
      configs: { find: { enabled: true }, read: { enabled: true } },
    },
  ])
  expect((body['messages'] as { content: unknown }[])[1]?.content).toEqual([
    { type: 'mcp_tool_use', id: 'mcptoolu_two', name: 'find', server_name: 'docs', input: { q: 'x' } },
    {
      type: 'mcp_tool_result',
      tool_use_id: 'mcptoolu_two',
      is_error: false,
      content: [{ type: 'text', text: 'found it' }],
    },
    { type: 'text', text: 'Paris.' },
  ])
})

test.each([
  ['asks by itself', server],
  ['always asks', { ...server, require_approval: 'always' }],
  ['asks for what it is not told', { ...server, require_approval: { always: { tool_names: ['find'] } } }],
  ['is no address', { ...server, server_url: undefined, connector_id: 'connector_gmail', require_approval: 'never' }],
  ['wants headers', { ...server, headers: { 'x-key': 'a' }, require_approval: 'never' }],
  ['filters', { ...server, allowed_tools: { read_only: true }, require_approval: 'never' }],
])('a remote server that %s is dropped by name, for its tools would run unasked', (_, tool) => {
  const made = toMessages(tool)
  expect(made.body).not.toHaveProperty('mcp_servers')
  expect(made.body).not.toHaveProperty('tools')
  expect(made.losses).toEqual(['web_search_call', 'tools.mcp', 'mcp_call'])
  expect(JSON.stringify(made.losses)).not.toContain('secret')
})

test('only tools that were freed of approval are offered', () => {
  const made = toMessages({ ...server, require_approval: { never: { tool_names: ['find'] } } })
  expect((made.body as { tools: unknown[] }).tools).toMatchObject([{ configs: { find: { enabled: true } } }])
})

test.each([
  [{}, undefined],
  [{ default_config: { enabled: false }, configs: { find: { enabled: true }, read: {} } }, ['find']],
  [{ configs: { find: { enabled: false } } }, 'dropped'],
])('a toolset of messages %j is a tool of responses', (toolset, allowed) => {
  const request = dialects.claude.parse(
    {
      model: 'm',
      max_tokens: 99,
      messages: [{ role: 'user', content: 'hi' }],
      mcp_servers: [{ type: 'url', name: 'docs', url: 'https://mcp.test/sse', authorization_token: 'secret-token' }],
      tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs', ...toolset }],
    },
    {},
  )
  const { provider, call } = targetOf('openai-responses')
  const made = provider.chat.request(request, call)
  const { tools } = made.body as { tools?: unknown }
  expect(made.losses).toEqual(allowed === 'dropped' ? ['mcp_servers'] : [])
  const tool = { ...server, ...(allowed ? { allowed_tools: allowed } : {}), require_approval: 'never' }
  expect(tools).toEqual(allowed === 'dropped' ? undefined : [tool])
  expect(lossesTowards(request, 'gemini')).toEqual(['mcp_servers', 'tools.mcp_toolset'])
})

test('a vendor of messages is not shown what another one found, passed through or translated', () => {
  const given = answerOf([{ type: 'web-search', search }, cited([{ text: 'Paris.', url: 'https://a.test/1' }])])
  const { content } = dialects.claude.encode(given, testContext()) as { content: unknown }
  const own = [
    { type: 'server_tool_use', id: 'srvtoolu_own', name: 'web_search', input: { query: 'q' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_own',
      content: [{ type: 'web_search_result', url: 'https://c.test', title: 'C', encrypted_content: 'EpY' }],
    },
  ]
  const body = {
    model: 'm',
    max_tokens: 99,
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [...own, ...(content as object[])] },
      { role: 'user', content: 'go on' },
    ],
  }
  const expected = [...own, { type: 'text', text: 'Paris.' }]
  const call = callWith({ model: 'claude-sonnet-4-5', channel: { type: 14 } })
  const passed = anthropic.native.claude!.request({ json: body, bytes: Buffer.from(JSON.stringify(body)) }, call)
  expect(passed.losses).toEqual(['web_search_tool_result', 'citations'])
  const sent: unknown = JSON.parse(Buffer.from(passed.body as Uint8Array).toString())
  expect((sent as typeof body).messages[1]?.content).toEqual(expected)
  const translated = anthropic.chat.request(dialects.claude.parse(body, {}), call)
  expect((translated.body as typeof body).messages[1]?.content).toEqual(expected)
  expect(translated.losses).toEqual(['citations', 'web_search_tool_result'])
})

test('opening a page that a search found is neither a search nor charged as one', () => {
  const item = (action: object) => ({ type: 'web_search_call', id: 'ws_1', status: 'completed', action })
  const { provider, call } = targetOf('openai-responses')
  const answer = provider.chat.response(
    {
      object: 'response',
      status: 'completed',
      output: [
        item({ type: 'search', query: 'q' }),
        item({ type: 'open_page', url: 'https://a.test' }),
        item({ type: 'find_in_page', url: 'https://a.test', pattern: 'x' }),
      ],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    call,
  )
  expect(answer.choices[0]?.parts).toHaveLength(1)
  expect(answer.usage?.webSearchCalls).toBe(1)
})
