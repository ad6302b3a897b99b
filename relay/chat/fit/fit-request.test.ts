import { describe, expect, test } from 'vitest'
import { processorMs } from '#server/processor-time.ts'
import type { ChatRequest, Message, ToolResultPart } from '../request.ts'
import { fitRequest, takesNames } from './fit-request.ts'
import { fitName, fitUser } from './names.ts'
import { openAiProfile, type TargetProfile } from './profile.ts'
import { restoreResponse, restoringDecoder } from './restore.ts'
import { plainRoot } from './schema-root.ts'

const requestWith = (changes: Partial<ChatRequest>): ChatRequest => ({
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }],
  tools: [],
  stop: [],
  stream: false,
  includeUsage: false,
  extra: { dialect: 'claude', fields: {} },
  losses: [],
  ...changes,
})
const say = (role: 'user' | 'assistant', text: string): Message => ({ role, content: [{ type: 'text', text }] })
const calls = (ids: readonly string[]): Message => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool-call', id, name: 'f', arguments: '{}' })),
})
const call = (...ids: string[]): Message => calls(ids)
const result = (callId: string, text = callId): ToolResultPart => ({
  type: 'tool-result',
  callId,
  name: 'f',
  content: [{ type: 'text', text }],
})
const results = (...parts: ToolResultPart[]): Message => ({ role: 'user', content: parts })

const many = <Item>(count: number, item: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => item(index))

/** The time of something whose cost may grow no faster than what the caller sends. */
function secondsOf(run: () => unknown): number {
  const started = processorMs()
  run()
  return (processorMs() - started) / 1000
}

const long = 'mcp__plugin_chrome-devtools-mcp_chrome-devtools__performance_analyze_insight'

describe('names', () => {
  test('that a target takes stay, others keep their beginning and become the same one every time', () => {
    const rule = { longest: 64, pattern: /^[a-zA-Z0-9_-]+$/ }
    expect(fitName('get_weather', rule)).toBe('get_weather')
    expect(fitName(long, rule)).toBe('mcp__plugin_chrome-devtools-mcp_chrome-devtools__pe_4d5b4b1f81ac')
    expect(fitName('a.b', rule)).not.toBe(fitName('a:b', rule))
    expect(fitName('1 名字', rule)).toMatch(/^_1____[0-9a-f]{12}$/)
    const letter = { longest: 64, pattern: /^[a-zA-Z][a-zA-Z0-9_-]*$/ }
    for (const name of ['21st', '-a', '_a', '名字']) expect(fitName(name, letter)).toMatch(/^x_[\w-]*_[0-9a-f]{12}$/)
  })

  test('that a vendor gives a function of its own stay where the target knows such functions, beside those of callers', () => {
    const builtIn = { type: 'builtin_function', function: { name: '$web_search' } }
    const part = { type: 'tool-call' as const, id: 'a', arguments: '{}' }
    const messages: Message[] = [
      { role: 'assistant', content: [{ ...part, name: '$web_search' }] },
      results(result('a')),
    ]
    const tools = [{ type: 'vendor' as const, dialect: 'openai-chat' as const, value: builtIn }]
    const knowing = { ...openAiProfile, takesBuiltIns: true }
    expect(takesNames(requestWith({ messages, tools }), knowing)).toBe(true)
    expect(takesNames(requestWith({ messages }), knowing)).toBe(false)
    expect(takesNames(requestWith({ messages, tools }), openAiProfile)).toBe(false)
    const odd = { type: 'function' as const, name: '$other' }
    const { callerNames } = fitRequest(requestWith({ messages, tools: [...tools, odd] }), knowing)
    expect([...callerNames.values()]).toEqual(['$other'])
  })

  test('of tools are changed wherever they stand, and come back in answers and streams', () => {
    const given = requestWith({
      tools: [
        { type: 'function', name: long },
        { type: 'custom', name: 'patch' },
      ],
      toolChoice: { type: 'allowed', mode: 'auto', names: [long, 'patch'] },
      messages: [
        say('user', 'q'),
        { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: long, arguments: '{}' }] },
        results({ ...result('c'), name: long }),
      ],
    })
    expect(takesNames(given, openAiProfile)).toBe(false)
    const { request, callerNames, losses } = fitRequest(given, openAiProfile)
    expect(JSON.stringify(request)).not.toContain(long)
    expect(takesNames(request, openAiProfile)).toBe(true)
    expect(losses).toEqual([])
    const [short] = [...callerNames.keys()] as [string]
    expect(request.toolChoice).toMatchObject({ names: [short, 'patch'] })
    const part = { type: 'tool-call', id: 'x', name: short, arguments: '{}' } as const
    const answer = { id: '', model: '', choices: [{ parts: [part], finish: 'tool-calls' as const }] }
    expect(restoreResponse(answer, callerNames).choices[0]?.parts).toEqual([{ ...part, name: long }])
    const start = { type: 'tool-call-start', index: 0, id: 'x', name: short } as const
    const decoder = restoringDecoder({ push: () => [start], end: () => [start] }, callerNames)
    expect([...decoder.push({ data: '' }), ...decoder.end()]).toEqual([
      { ...start, name: long },
      { ...start, name: long },
    ])
  })

  test('of calls are changed with those of their results', () => {
    const id = `call_${'x'.repeat(60)}`
    const { request } = fitRequest(
      requestWith({ messages: [say('user', 'q'), call(id, 'b'), results(result(id), result('b'))] }),
      openAiProfile,
    )
    const [, asked, answered] = request.messages
    expect(asked?.content.map((part) => 'id' in part && part.id)).toEqual(
      answered?.content.map((part) => 'callId' in part && part.callId),
    )
    expect(asked?.content[0]).toMatchObject({ id: fitName(id, { longest: 40, pattern: /^/ }) })
    expect(asked?.content[1]).toMatchObject({ id: 'b' })
  })

  test('of end users stay the same from session to session', () => {
    const rule = { longest: 64, pattern: /^[a-zA-Z0-9_-]+$/ }
    const identity = (session: string) =>
      JSON.stringify({ device_id: 'd'.repeat(64), account_uuid: 'a', session_id: session })
    expect(fitUser('user-1', rule)).toBe('user-1')
    expect(fitUser(identity('one'), rule)).toBe(fitUser(identity('two'), rule))
    expect(fitUser(identity('one'), rule)).toMatch(/^user_[0-9a-f]{48}$/)
    const older = `user_${'0'.repeat(64)}_account__session_`
    expect(fitUser(`${older}11-22`, rule)).toBe(fitUser(`${older}33-44`, rule))
    expect(fitUser('ab', { ...rule, shortest: 6 })).toHaveLength(53)
  })
})

