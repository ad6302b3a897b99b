import { describe, expect, test } from 'vitest'
import { normaliseUsage } from '#core/usage.ts'
import { MalformedUpstream } from '#relay/chat/events.ts'
import { UpstreamRefusal } from '../types.ts'
import { callWith, readEvents } from '../conformance/fixtures.ts'
import { anthropic } from './index.ts'

const folder = new URL('./__fixtures__/', import.meta.url)
const decode = (events: object[], call = callWith({ stream: true })) => {
  const decoder = anthropic.chat.stream(call)
  return [...events.flatMap((event) => decoder.push({ data: JSON.stringify(event) })), ...decoder.end()]
}
const start = { type: 'message_start', message: { id: 'm1', model: 'claude', usage: { input_tokens: 5 } } }
const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, fields: object) => ({ type: 'content_block_delta', index, delta: fields })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const usageOf = (events: ReturnType<typeof decode>) => events.findLast((event) => event.type === 'usage')
const tool = (index: number, name: string, input = {}) =>
  block(index, { type: 'tool_use', id: `t${index}`, name, input })
const json = (index: number, partial_json: string) => delta(index, { type: 'input_json_delta', partial_json })

test('calls are numbered among calls, whatever stands between them', () => {
  const events = decode([
    start,
    block(0, { type: 'text', text: '' }),
    stop(0),
    tool(1, 'f'),
    stop(1),
    block(2, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
    json(2, '{"query":"x"}'),
    stop(2),
    tool(3, 'g', { given: 1 }),
    stop(3),
  ])
  expect(events.slice(2)).toEqual([
    { type: 'tool-call-start', index: 0, id: 't1', name: 'f' },
    { type: 'tool-call-delta', index: 0, arguments: '{}' },
    { type: 'tool-call-end', index: 0 },
    { type: 'tool-call-start', index: 1, id: 't3', name: 'g' },
    { type: 'tool-call-delta', index: 1, arguments: '{"given":1}' },
    { type: 'tool-call-end', index: 1 },
  ])
})

test('a wrapped free-text call is unwrapped', () => {
  const call = callWith({ stream: true, customTools: ['patch'] })
  const events = decode([start, tool(0, 'patch'), json(0, '{"input":'), json(0, '"text"}'), stop(0)], call)
  expect(events.slice(2)).toEqual([
    { type: 'tool-call-start', index: 0, id: 't0', name: 'patch', kind: 'custom' },
    { type: 'tool-call-delta', index: 0, arguments: 'text' },
    { type: 'tool-call-end', index: 0 },
  ])
})

test('usage starts with the prompt and counts the output only at the end', () => {
  const counts = { output_tokens: 9, input_tokens: 0, server_tool_use: { web_search_requests: 2 } }
  const events = decode([
    { type: 'message_start', message: { usage: { input_tokens: 5, cache_read_input_tokens: 3, output_tokens: 1 } } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: counts },
  ])
  expect(events[1]).toMatchObject({ usage: { promptTokens: 8, cachedTokens: 3, completionTokens: undefined } })
  expect(usageOf(events)).toMatchObject({ usage: { promptTokens: 8, completionTokens: 9, webSearchCalls: 2 } })
})

test('a refusal says why', () => {
  const events = decode([
    start,
    { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: { explanation: 'No.' } } },
  ])
  expect(events.slice(-2)).toEqual([
    { type: 'refusal-delta', text: 'No.' },
    { type: 'finish', reason: 'content-filter' },
  ])
})

