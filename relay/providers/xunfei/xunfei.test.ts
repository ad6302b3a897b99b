import { expect, test } from 'vitest'
import { callWith } from '../conformance/fixtures.ts'
import { requestWith, toolConversation, weatherTool } from '../conformance/requests.ts'
import { xunfei } from './index.ts'

type Changes = Parameters<typeof callWith>[0]
const write = (changes: Changes, request = requestWith()) => {
  const channel = { type: 18, baseUrl: '', key: 'password', ...changes?.channel }
  const sent = xunfei.chat.request(request, callWith({ ...changes, channel }))
  return { ...sent, json: sent.body as Record<string, unknown> }
}

const pipes = 'app|secret|id'

test('keys without pipes are those of the HTTP surface, and keys with pipes open it where its address is given', () => {
  expect(write({}).headers['authorization']).toBe('Bearer password')
  expect(write({ channel: { key: 'id:secret' } }).headers['authorization']).toBe('Bearer id:secret')
  const named = write({ channel: { key: pipes, baseUrl: 'https://spark-api-open.xf-yun.com' } })
  expect(named.url).toBe('https://spark-api-open.xf-yun.com/v1/chat/completions')
  expect(named.headers['authorization']).toBe('Bearer id:secret')
  expect(write({}).url).toBe('https://spark-api-open.xf-yun.com/v1/chat/completions')
  for (const model of ['x1', 'spark-x', 'SparkDesk-x1'])
    expect(write({ model }).url, model).toBe('https://spark-api-open.xf-yun.com/v2/chat/completions')
})

test.each([
  [{ model: 'SparkDesk-v3.5' }, 'generalv3.5'],
  [{ model: 'SparkDesk', channel: { other: 'v4.0' } }, '4.0Ultra'],
  [{ model: 'SparkDesk', query: { 'api-version': 'v3.1' } }, 'generalv3'],
  [{ model: 'SparkDesk', query: { 'api-version': 'v4.0' }, channel: { other: 'v1.1' } }, 'lite'],
  [{ model: 'SparkDesk-v1.1', query: { 'api-version': 'v4.0' } }, 'lite'],
  [{ model: 'SparkDesk' }, 'lite'],
  [{ model: 'pro-128k' }, 'pro-128k'],
])('%j is %s', (changes, domain) => {
  expect(write(changes).json['model']).toBe(domain)
})

test('early models are sent instructions as a message', () => {
  const roles = (model: string) =>
    (write({ model }, toolConversation()).json['messages'] as { role: string }[])
      .map((message) => message.role)
      .slice(0, 2)
  expect(roles('lite')).toEqual(['user', 'assistant'])
  for (const model of ['generalv3.5', 'spark-x']) expect(roles(model), model).toEqual(['system', 'user'])
})

test('a failure inside a 2xx answer has the status of its number', () => {
  const read = () => xunfei.chat.response({ code: 11202, message: 'QPS limit' }, callWith())
  expect(read).toThrow('QPS limit')
  const listener = xunfei.native['openai-chat']!.listen({ includeUsage: true })
  expect(listener.push({ data: '{"code":11200,"message":"no licence"}' })).toBe('failed')
  expect(listener.failure).toMatchObject({ status: 403 })
  expect(listener.push({ data: '{"code":0,"choices":[{"delta":{"content":"a"}}]}' })).toBe('forward')
})

test('calls are asked for as a list, and a single one without a list is read as well', () => {
  const asked = requestWith({ tools: [weatherTool] })
  for (const model of ['4.0Ultra', 'generalv3.5'])
    expect(write({ model }, asked).json, model).toMatchObject({ tool_calls_switch: true })
  expect(write({ model: '4.0Ultra' }).json).not.toHaveProperty('tool_calls_switch')
  expect(write({ model: 'spark-x' }, asked).json).not.toHaveProperty('tool_calls_switch')

  const tool_calls = { type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } }
  const answer = { code: 0, choices: [{ message: { role: 'assistant', content: '', tool_calls }, index: 0 }] }
  expect(xunfei.chat.response(answer, callWith()).choices).toMatchObject([
    { parts: [{ type: 'tool-call', name: 'get_weather', arguments: '{"city":"Paris"}' }], finish: 'tool-calls' },
  ])
  const channel = { type: 18, baseUrl: '', key: 'password' }
  const decoder = xunfei.chat.stream(callWith({ channel }))
  const chunk = { code: 0, choices: [{ delta: { role: 'assistant', content: '', tool_calls }, index: 0 }] }
  const events = [...decoder.push({ data: JSON.stringify(chunk) }), ...decoder.push({ data: '[DONE]' })]
  expect(events).toContainEqual(expect.objectContaining({ type: 'tool-call-start', name: 'get_weather' }))
  expect(events).toContainEqual(expect.objectContaining({ type: 'finish', reason: 'tool-calls' }))
})
