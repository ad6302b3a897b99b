import { expect, test } from 'vitest'
import { MalformedUpstream } from '#relay/chat/events.ts'
import { callWith } from '../conformance/fixtures.ts'
import { openai } from './vendors/openai.ts'
import { xai } from './vendors/xai.ts'

const decode = (chunks: unknown[], call = callWith({ stream: true }), provider = openai) => {
  const decoder = provider.chat.stream(call)
  const events = chunks.flatMap((chunk) =>
    decoder.push({ data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) }),
  )
  return [...events, ...decoder.end()]
}
const delta = (fields: object, finish: string | null = null, index = 0) => ({
  id: 'c1',
  model: 'm',
  choices: [{ index, delta: fields, finish_reason: finish }],
})
const call = (fields: object) => delta({ tool_calls: [fields] })

test('interleaved fragments of two calls stay apart', () => {
  const events = decode([
    call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } }),
    call({ index: 1, id: 'b', function: { name: 'g', arguments: '{"y":' } }),
    call({ index: 0, function: { arguments: '1}' } }),
    call({ index: 1, function: { arguments: '2}' } }),
    delta({}, 'tool_calls'),
  ])
  const written = (index: number) =>
    events
      .flatMap((event) => (event.type === 'tool-call-delta' && event.index === index ? [event.arguments] : []))
      .join('')
  expect([written(0), written(1)]).toEqual(['{"x":1}', '{"y":2}'])
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'tool-calls' })
})

test('reasoning that Claude will sign says so, and no other', () => {
  const detail = (text: string, format: string) => ({ type: 'reasoning.text', text, format, index: 0 })
  const events = decode([
    delta({ reasoning: 'a', reasoning_details: [detail('a', 'anthropic-claude-v1')] }),
    delta({ reasoning: 'b', reasoning_details: [detail('b', 'unknown')] }),
    delta({ reasoning_content: 'c' }),
  ])
  expect(events.slice(1)).toEqual([
    { type: 'reasoning-delta', text: 'a', signer: 'claude' },
    { type: 'reasoning-delta', text: 'b' },
    { type: 'reasoning-delta', text: 'c' },
  ])
})