test('the sequence that stopped the model is reported', () => {
  const events = decode([
    start,
    { type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' } },
  ])
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop', stopSequence: 'END' })
})

test('the closing event finishes an answer whose reason was never reported', () => {
  expect(decode([start, { type: 'message_stop' }]).at(-1)).toEqual({ type: 'finish', reason: 'stop' })
})

test('an error has the status its type stands for', () => {
  const events = decode([{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, start])
  expect(events).toMatchObject([{ type: 'error', error: { status: 529, type: 'overloaded_error' } }])
})

test('text that is no JSON is malformed', () => {
  expect(() => anthropic.chat.stream(callWith()).push({ data: 'oops' })).toThrow(MalformedUpstream)
})

test('a listener distinguishes closing events and failures from text that speaks of them', () => {
  const listener = anthropic.native.claude!.listen({ includeUsage: true })
  const verdicts = readEvents(folder, 'text.sse').map((event) => listener.push(event))
  expect(verdicts.map((verdict) => verdict[0]).join('')).toBe('ffffffhh')
  expect({ complete: listener.complete, usage: listener.usage() }).toMatchObject({
    complete: true,
    usage: { promptTokens: 20, cachedTokens: 8, completionTokens: 10 },
  })
  expect(listener.delivered()).toEqual({ text: 'Hello from upstream', toolCalls: 0 })

  const failing = anthropic.native.claude!.listen({ includeUsage: true })
  expect(
    readEvents(folder, 'failed.sse')
      .map((event) => failing.push(event))
      .at(-1),
  ).toBe('failed')
  expect(failing.failure).toMatchObject({ status: 529, message: 'Overloaded' })

  const quoting = anthropic.native.claude!.listen({ includeUsage: true })
  const data = JSON.stringify(delta(0, { type: 'text_delta', text: 'message_delta and "error"' }))
  expect(quoting.push({ data })).toBe('forward')
})

test('an error inside a 2xx answer is a refusal', () => {
  const answer = { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }
  expect(() => anthropic.chat.response(answer, callWith())).toThrow(UpstreamRefusal)
})

test('a cited block is cited as a whole, by its place in the text of the complete answer', () => {
  const decoder = anthropic.chat.stream(callWith({ stream: true }))
  const citation = { type: 'web_search_result_location', url: 'https://e.test/', title: 'E', cited_text: 'c' }
  const text = (index: number, words: string, deltas: object[] = []) => [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text: words } },
    { type: 'content_block_stop', index },
  ]
  const wire = [...text(0, 'before '), ...text(1, 'cited', [{ type: 'citations_delta', citation }])]
  const events = wire.flatMap((event) => decoder.push({ data: JSON.stringify(event) }))
  expect(events.at(-1)).toEqual({
    type: 'citation',
    citation: { url: 'https://e.test/', title: 'E', citedText: 'c', startIndex: 7, endIndex: 12 },
  })
})

test.each([
  ['read from the cache', { cache_read_input_tokens: 800 }, { promptTokens: 1000, cachedTokens: 800 }],
  ['written to it', { cache_creation_input_tokens: 800 }, { promptTokens: 1000, cacheWriteTokens: 800 }],
])('input that is split at the end is counted once: %s', (_, apart, expected) => {
  const opening = { type: 'message_start', message: { id: 'm1', model: 'm', usage: { input_tokens: 1000 } } }
  const usage = { input_tokens: 200, ...apart, output_tokens: 7 }
  const closing = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }
  const listener = anthropic.native.claude!.listen({ includeUsage: true })
  for (const event of [opening, closing]) listener.push({ event: event.type, data: JSON.stringify(event) })
  expect(listener.usage()).toMatchObject({ ...expected, completionTokens: 7 })
  expect(usageOf(decode([opening, closing]))).toMatchObject({ usage: expected })
})

