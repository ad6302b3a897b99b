import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fitRequest } from '#relay/chat/fit/fit-request.ts'
import { openAiProfile } from '#relay/chat/fit/profile.ts'
import { DomainError } from '#core/errors.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import { restoreResponse } from '#relay/chat/fit/restore.ts'
import { completeBlocks, remoteCallBlocks, searchBlocks } from '#relay/chat/hosted/claude-blocks.ts'
import { remoteCallItem, searchItem } from '#relay/chat/hosted/response-items.ts'
import type { SearchResult } from '#relay/chat/hosted/types.ts'
import type {
  AssistantPart,
  ChatRequest,
  DialectId,
  FilePart,
  FunctionTool,
  ImagePart,
  Message,
  ReasoningInput,
  UserPart,
} from '#relay/chat/request.ts'
import { claude } from '#relay/dialects/claude/index.ts'
import { gemini } from '#relay/dialects/gemini/index.ts'
import { openAiChat } from '#relay/dialects/openai-chat/index.ts'
import { openAiResponses } from '#relay/dialects/openai-responses/index.ts'
import { callWith } from '#relay/providers/conformance/fixtures.ts'
import { providerFor } from '#relay/providers/registry.ts'
import { customToolNames } from '#relay/providers/shared/custom-tools.ts'
import { routeOf } from '#test/simulator/routes.ts'
import type { Call } from '#test/simulator/types.ts'
import { long } from '#test/support/long.ts'

/** The short form is the same each time; the long one looks somewhere else each time. A failure names its seed. */
const runs = (short: number, many: number) => (long ? { numRuns: many } : { numRuns: short, seed: 20_261_127 })

/** Each vendor under its rules, and by the channel that leads there. */
const targets = [
  { name: 'chat completions', type: 1, model: 'gpt-4o' },
  { name: 'chat completions of a model that reasons', type: 1, model: 'gpt-5-mini' },
  { name: 'responses', type: 1, model: 'gpt-5-codex' },
  { name: 'DeepSeek', type: 43, model: 'deepseek-v4', baseUrl: 'https://api.deepseek.com' },
  { name: 'Zhipu', type: 26, model: 'glm-5', baseUrl: 'https://open.bigmodel.cn' },
  { name: 'Mistral', type: 42, model: 'mistral-large-latest', baseUrl: 'https://api.mistral.ai' },
  { name: 'Claude', type: 14, model: 'claude-sonnet-4-5-20250929', baseUrl: 'https://api.anthropic.com' },
  { name: 'Claude that decides by itself', type: 14, model: 'claude-opus-4-8', baseUrl: 'https://api.anthropic.com' },
  { name: 'Claude on Bedrock', type: 33, model: 'claude-sonnet-4-5-20250929', baseUrl: '', key: 'a|b|us-east-1' },
  { name: 'Converse', type: 33, model: 'nova-2-lite-v1:0', baseUrl: '', key: 'a|b|us-east-1' },
  { name: 'Gemini', type: 24, model: 'gemini-2.5-flash', baseUrl: 'https://generativelanguage.googleapis.com' },
  {
    name: 'an older Gemini',
    type: 24,
    model: 'gemini-2.0-flash',
    baseUrl: 'https://generativelanguage.googleapis.com',
  },
  { name: 'a newer Gemini', type: 24, model: 'gemini-3-pro', baseUrl: 'https://generativelanguage.googleapis.com' },
  { name: 'DashScope', type: 17, model: 'qwen-plus', baseUrl: 'https://dashscope.aliyuncs.com' },
  { name: 'Moonshot', type: 25, model: 'kimi-k2.6', baseUrl: 'https://api.moonshot.cn' },
  {
    name: 'Tencent',
    type: 23,
    model: 'hunyuan-turbos-latest',
    baseUrl: 'https://hunyuan.tencentcloudapi.com',
    key: 'a|b|c',
  },
  { name: 'Cohere', type: 34, model: 'command-a-03-2025', baseUrl: 'https://api.cohere.com' },
] as const
type Target = (typeof targets)[number]

const dialects = { 'openai-chat': openAiChat, 'openai-responses': openAiResponses, claude, gemini }

