import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NativeBody, Provider } from '../types.ts'
import { callWith, readEvents, readJson } from '../conformance/fixtures.ts'
import { deepseek } from './vendors/deepseek.ts'
import { fastgpt } from './vendors/fastgpt.ts'
import { openai } from './vendors/openai.ts'

const folder = new URL('./__fixtures__/', import.meta.url)
const bodyOf = (text: string): NativeBody => ({ json: JSON.parse(text), bytes: Buffer.from(text) })
const send = (text: string, call = callWith(), provider: Provider = openai) => {
  const native = bodyOf(text)
  const sent = provider.native['openai-chat']?.request(native, call).body
  return {
    sent,
    untouched: sent === native.bytes,
    text: sent instanceof Uint8Array ? Buffer.from(sent).toString() : sent,
  }
}

test('a body that needs no change goes out as the same bytes', () => {
  const text = '{"model":"gpt-4o", "messages":[{"role":"user","content":"a \\"model\\": b"}], "seed" : 1 }'
  expect(send(text).untouched).toBe(true)
  const stream = '{"model":"gpt-4o","messages":[],"stream":true,"stream_options":{"include_usage":true}}'
  expect(send(stream, callWith({ stream: true })).untouched).toBe(true)
})

test('only the name of the model and the request for usage are written anew', () => {
  const text = '{"messages":[{"role":"user","content":"\\u4f60好"}],"model":"mine","stream":true}'
  expect(send(text, callWith({ model: 'gpt-4o', stream: true })).text).toBe(
    '{"messages":[{"role":"user","content":"\\u4f60好"}],"model":"gpt-4o","stream":true,"stream_options":{"include_usage":true}}',
  )
})

test('a request for usage that is off is replaced, its neighbours stay', () => {
  const text = '{"model":"gpt-4o","stream_options":{"include_usage":false,"include_obfuscation":false},"stream":true}'
  expect(send(text, callWith({ stream: true })).text).toBe(
    '{"model":"gpt-4o","stream_options":{"include_usage":true,"include_obfuscation":false},"stream":true}',
  )
})

test('stream options are cut out where the upstream does not know them', () => {
  const text = '{"model":"m","stream_options":{"include_usage":true},"stream":true}'
  const call = callWith({ model: 'm', stream: true, channel: { type: 22 } })
  expect(send(text, call, fastgpt).text).toBe('{"model":"m","stream":true}')
})

test('a name that stands twice or is escaped is never sent on as it is', () => {
  for (const text of ['{"model":"dear","model":"gpt-4o"}', '{"\\u006dodel":"dear","model":"gpt-4o"}']) {
    expect(send(text).text).toEqual({ model: 'gpt-4o' })
  }
})

test('the rules of the model family hold for native bodies too', () => {
  const text = '{"model":"o3-mini-high","messages":[{"role":"system","content":"s"}],"max_tokens":5,"temperature":1}'
  expect(JSON.parse(String(send(text, callWith({ model: 'o3-mini-high' })).text))).toEqual({
    model: 'o3-mini',
    messages: [{ role: 'developer', content: 's' }],
    max_completion_tokens: 5,
    reasoning_effort: 'high',
  })
})

test('a vendor’s own rule holds for native bodies too', () => {
  const text = '{"model":"deepseek-flash","response_format":{"type":"json_schema","json_schema":{}},"messages":[]}'
  const call = callWith({ model: 'deepseek-flash', channel: { type: 43 } })
  expect(send(text, call, deepseek).text).toBe(
    '{"model":"deepseek-flash","response_format":{"type":"json_object"},"messages":[]}',
  )
})

const listen = (name: string, includeUsage: boolean) => {
  const listener = openai.native['openai-chat']!.listen({ includeUsage })
  const verdicts = readEvents(folder, name).map((event) => listener.push(event))
  return { listener, verdicts }
}

test('events leave at once until the finish; the closing ones wait', () => {
  const { listener, verdicts } = listen('text.sse', true)
  expect(verdicts).toEqual(['forward', 'forward', 'forward', 'hold', 'hold', 'hold'])
  expect(listener.complete).toBe(true)
  expect(listener.usage()).toMatchObject({ promptTokens: 20, cachedTokens: 8, completionTokens: 10 })
})

test('a usage chunk nobody asked for is dropped but counted', () => {
  const { listener, verdicts } = listen('text.sse', false)
  expect(verdicts).toEqual(['forward', 'forward', 'forward', 'hold', 'drop', 'hold'])
  expect(listener.usage()).toMatchObject({ promptTokens: 20 })
})