describe('calls and results', () => {
  const paired = (...messages: Message[]) => fitRequest(requestWith({ messages }), {})

  test('that stand as they should stay the very same messages', () => {
    const request = requestWith({
      messages: [say('user', 'q'), call('a', 'b'), results(result('b'), result('a')), say('assistant', 'done')],
    })
    expect(fitRequest(request, openAiProfile).request).toBe(request)
  })

  test('in another order stand behind their calls', () => {
    const text = { type: 'text', text: 'wait' } as const
    expect(
      paired(
        say('user', 'q'),
        call('a', 'b'),
        say('user', 'wait'),
        results(result('b')),
        say('assistant', 'hm'),
        results(result('a')),
      ).request.messages,
    ).toEqual([
      say('user', 'q'),
      call('a', 'b'),
      { role: 'user', content: [result('a'), result('b'), text] },
      say('assistant', 'hm'),
    ])
  })

  test('without each other are answered, or left out by name', () => {
    const { request, losses } = paired(
      say('user', 'q'),
      results(result('lost')),
      call('a'),
      say('user', 'go on'),
      call('b'),
    )
    expect(losses).toEqual(['tool_result'])
    expect(request.messages).toMatchObject([
      say('user', 'q'),
      call('a'),
      { role: 'user', content: [{ callId: 'a', isError: true }, { text: 'go on' }] },
      call('b'),
      { role: 'user', content: [{ callId: 'b', isError: true }] },
    ])
    expect(paired(results(result('lost'))).request.messages).toEqual([say('user', '...')])
  })

  test('in answers that follow each other are one round', () => {
    const { request } = paired(say('user', 'q'), call('a'), call('b'), results(result('a'), result('b')))
    expect(request.messages).toEqual([say('user', 'q'), call('a', 'b'), results(result('a'), result('b'))])
  })

  test('whose ids are used again, or missing, get their own', () => {
    const { request } = paired(
      call('x'),
      results(result('x', '1')),
      call('x', ''),
      results(result('x', '2'), result('', '3')),
    )
    expect(request.messages).toMatchObject([
      { content: [{ id: 'x' }] },
      { content: [{ callId: 'x', content: [{ text: '1' }] }] },
      { content: [{ id: 'x_2' }, { id: 'call_2_1' }] },
      {
        content: [
          { callId: 'x_2', content: [{ text: '2' }] },
          { callId: 'call_2_1', content: [{ text: '3' }] },
        ],
      },
    ])
  })

  test('under one id stand with their results in the order given', () => {
    const { request } = paired(
      say('user', 'q'),
      call('a', 'a_2'),
      call('a'),
      call('a'),
      results(result('a', '1'), result('a_2', '2'), result('a', '3')),
    )
    expect(request.messages).toMatchObject([
      say('user', 'q'),
      { content: [{ id: 'a' }, { id: 'a_2' }, { id: 'a_3' }, { id: 'a_4' }] },
      {
        content: [
          { callId: 'a', content: [{ text: '1' }] },
          { callId: 'a_2', content: [{ text: '2' }] },
          { callId: 'a_3', content: [{ text: '3' }] },
          { callId: 'a_4', isError: true },
        ],
      },
    ])
  })

  test.each([
    ['calls under one id', () => [calls(many(150_000, () => 'a'))]],
    ['results under one id', () => [{ role: 'user', content: many(250_000, () => result('a')) }]],
    [
      'results of calls under one id',
      () => [calls(many(150_000, () => 'a')), { role: 'user', content: many(150_000, () => result('a')) }],
    ],
    ['answers that follow each other', () => many(100_000, (index) => call(`c${index}`))],
    [
      'words behind a call without a result',
      () => [call('a'), { role: 'user', content: many(250_000, () => ({ type: 'text', text: 'x' })) }],
    ],
  ] satisfies [string, () => Message[]][])('take time by their number alone: %s', (_, messages) => {
    const given = messages()
    expect(secondsOf(() => fitRequest(requestWith({ messages: given }), {}))).toBeLessThan(8)
  })

  test('of an answer that the upstream keeps may stand without their calls', () => {
    const messages = [results(result('elsewhere'))]
    const extra = { dialect: 'openai-responses' as const, fields: { previous_response_id: 'resp_1' } }
    expect(fitRequest(requestWith({ messages, extra }), {}).request.messages).toBe(messages)
  })

  test('have an instruction between them behind the results', () => {
    const system: Message = { role: 'system', content: [{ type: 'text', text: 'now' }] }
    expect(paired(call('a'), system, results(result('a'))).request.messages).toEqual([
      call('a'),
      results(result('a')),
      system,
    ])
  })
})