const name = fc.oneof(
  fc.stringMatching(/^[a-z_]{1,12}$/),
  fc.constantFrom(
    'mcp__plugin_chrome-devtools-mcp_chrome-devtools__performance_analyze_insight',
    'a.b',
    'a:b',
    '1st',
    '名字',
  ),
  fc.stringMatching(/^[a-z]{60,140}$/),
)
const id = fc.oneof(
  fc.constantFrom('', 'call_1', 'call_2', 'functions.get:0', 'a.b', 'a:b'),
  fc.stringMatching(/^[a-zA-Z0-9_:.-]{1,90}$/),
)
const words = fc.oneof(
  fc.stringMatching(/^[a-z ]{1,20}$/),
  fc.constantFrom('', ' ', '\n\t', '好', 'ends with a blank '),
)
const text = words.map((value) => ({ type: 'text' as const, text: value }))
const args = fc.constantFrom('{}', '', '{"a":1}', '{"a":90071992547409931234}', 'not json')

const call = fc
  .record({ id, name, args })
  .map((given): AssistantPart => ({ type: 'tool-call', id: given.id, name: given.name, arguments: given.args }))
const image = fc.constantFrom<ImagePart>(
  { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } },
  { type: 'image', source: { kind: 'base64', mediaType: 'image/jpg', data: '/9j/4AAQ' }, detail: 'low' },
)
const document = fc.constantFrom<FilePart>(
  { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' }, filename: 'a b.pdf' },
  { type: 'file', source: { kind: 'base64', mediaType: 'text/plain', data: 'aGk=' } },
)
const result = fc
  .record({
    callId: id,
    content: fc.array(fc.oneof({ weight: 4, arbitrary: text }, image, document), { maxLength: 3 }),
    isError: fc.boolean(),
  })
  .map((given): UserPart => ({ type: 'tool-result', ...given }))

const search = fc
  .record({
    id: fc.constantFrom('srvtoolu_1', 'ws_a-b', '', 'x:1'),
    queries: fc.array(fc.constantFrom('q', 'r'), { maxLength: 2 }),
    results: fc.option(fc.constant<SearchResult[]>([{ url: 'https://a.test', title: 'A' }]), { nil: undefined }),
    error: fc.option(fc.constant('unavailable'), { nil: undefined }),
  })
  .map((given): AssistantPart => ({ type: 'web-search', search: given, own: { dialect: 'claude', value: [] } }))
const remoteCall = fc
  .record({
    id: fc.constantFrom('mcptoolu_1', 'mcp_2', 'a.b'),
    server: fc.constant('docs'),
    name,
    arguments: args,
    output: words,
    isError: fc.boolean(),
  })
  .map((given): AssistantPart => ({ type: 'mcp-call', call: given, own: { dialect: 'claude', value: [] } }))

/** What the caller's own vendor wrote for it; callers of the other forms never have such a part. */
function ownValues(part: AssistantPart, dialect: DialectId): AssistantPart[] {
  if (part.type !== 'web-search' && part.type !== 'mcp-call') return [part]
  if (dialect !== 'claude' && dialect !== 'openai-responses') return []
  const isSearch = part.type === 'web-search'
  const blocks = completeBlocks(isSearch ? searchBlocks(part.search) : remoteCallBlocks(part.call))
  const item = isSearch ? searchItem(part.search) : remoteCallItem(part.call)
  // Its vendor's own results have a proof.
  const proven = JSON.parse(JSON.stringify(blocks).replaceAll('"encrypted_content":""', '"encrypted_content":"EpY"'))
  return [{ ...part, own: { dialect, value: dialect === 'claude' ? proven : [item] } }]
}

const servers = {
  claude: {
    fields: { mcp_servers: [{ type: 'url', name: 'docs', url: 'https://mcp.test/sse' }] },
    tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs' }],
  },
  'openai-responses': {
    fields: {},
    tools: [{ type: 'mcp', server_label: 'docs', server_url: 'https://mcp.test/sse', require_approval: 'never' }],
  },
}

/** Reasoning that nobody proved; what a vendor proves is opened and closed by the seals. */
const reasoning = words.map((value): AssistantPart => ({ type: 'reasoning', text: value }))
const refusal = words.map((value): AssistantPart => ({ type: 'refusal', text: value }))

/** Messages in any order, calls without results, results without calls, ids used again, nothing said at all. */
const message = fc.oneof(
  fc.array(text, { minLength: 1, maxLength: 2 }).map((content): Message => ({ role: 'system', content })),
  fc
    .tuple(
      fc.array(result, { maxLength: 3 }),
      fc.array(fc.oneof({ weight: 4, arbitrary: text }, image, document), { maxLength: 2 }),
    )
    .map(([results, texts]): Message => ({ role: 'user', content: [...results, ...texts] })),
  fc
    .tuple(
      fc.array(fc.oneof(search, remoteCall, reasoning), { maxLength: 2 }),
      fc.array(fc.oneof({ weight: 4, arbitrary: text }, refusal), { maxLength: 2 }),
      fc.array(call, { maxLength: 3 }),
    )
    .map(([hosted, texts, calls]): Message => ({ role: 'assistant', content: [...hosted, ...texts, ...calls] })),
)

const schema = fc.constantFrom<Record<string, unknown>>(
  { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
  { type: 'object', properties: { a: { type: 'integer', minimum: 1 } }, additionalProperties: false },
  { type: 'object', properties: { a: { type: ['string', 'null'] } }, required: ['a'] },
  { type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
  {
    anyOf: [
      { type: 'object', properties: { a: { enum: [1, 2] } } },
      { type: 'object', properties: {} },
    ],
  },
  { type: 'object', additionalProperties: { type: 'string' } },
  { type: 'object', properties: { a: { type: 'array', items: { type: 'string' }, minItems: 2 } } },
  {
    type: 'object',
    properties: { a: { $ref: '#/$defs/b' } },
    $defs: { b: { type: 'object', properties: { c: { $ref: '#/$defs/b' } } } },
  },
)
/** A schema within others, as deep as people write them. */
const nested = fc.tuple(schema, fc.integer({ min: 0, max: 6 })).map(([inner, depth]) => {
  let all = inner
  for (let level = 0; level < depth; level += 1)
    all =
      level % 2 === 0
        ? { type: 'object', properties: { inner: all, list: { type: 'array', items: all } } }
        : { type: 'object', properties: { either: { anyOf: [all, { type: 'null' }] } }, required: ['either'] }
  return all
})
const tool = fc
  .record({ name, schema: nested, strict: fc.option(fc.boolean(), { nil: undefined }) })
  .map((given): FunctionTool => ({
    type: 'function',
    name: given.name,
    parameters: given.schema,
    strict: given.strict,
  }))

const request = fc
  .record({
    messages: fc.array(message, { minLength: 1, maxLength: 7 }),
    tools: fc.oneof(
      { weight: 8, arbitrary: fc.uniqueArray(tool, { maxLength: 3, selector: (each) => each.name }) },
      {
        weight: 1,
        arbitrary: tool.map((each) => Array.from({ length: 140 }, (_, at) => ({ ...each, name: `t${at}` }))),
      },
    ),
    format: fc.option(fc.record({ name: fc.constantFrom('x', 'An answer'), schema: nested, strict: fc.boolean() }), {
      nil: undefined,
    }),
    json: fc.boolean(),
    reasoning: fc.option(
      fc.constantFrom<ReasoningInput>({ mode: 'enabled', budgetTokens: 2000 }, { effort: 'high' }, { effort: 'none' }),
      { nil: undefined },
    ),
    temperature: fc.option(fc.constantFrom(0, 0.5, 1, 1.7), { nil: undefined }),
    topP: fc.option(fc.constantFrom(0, 0.5, 1), { nil: undefined }),
    user: fc.option(
      fc.oneof(
        fc.string({ minLength: 1, maxLength: 300 }),
        fc.constant(JSON.stringify({ device_id: 'd'.repeat(150), session_id: 's' })),
      ),
      { nil: undefined },
    ),
    // A limit of one is refused by models that think, to whoever asks them for it in their own form.
    maxTokens: fc.option(fc.oneof(fc.integer({ min: 2, max: 4000 }), fc.constantFrom(32_000, 200_000)), {
      nil: undefined,
    }),
    stop: fc.array(fc.constantFrom('x', 'y', 'z', 'u', '\n'), { maxLength: 6 }),
    modalities: fc.constantFrom<string[] | undefined>(undefined, ['text', 'image']),
    remote: fc.boolean(),
    dialect: fc.constantFrom<DialectId>('openai-chat', 'openai-responses', 'claude', 'gemini'),
  })
  .map(({ format, json, dialect, remote, ...given }): ChatRequest => ({
    ...given,
    messages: given.messages.map((each) =>
      each.role === 'assistant' ? { ...each, content: each.content.flatMap((part) => ownValues(part, dialect)) } : each,
    ),
    tools: [
      ...given.tools,
      ...(remote && (dialect === 'claude' || dialect === 'openai-responses')
        ? servers[dialect].tools.map((value) => ({ type: 'vendor' as const, dialect, value }))
        : []),
    ],
    model: 'm',
    ...(format
      ? { responseFormat: { type: 'json-schema', ...format } }
      : json
        ? { responseFormat: { type: 'json' } }
        : {}),
    // What a caller of its own form asks of this vendor is taken at their word.
    ...(dialect === 'openai-chat' ? { stop: given.stop.slice(0, 4), modalities: undefined } : {}),
    stream: false,
    includeUsage: true,
    extra: { dialect, fields: remote && dialect === 'claude' ? servers.claude.fields : {} },
    losses: [],
  }))

/** What a target has no words for is refused before it is sent, so that another may take it. */
function unlessRefusedHere(run: () => void): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof DomainError || error instanceof InvalidRequest)) throw error
  }
}