test('usage in a chunk that says nothing after the finish is dropped alike; beside what is said it is sent on', () => {
  const usage = { prompt_tokens: 20, completion_tokens: 2 }
  const chunk = (choice: object, counts: object = { usage }) => JSON.stringify({ choices: [choice], ...counts })
  const blanks = [
    chunk({ index: 0, delta: {} }),
    chunk({ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }),
    chunk({ index: 0, text: '', finish_reason: null }),
  ]
  const texts = [
    chunk({ index: 1, delta: { content: 'more' }, finish_reason: null }),
    chunk({ index: 1, text: 'more', finish_reason: null }),
  ]
  for (const includeUsage of [true, false]) {
    const verdictOf = (last: string, ...before: string[]) => {
      const listener = openai.native['openai-chat']!.listen({ includeUsage })
      const verdicts = [...before, last].map((data) => listener.push({ data }))
      expect(listener.usage()).toMatchObject({ promptTokens: 20 })
      return verdicts.at(-1)
    }
    const finish = chunk({ index: 0, delta: {}, finish_reason: 'stop' }, {})
    for (const last of blanks) expect(verdictOf(last, finish)).toBe(includeUsage ? 'hold' : 'drop')
    for (const last of texts) expect(verdictOf(last, finish)).toBe('resume')
    for (const first of [...blanks, ...texts]) expect(verdictOf(first)).toBe('forward')
  }
})

test('what was delivered can be counted afterwards', () => {
  expect(listen('tools.sse', true).listener.delivered()).toEqual({
    text: 'get_weather{"city":"Paris"}get_time{"zone":"CET"}',
    toolCalls: 2,
    reply: '',
  })
  expect(listen('thinking.sse', true).listener.delivered()).toMatchObject({
    text: 'Let me think.Hello from upstream',
    reply: 'Hello from upstream',
  })
})

test('what was delivered is counted alike, whether an event is read in full or its text is taken at once', () => {
  const words = fc.string({
    unit: fc.constantFrom('a', '"', '\\', '}', '{', '\n', '中', '"delta":', '},{', '"error"'),
    maxLength: 6,
  })
  const delta = fc.oneof(
    fc.record({ content: words }),
    fc.record({ role: fc.constant('assistant'), content: words }),
    fc.record({ content: words, reasoning_content: words }),
    fc.record({
      content: words,
      tool_calls: fc.constant([{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }]),
    }),
  )
  const finish = fc.option(fc.constant('stop'), { freq: 12 })
  const choice = fc.record({ index: fc.constantFrom(0, 1), delta, finish_reason: finish })
  const chunk = fc.oneof(
    { weight: 20, arbitrary: fc.record({ id: words, choices: fc.array(choice, { minLength: 1, maxLength: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ error: fc.record({ message: words }) }) },
  )
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 12 }), (chunks) => {
      const seen = (space: number | undefined) => {
        const listener = openai.native['openai-chat']?.listen({ includeUsage: true })
        for (const value of chunks) listener?.push({ data: JSON.stringify(value, null, space) })
        return [listener?.written(), listener?.delivered()]
      }
      expect(seen(undefined)).toEqual(seen(1))
    }),
    { numRuns: 300 },
  )
})

test('an error chunk is distinguished from text that speaks of errors', () => {
  const { listener, verdicts } = listen('failed.sse', true)
  expect(verdicts).toEqual(['forward', 'forward', 'failed'])
  expect(listener.failure).toMatchObject({ status: 500, type: 'server_error' })
  expect(listener.complete).toBe(false)
  const quoting = openai.native['openai-chat']!.listen({ includeUsage: true })
  const content = 'the fields "error", "usage":{ and "finish_reason":"stop"'
  expect(quoting.push({ data: JSON.stringify({ choices: [{ delta: { content } }] }) })).toBe('forward')
})

test('a complete answer is read for usage and emptiness without being changed', () => {
  const inspected = openai.native['openai-chat']!.inspect(readJson(folder, 'tools.json'))
  expect(inspected).toMatchObject({ empty: false, usage: { promptTokens: 20, completionTokens: 10 } })
  expect(inspected.delivered().toolCalls).toBe(2)
  expect(openai.native['openai-chat']!.inspect(readJson(folder, 'filtered.json')).empty).toBe(true)
})

test('an error inside a 2xx answer is a failure', () => {
  const { failure } = openai.native['openai-chat']!.inspect({ error: { message: 'no credits', code: 402 } })
  expect(failure).toMatchObject({ status: 402, message: 'no credits' })
})