test('a complete call ends when the next begins', () => {
  const events = decode([
    call({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
    call({ index: 1, id: 'b', function: { name: 'g', arguments: '' } }),
  ])
  expect(events.map((event) => event.type)).toEqual([
    'start',
    'tool-call-start',
    'tool-call-delta',
    'tool-call-end',
    'tool-call-start',
    'tool-call-end',
  ])
})

test('calls that are all numbered 0 are distinguished by their ids', () => {
  const events = decode([
    call({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
    call({ index: 0, id: 'b', function: { name: 'g', arguments: '{}' } }),
  ])
  expect(events.filter((event) => event.type === 'tool-call-start')).toMatchObject([
    { index: 0, id: 'a' },
    { index: 1, id: 'b' },
  ])
})

test.each([
  ['neither numbered nor named by an id', {}],
  ['all numbered 0 and have no id', { index: 0 }],
])('calls that are %s are distinguished by their names after whole arguments', (_, place) => {
  const events = decode([
    call({ ...place, function: { name: 'f', arguments: '{"x":1}' } }),
    call({ ...place, function: { name: 'f', arguments: '' } }),
    call({ ...place, function: { name: 'f', arguments: '{"x":2}' } }),
    call({ ...place, function: { name: 'g', arguments: '' } }),
    call({ ...place, function: { arguments: '{"y":3}' } }),
    delta({}, 'tool_calls'),
  ])
  const begun = events.flatMap((event) => (event.type === 'tool-call-start' ? [event.name] : []))
  const written = events.flatMap((event) => (event.type === 'tool-call-delta' ? [[event.index, event.arguments]] : []))
  expect([begun, written]).toEqual([
    ['f', 'f', 'g'],
    [
      [0, '{"x":1}'],
      [1, '{"x":2}'],
      [2, '{"y":3}'],
    ],
  ])
})

test('a call begins only when its name is known, and gets an id when it has none', () => {
  const events = decode([
    call({ index: 0, function: { arguments: '{"x"' } }),
    call({ index: 0, function: { name: 'f', arguments: ':1}' } }),
  ])
  expect(events.slice(1, 3)).toEqual([
    { type: 'tool-call-start', index: 0, id: 'call_000000000000000000000001', name: 'f' },
    { type: 'tool-call-delta', index: 0, arguments: '{"x":1}' },
  ])
})

test('a wrapped free-text call is unwrapped', () => {
  const events = decode(
    [
      call({ index: 0, id: 'a', function: { name: 'patch', arguments: '{"input":"*** ' } }),
      call({ index: 0, function: { arguments: 'Begin"}' } }),
      delta({}, 'tool_calls'),
    ],
    callWith({ stream: true, customTools: ['patch'] }),
  )
  expect(events.slice(1, 4)).toEqual([
    { type: 'tool-call-start', index: 0, id: 'a', name: 'patch', kind: 'custom' },
    { type: 'tool-call-delta', index: 0, arguments: '*** Begin' },
    { type: 'tool-call-end', index: 0 },
  ])
})

test('a finish reason of "stop" after tool calls means tool calls', () => {
  const events = decode([call({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }), delta({}, 'stop')])
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'tool-calls' })
})

test('the closing mark finishes an answer whose reason was never reported, a mere end does not', () => {
  const open = delta({ content: 'Hi' })
  expect(decode([open, '[DONE]']).at(-1)).toEqual({ type: 'finish', reason: 'stop' })
  expect(decode([open]).map((event) => event.type)).toEqual(['start', 'text-delta'])
  expect(decode(['[DONE]'])).toEqual([])
})

test('an empty finish reason on every chunk finishes nothing', () => {
  expect(decode([delta({ content: 'a' }, ''), delta({ content: 'b' }, '')]).map((event) => event.type)).toEqual([
    'start',
    'text-delta',
    'text-delta',
  ])
})

test('a chunk without choices or usage does not begin the answer', () => {
  const events = decode([{ id: '', model: '', choices: [], prompt_filter_results: [] }, delta({ content: 'Hi' })])
  expect(events[0]).toEqual({ type: 'start', id: 'c1', model: 'm' })
})

test('several choices keep their numbers', () => {
  const events = decode([
    delta({ content: 'a' }),
    delta({ content: 'b' }, null, 1),
    delta({}, 'stop', 1),
    delta({}, 'length'),
  ])
  expect(events.slice(1)).toEqual([
    { type: 'text-delta', text: 'a' },
    { type: 'text-delta', text: 'b', choice: 1 },
    { type: 'finish', reason: 'stop', choice: 1 },
    { type: 'finish', reason: 'length' },
  ])
})

test('nothing follows an error', () => {
  const events = decode([{ error: { message: 'overloaded', code: 503 } }, delta({ content: 'x' })])
  expect(events).toEqual([
    {
      type: 'error',
      error: { status: 503, type: 'upstream_error', code: 503, message: 'overloaded', param: null },
    },
  ])
})

test('text that is no JSON is malformed', () => {
  expect(() => decode(['<html>'])).toThrow(MalformedUpstream)
  expect(() => decode(['3'])).toThrow(MalformedUpstream)
})

test('cached input that a total counts beside the prompt is no output', () => {
  const details = { prompt_tokens_details: { cached_tokens: 1000 }, completion_tokens_details: { reasoning_tokens: 4 } }
  for (const total_tokens of [30, 1030]) {
    const usage = { prompt_tokens: 20, completion_tokens: 6, total_tokens, ...details }
    const [, event] = decode([{ id: 'c', model: 'grok-4.5', choices: [], usage }], callWith(), xai)
    expect(event).toMatchObject({ usage: { promptTokens: 1020, cachedTokens: 1000, completionTokens: 10 } })
  }
})

test('usage that counts reasoning apart is summed up', () => {
  const usage = {
    prompt_tokens: 20,
    completion_tokens: 6,
    total_tokens: 30,
    completion_tokens_details: { reasoning_tokens: 4 },
  }
  const events = decode([{ id: 'c', model: 'grok-4.5', choices: [], usage }], callWith(), xai)
  expect(events[1]).toMatchObject({ usage: { promptTokens: 20, completionTokens: 10, reasoningTokens: 4 } })
})

test('an error behind a reason to finish is one', () => {
  const events = decode([delta({ content: 'a' }, 'stop'), delta({}, 'error')])
  expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'error' } })
})

test('what comes behind the closing mark is neither delivered nor counted', () => {
  const listener = openai.native['openai-chat']!.listen({ includeUsage: true })
  const verdicts = [JSON.stringify(delta({ content: 'one' })), '[DONE]', JSON.stringify(delta({ content: 'two' }))].map(
    (data) => listener.push({ data }),
  )
  expect([verdicts, listener.delivered().text]).toEqual([['forward', 'hold', 'drop'], 'one'])
})