/** The request as the gateway sends it there, and the names it goes under. */
function send(given: ChatRequest, { type, model, ...channel }: Target) {
  const provider = providerFor(type)
  const plain = callWith({ model, channel: { type, ...channel } })
  const { request: fitted, callerNames } = fitRequest(given, provider.chat.profile?.(plain) ?? openAiProfile)
  const made = provider.chat.request(fitted, { ...plain, customTools: customToolNames(fitted.tools) })
  return { made, fitted, callerNames, body: JSON.parse(JSON.stringify(made.body)) as Record<string, unknown> }
}

/** @throws {Refusal} for what the vendor refuses. */
function accept({ made, body }: ReturnType<typeof send>): void {
  const url = new URL(made.url)
  const target = { method: 'POST', path: url.pathname, headers: { ...made.headers } }
  const operation = routeOf(target)?.operation
  if (operation?.type !== 'chat') throw new Error(`nobody answers ${made.url}`)
  const asked: Call = {
    ...target,
    query: url.searchParams,
    body,
    directives: {},
    now: 0,
    nextId: (prefix) => prefix,
    stored: new Map(),
    tasks: new Map(),
  }
  operation.read(asked)
}

/** What a gateway before this one would have sent, read as a caller's. */
const readBack = (dialect: DialectId, body: Record<string, unknown>): ChatRequest =>
  dialects[dialect].parse(body, { model: 'm' })