describe('writes to the cache that grow while tools of the vendor run', () => {
  const split = (short: number, long: number) => ({ ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long })
  const begun = { input_tokens: 10, cache_creation_input_tokens: 400, cache_creation: split(100, 300) }
  const message = (creation: object | null) => ({ type: 'message', input_tokens: 10, cache_creation: creation })
  const apart = { input_tokens: 5, output_tokens: 1, cache_creation_input_tokens: 70, cache_creation: split(0, 70) }

  test.each([
    ['are for an hour where all were', { ...begun, cache_creation: split(0, 400) }, {}, 1000],
    ['are for five minutes where all were', { ...begun, cache_creation: split(400, 0) }, {}, 0],
    ['are split as the first were', begun, {}, 750],
    ['are split as each request says', begun, { iterations: [message(split(100, 300)), message(split(0, 600))] }, 900],
    ['are split as some requests say', begun, { iterations: [message(split(0, 400)), message(null)] }, 1000],
    ['are split as the end says', begun, { cache_creation: split(990, 10), iterations: [message(split(0, 9))] }, 10],
    ['are for five minutes where nothing splits them', { cache_creation_input_tokens: 400 }, {}, 0],
    ['are apart from those of an advisor', begun, { iterations: [{ ...apart, type: 'advisor_message' }] }, 750],
  ])('%s', (_, first, last, expected) => {
    const opening = { type: 'message_start', message: { id: 'm1', model: 'm', usage: first } }
    const usage = { input_tokens: 10, cache_creation_input_tokens: 1000, output_tokens: 7, ...last }
    const closing = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }
    const listener = anthropic.native.claude!.listen({ includeUsage: true })
    for (const event of [opening, closing]) listener.push({ event: event.type, data: JSON.stringify(event) })
    const decoded = decode([opening, closing]).flatMap((event) => (event.type === 'usage' ? event.usage : []))
    for (const reported of [listener.usage(), decoded.at(-1)])
      expect(normaliseUsage(reported ?? {})).toMatchObject({
        usage: { promptTokens: 1010, cacheWriteTokens: 1000, cacheWrite1hTokens: expected },
        corrected: false,
      })
  })

  test('are whole beside those of a compaction, which says its own', () => {
    const usage = {
      ...begun,
      cache_creation_input_tokens: 1000,
      output_tokens: 7,
      iterations: [{ ...apart, type: 'compaction' }],
    }
    const closing = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }
    expect(usageOf(decode([start, closing]))).toMatchObject({
      usage: { cacheWriteTokens: 1070, cacheWrite1hTokens: 820 },
    })
  })
})

describe('two messages in one stream', () => {
  const opening = (id: string) => ({
    type: 'message_start',
    message: { id, model: 'm', usage: { input_tokens: 1000, cache_read_input_tokens: 10, output_tokens: 1 } },
  })
  const words = [block(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta', text: 'hello' })]
  const end = (tokens?: number) => ({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    ...(tokens === undefined ? {} : { usage: { output_tokens: tokens } }),
  })

  test.each([
    ['are charged both', [opening('a'), ...words, end(7), opening('b'), ...words, end(5)], 2020, 12],
    [
      'have no output where one that was written reports none',
      [opening('a'), ...words, opening('b'), end(5)],
      2020,
      undefined,
    ],
    [
      'have the output of the second where the first ended without any',
      [opening('a'), end(), opening('b'), ...words, end(5)],
      2020,
      5,
    ],
    [
      'are one that is announced again where the first says nothing',
      [opening('a'), opening('b'), ...words, end(5)],
      1010,
      5,
    ],
    [
      'are two of which one is announced again where a third says nothing',
      [opening('a'), ...words, end(7), opening('b'), opening('c'), ...words, end(5)],
      2020,
      12,
    ],
    [
      'have no output before the second reports it',
      [opening('a'), ...words, end(7), opening('b'), ...words],
      2020,
      undefined,
    ],
    ['are one where the second has the id of the first', [opening('a'), opening('a'), ...words, end(5)], 1010, 5],
  ])('%s', (_, events, promptTokens, completionTokens) => {
    const listener = anthropic.native.claude!.listen({ includeUsage: true })
    for (const event of events) listener.push({ event: event.type, data: JSON.stringify(event) })
    const decoded = decode(events).flatMap((event) => (event.type === 'usage' ? event.usage : []))
    for (const usage of [listener.usage(), decoded.at(-1)]) {
      expect(usage).toMatchObject({ promptTokens })
      expect(usage?.completionTokens).toBe(completionTokens)
    }
  })

  test.each([1, 5000])('have the figures of the later opening where one is announced again: %s', (input_tokens) => {
    const made = { type: 'message_start', message: { id: 'made-up', model: 'm', usage: { input_tokens } } }
    const counted = { type: 'message_delta', delta: {}, usage: { output_tokens: 1 } }
    const events = [made, counted, opening('b'), ...words, end(5)]
    const listener = anthropic.native.claude!.listen({ includeUsage: true })
    for (const event of events) listener.push({ event: event.type, data: JSON.stringify(event) })
    expect(listener.usage()).toMatchObject({ promptTokens: 1010, cachedTokens: 10, completionTokens: 5 })
  })

  test('are counted in time that grows with their number alone, and with that of their figures', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => [opening(String(index)), ...words]).flat()
    const wide = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`f${index}`, index]))
    const last = { ...end(5), usage: { ...wide, output_tokens: 5 } }
    const begun = performance.now()
    const usage = decode([...many, last]).findLast((event) => event.type === 'usage')
    expect(usage).toMatchObject({ usage: { promptTokens: 10_100_000 } })
    expect(performance.now() - begun).toBeLessThan(30_000)
  })
})

