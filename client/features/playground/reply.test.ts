import { expect, test } from 'vitest'
import type { Message, Reply } from './reply.ts'
import { openCalls, speedOf, wireMessages, withChunk } from './reply.ts'

const begun: Reply = {
  id: 2,
  role: 'assistant',
  status: 'loading',
  model: 'gpt-4o-mini',
  content: '',
  thinking: '',
  toolCalls: [],
  stopped: false,
  finishReason: '',
  requestId: '',
  startedAt: 0,
  request: { model: 'gpt-4o-mini', group: '', messages: [], stream: true, stream_options: { include_usage: true } },
  events: [],
}

const text = (content: string) => ({ choices: [{ delta: { content } }] })

test('a reply grows piece by piece and remembers when its first word came', () => {
  const first = withChunk(begun, text('Hello'), 120)
  const second = withChunk(first, text(' there'), 180)
  expect(second).toMatchObject({ content: 'Hello there', status: 'incomplete', firstAt: 120 })
})

test('an opening event without words leaves the reply waiting', () => {
  expect(withChunk(begun, { choices: [{ delta: { content: '' } }] }, 5)).toMatchObject({ status: 'loading' })
  expect(withChunk(begun, { choices: [{ delta: { content: '' } }] }, 5).firstAt).toBeUndefined()
})

test('thinking is kept apart from the answer, under either of its names', () => {
  const first = withChunk(begun, { choices: [{ delta: { reasoning_content: 'a' } }] }, 1)
  const second = withChunk(first, { choices: [{ delta: { reasoning: 'b' } }] }, 2)
  expect(second).toMatchObject({ thinking: 'ab', content: '' })
})

test('the closing usage is read, and one without details counts nothing as cached', () => {
  const usage = { prompt_tokens: 12, completion_tokens: 7 }
  expect(withChunk(begun, { choices: [], usage }, 1).usage).toEqual({
    promptTokens: 12,
    completionTokens: 7,
    cachedTokens: 0,
  })
})

test('a failed or empty answer is not sent back to the model, a complete one is', () => {
  const messages: Message[] = [
    { id: 1, role: 'user', content: 'one' },
    { ...begun, id: 2, status: 'error', content: 'half' },
    { id: 3, role: 'user', content: 'two' },
    { ...begun, id: 4, status: 'complete', content: 'whole' },
  ]
  expect(wireMessages('Be brief.', messages).map(({ content }) => content)).toEqual([
    'Be brief.',
    'one',
    'two',
    'whole',
  ])
  expect(wireMessages('  ', messages)[0]).toEqual({ role: 'user', content: 'one' })
})

test('the speed counts from the first word, and is not shown for what came at once', () => {
  expect(speedOf({ ...begun, firstAt: 1000, endedAt: 3000 }, 50)).toBe(25)
  expect(speedOf({ ...begun, firstAt: 1000, endedAt: 1010 }, 50)).toBeUndefined()
})

const piece = (index: number | undefined, id: string | undefined, name: string | undefined, args: string) => ({
  choices: [{ delta: { tool_calls: [{ index, id, function: { name, arguments: args } }] } }],
})

test('calls of functions are put together from their pieces, each under its own number', () => {
  const grown = [
    piece(0, 'a', 'get_weather', ''),
    piece(1, 'b', 'get_time', '{"z'),
    piece(0, undefined, undefined, '{"city":'),
    piece(1, undefined, undefined, 'one":1}'),
    piece(0, undefined, undefined, '"Paris"}'),
    { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
  ].reduce((reply, chunk) => withChunk(reply, chunk, 9), begun)
  expect(grown).toMatchObject({ status: 'incomplete', firstAt: 9, finishReason: 'tool_calls' })
  expect(grown.toolCalls).toMatchObject([
    { id: 'a', name: 'get_weather', arguments: '{"city":"Paris"}' },
    { id: 'b', name: 'get_time', arguments: '{"zone":1}' },
  ])
})

test('calls are distinguished however an upstream numbers them: from 1, all of them 0, or not at all', () => {
  const callsOf = (chunks: readonly ReturnType<typeof piece>[]) =>
    chunks
      .reduce((reply, chunk) => withChunk(reply, chunk, 9), begun)
      .toolCalls.map(({ id, name, arguments: given }) => [id, name, given])
  expect(
    callsOf([
      piece(1, 'a', 'get_weather', ''),
      piece(1, undefined, undefined, '{"city":'),
      piece(1, undefined, undefined, '"Paris"}'),
      piece(3, 'b', 'get_time', '{}'),
    ]),
  ).toEqual([
    ['a', 'get_weather', '{"city":"Paris"}'],
    ['b', 'get_time', '{}'],
  ])
  const two = [
    ['a', 'get_weather', '{"city":1}'],
    ['b', 'get_time', '{}'],
  ]
  for (const index of [0, undefined]) {
    expect(callsOf([piece(index, 'a', 'get_weather', '{"city":1}'), piece(index, 'b', 'get_time', '{}')])).toEqual(two)
  }
  expect(
    callsOf([
      piece(undefined, undefined, 'get_weather', '{"city":'),
      piece(undefined, undefined, undefined, '1}'),
      piece(undefined, undefined, 'get_time', '{}'),
    ]),
  ).toEqual(two.map(([, ...rest]) => ['', ...rest]))
})

test('a call is repeated to the model with its result alone; one that was never answered is not', () => {
  const toolCalls = [{ id: 'a', name: 'get_weather', arguments: '{}' }]
  const asked: Message[] = [
    { id: 1, role: 'user', content: 'Weather?' },
    { ...begun, status: 'complete', toolCalls },
  ]
  expect(openCalls(asked)).toEqual(toolCalls)
  expect(wireMessages('', [...asked, { id: 3, role: 'user', content: 'Never mind' }])).toEqual([
    { role: 'user', content: 'Weather?' },
    { role: 'user', content: 'Never mind' },
  ])
  const answered: Message[] = [...asked, { id: 3, role: 'tool', callId: 'a', name: 'get_weather', content: '21' }]
  expect(openCalls(answered)).toEqual([])
  expect(wireMessages('', answered)).toEqual([
    { role: 'user', content: 'Weather?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'a', content: '21' },
  ])
})

test('images go along with the words of their turn', () => {
  const images = ['data:image/jpeg;base64,AA']
  expect(wireMessages('', [{ id: 1, role: 'user', content: 'What is it?', images }])).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: images[0] } },
      ],
    },
  ])
})