const firstHops = {
  'openai-chat': targets[0],
  'openai-responses': targets[2],
  claude: targets[6],
  gemini: targets[10],
} satisfies Record<DialectId, Target>

describe.each([...targets])('$name', (target) => {
  test('takes any conversation, whatever its names, ids, order and schemas', () => {
    fc.assert(
      fc.property(request, (given) =>
        unlessRefusedHere(() => {
          const sent = send(given, target)
          accept(sent)
          const parts = sent.fitted.tools.flatMap((each) =>
            each.type === 'function' ? [{ type: 'tool-call' as const, id: 'i', name: each.name, arguments: '{}' }] : [],
          )
          const answer = restoreResponse(
            { id: '', model: '', choices: [{ parts, finish: 'tool-calls' }] },
            sent.callerNames,
          )
          // Of more tools than the target takes some are left out.
          const names = given.tools.flatMap((each) => ('name' in each ? [each.name] : []))
          const returned = answer.choices[0]?.parts.map((part) => 'name' in part && part.name)
          expect(names).toEqual(expect.arrayContaining(returned ?? []))
          if (names.length <= 128) expect(returned).toEqual(names)
          // The same in every turn and every process.
          expect(send(given, target).body).toEqual(sent.body)
        }),
      ),
      runs(20, 60),
    )
  })

  test.each(Object.keys(firstHops) as DialectId[])('takes what came by way of %s', (dialect) => {
    fc.assert(
      fc.property(request, (given) =>
        unlessRefusedHere(() => accept(send(readBack(dialect, send(given, firstHops[dialect]).body), target))),
      ),
      runs(8, 25),
    )
  })
})