test('instructions alone are also the question', () => {
  const asked = (...messages: Message[]) => fitRequest(requestWith({ messages }), {}).request.messages.at(-1)
  const system = (text: string): Message => ({ role: 'system', content: [{ type: 'text', text }] })
  expect(asked(system('Be brief.'), system(''), system('What is 2 + 2?'))).toEqual(
    say('user', 'Be brief.\n\nWhat is 2 + 2?'),
  )
  expect(asked(system(' '))).toEqual(say('user', '...'))
  expect(asked(system('Be brief.'), say('user', ''))).toEqual(say('user', '...'))
})

describe('schemas', () => {
  const strict = (schema: Record<string, unknown> | undefined): TargetProfile => ({
    schemas: { strict: () => schema, format: () => schema && { schema, lost: false } },
  })
  const tool = { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true } as const
  const responseFormat = { type: 'json-schema', name: 'x', schema: { type: 'object' }, strict: true } as const

  test('are written anew, or are no longer strict, by name', () => {
    const request = requestWith({ tools: [tool], responseFormat })
    const better = { type: 'object', additionalProperties: false }
    expect(fitRequest(request, strict(better))).toMatchObject({
      request: { tools: [{ parameters: better, strict: true }], responseFormat: { schema: better, strict: true } },
      losses: [],
    })
    const dropped = fitRequest(request, strict(undefined))
    expect(dropped.losses.toSorted()).toEqual(['response_format.strict', 'tools.strict'])
    expect(dropped.request).toMatchObject({
      tools: [{ strict: false }],
      responseFormat: { strict: false, instructed: true },
    })
  })

  test('with alternatives beside a reference that leads nowhere keep what the alternatives know', () => {
    const known = { type: 'object', properties: { a: { type: 'string' } } }
    expect(plainRoot({ $ref: '#/nowhere', anyOf: [known] }).schema['properties']).toEqual(known.properties)
  })

  test('with alternatives at their root become one object that knows all of them', () => {
    const named = (name: string, type = 'string') => ({
      type: 'object',
      properties: { [name]: { type } },
      required: [name],
    })
    expect(plainRoot(named('a'))).toEqual({ schema: named('a'), lost: false })
    expect(plainRoot({ anyOf: [named('a'), { $ref: '#/$defs/b' }], $defs: { b: named('b') } })).toEqual({
      schema: {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' } },
        $defs: { b: named('b') },
      },
      lost: true,
    })
    expect(plainRoot({ type: 'object', allOf: [named('a'), named('a', 'number')] })).toEqual({
      schema: {
        type: 'object',
        properties: { a: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
        required: ['a'],
      },
      lost: false,
    })
  })

  test.each([
    [
      'alternatives that differ in one property',
      { anyOf: many(50_000, (index) => ({ type: 'object', properties: { a: { const: index } } })) },
    ],
    [
      'alternatives that are one and the same',
      {
        anyOf: many(50_000, () => ({ $ref: '#/$defs/x' })),
        allOf: many(50_000, () => ({ $ref: '#/$defs/x' })),
        $defs: { x: { type: 'object', properties: {}, required: many(20_000, (index) => `n${index}`) } },
      },
    ],
  ])('take time by their size alone: %s', (_, schema) => {
    expect(secondsOf(() => plainRoot(schema))).toBeLessThan(8)
  })
})