describe('a reason to finish in the midst of', () => {
  const reason = (stop_reason: string) => ({ type: 'message_delta', delta: { stop_reason } })
  const called = [
    { type: 'tool-call-start', index: 0, id: 't0', name: 'f' },
    { type: 'tool-call-delta', index: 0, arguments: '{"a":' },
    { type: 'tool-call-delta', index: 0, arguments: '1}' },
    { type: 'tool-call-end', index: 0 },
    { type: 'finish', reason: 'tool-calls' },
  ]
  const parts = (events: object[]) =>
    decode([start, ...events]).filter((event) => !/start$|usage/.test(event.type) || 'index' in event)
  const early = reason('tool_use')

  test.each([
    ['before its arguments', [tool(0, 'f'), early, json(0, '{"a":'), json(0, '1}'), stop(0)]],
    ['between them', [tool(0, 'f'), json(0, '{"a":'), early, json(0, '1}'), stop(0)]],
    ['behind each of them', [tool(0, 'f'), early, json(0, '{"a":'), early, json(0, '1}'), early, stop(0)]],
  ])('a call takes nothing from it: %s', (_, events) => {
    for (const end of [early, { type: 'message_stop' }]) expect(parts([...events, end])).toEqual(called)
    expect(parts(events).filter(({ type }) => type === 'finish')).toHaveLength(events.at(-2) === early ? 1 : 0)
  })

  test('a call ends with the stream where its block never does', () => {
    const events = [tool(0, 'f'), json(0, '{"a":'), json(0, '1}'), early]
    expect(parts(events)).toEqual(called)
    expect(parts([...events, { type: 'message_stop' }])).toEqual(called)
  })

  test('a call with free text takes nothing from it', () => {
    const call = callWith({ stream: true, customTools: ['patch'] })
    const events = [start, tool(0, 'patch'), json(0, '{"input":'), early, json(0, '"text"}'), stop(0)]
    const delta = { type: 'tool-call-delta', index: 0, arguments: 'text' }
    expect(decode(events, call).slice(4)).toEqual([delta, { type: 'tool-call-end', index: 0 }])
    expect(decode([...events, early], call)).toContainEqual({ type: 'finish', reason: 'tool-calls' })
  })

  test('a cited text takes no source from it', () => {
    const cited = { type: 'web_search_result_location', url: 'https://e.test/', title: 'E', cited_text: 'c' }
    const events = [
      block(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'words' }),
      reason('end_turn'),
      delta(0, { type: 'citations_delta', citation: cited }),
      stop(0),
    ]
    expect(parts(events)).toMatchObject([
      { type: 'text-delta', text: 'words' },
      { type: 'citation', citation: { url: 'https://e.test/', startIndex: 0, endIndex: 5 } },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('a call whose block is begun anew ends it', () => {
    const events = [tool(0, 'f'), json(0, '{"a":'), json(0, '1}'), early, tool(0, 'g'), stop(0), early]
    expect(parts(events)).toEqual([
      ...called.slice(0, -1),
      { type: 'tool-call-start', index: 1, id: 't0', name: 'g' },
      { type: 'tool-call-delta', index: 1, arguments: '{}' },
      { type: 'tool-call-end', index: 1 },
      { type: 'finish', reason: 'tool-calls' },
    ])
  })

  const search = block(1, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} })
  const found = block(2, { type: 'web_search_tool_result', tool_use_id: 's', content: [] })
  const ways: [string, boolean, object[]][] = [
    ['text', true, [delta(0, { type: 'text_delta', text: 'more' })]],
    ['text with which a block begins', true, [block(1, { type: 'text', text: 'more' })]],
    ['thinking', true, [delta(0, { type: 'thinking_delta', thinking: 'more' })]],
    ['arguments', true, [delta(0, { type: 'input_json_delta', partial_json: '{' })]],
    ['a call', true, [tool(1, 'f')]],
    ['a call of the vendor’s own', true, [search]],
    ['arguments of such a call', true, [search, early, json(1, '{"query":')]],
    ['no result of such a call', false, [search, early, found]],
    ['no proof', false, [delta(0, { type: 'signature_delta', signature: 'proof' })]],
    ['no source', false, [delta(0, { type: 'citations_delta', citation: {} })]],
    [
      'no empty piece',
      false,
      [delta(0, { type: 'text_delta', text: '' }), delta(0, { type: 'input_json_delta', partial_json: '' })],
    ],
    ['no empty block', false, [block(1, { type: 'text', text: '' })]],
  ]
  test.each(ways)(
    'an answer is taken back by what is said behind it, alike in both ways through: %s',
    (_, isTaken, more) => {
      const complete = json(0, '{}')
      const events = [start, tool(0, 'f'), complete, early, ...more] as { type: string }[]
      const decoder = anthropic.chat.stream(callWith({ stream: true }))
      for (const event of events) decoder.push({ data: JSON.stringify(event) })
      expect(decoder.standing?.()).toBe(isTaken ? 'open' : 'ending')
      const listener = anthropic.native.claude!.listen({ includeUsage: true })
      const verdicts = events.map((event) => listener.push({ event: event.type, data: JSON.stringify(event) }))
      expect({ complete: listener.complete, verdict: verdicts.at(-1) }).toEqual({
        complete: !isTaken,
        verdict: isTaken ? 'resume' : 'hold',
      })
      expect(decode(events).some(({ type }) => type === 'finish')).toBe(!isTaken)
    },
  )
})

describe('silence behind a reason to finish', () => {
  const reason = { type: 'message_delta', delta: { stop_reason: 'tool_use' } }
  const text = [block(0, { type: 'text', text: 'words' })]
  test.each([
    ['ends what is open', 'ending', text],
    ['ends what is closed', 'ended', [...text, stop(0)]],
    ['ends a call whose arguments have come', 'ending', [tool(0, 'f'), json(0, '{"a":'), json(0, '1} '), json(0, ' ')]],
    ['ends a call that was begun with them', 'ending', [tool(0, 'f', { a: 1 })]],
    ['ends no call whose arguments have begun', 'open', [tool(0, 'f'), json(0, '{"a":')]],
    ['ends no call whose arguments have not come', 'open', [tool(0, 'f')]],
  ])('%s', (_, standing, events) => {
    const decoder = anthropic.chat.stream(callWith({ stream: true }))
    for (const event of [start, ...events, reason]) decoder.push({ data: JSON.stringify(event) })
    expect(decoder.standing?.()).toBe(standing)
    decoder.push({ data: '{"type":"message_stop"}' })
    expect(decoder.standing?.()).toBe('closed')
  })
})
