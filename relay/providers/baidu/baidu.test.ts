import { expect, test } from 'vitest'
import { callWith } from '../conformance/fixtures.ts'
import { imageRequest, requestWith, toolConversation, weatherTool } from '../conformance/requests.ts'
import { UpstreamRefusal } from '../types.ts'
import { baidu } from './index.ts'

const call = (model = 'ERNIE-4.0-8K') =>
  callWith({ model, token: 't/k', channel: { type: 15, baseUrl: 'https://aip.baidubce.com', key: 'id|secret' } })

test.each([
  ['ERNIE-4.0-8K', 'completions_pro'],
  ['ERNIE-Speed', 'ernie_speed'],
  ['ERNIE-4.0-8K-Preview', 'ernie-4.0-8k-preview'],
])('%s is called at %s', (model, path) => {
  expect(baidu.chat.request(requestWith(), call(model)).url).toBe(
    `https://aip.baidubce.com/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/${path}?access_token=t%2Fk`,
  )
})

test('instructions stand apart, limits are kept, what is unknown is named', () => {
  const request = { ...toolConversation(), maxTokens: 1, temperature: 0, seed: 4 }
  const sent = baidu.chat.request(request, call())
  expect(sent.body).toMatchObject({
    system: 'Be brief.',
    max_output_tokens: 2,
    temperature: 0.01,
    messages: [
      { role: 'user' },
      { role: 'assistant', function_call: { name: 'get_weather' } },
      { role: 'function', name: 'get_weather', content: 'sunny-18' },
      { role: 'user', content: 'And tomorrow?' },
    ],
  })
  expect(sent.losses).toContain('seed')
})

test('the key is exchanged for a token that is renewed an hour early', () => {
  const { channel, ambient } = call()
  const exchange = baidu.exchange!(channel, ambient)!
  expect(exchange.request().url).toBe(
    'https://aip.baidubce.com/oauth/2.0/token?grant_type=client_credentials&client_id=id&client_secret=secret',
  )
  expect(exchange.cacheKey).not.toContain('secret')
  expect(exchange.read({ access_token: 't', expires_in: 2_592_000 })).toEqual({ token: 't', ttlSeconds: 2_588_400 })
  expect(() => exchange.read({ error: 'invalid_client' })).toThrow(UpstreamRefusal)
})

test('a call of a function is a call of a tool', () => {
  const answer = { result: '', function_call: { name: 'f', arguments: '{}' }, finish_reason: 'function_call' }
  expect(baidu.chat.response(answer, call()).choices[0]).toMatchObject({
    parts: [{ type: 'tool-call', name: 'f', arguments: '{}' }],
    finish: 'tool-calls',
  })
})

test('failures come with HTTP 200 and a number', () => {
  const body = { error_code: 18, error_msg: 'Open api qps request limit reached' }
  expect(() => baidu.chat.response(body, call())).toThrow('qps')
  expect(baidu.error(400, JSON.stringify(body))).toMatchObject({ status: 429, code: 18 })
})

test.each([
  [4, 429],
  [6, 403],
  [110, 401],
  [336001, 400],
  [336002, 400],
  [336003, 400],
  [336004, 403],
  [336005, 404],
  [336100, 503],
  [336104, 400],
  [336105, 400],
  [336501, 429],
  [336502, 429],
  [336000, 500],
])('the number %i means status %i', (error_code, status) => {
  expect(baidu.error(200, JSON.stringify({ error_code, error_msg: 'm' }))).toMatchObject({ status, code: error_code })
})

test('one function can be demanded, any of several cannot, and none takes them away', () => {
  const ask = (names: string[], toolChoice: Parameters<typeof requestWith>[0] & object) =>
    baidu.chat.request(requestWith({ tools: names.map((name) => ({ ...weatherTool, name })), ...toolChoice }), call())
  const forced = { tool_choice: { type: 'function', function: { name: 'f' } } }
  expect(ask(['f'], { toolChoice: { type: 'required' } }).body).toMatchObject(forced)
  expect(ask(['g', 'f'], { toolChoice: { type: 'tool', name: 'f' } }).body).toMatchObject(forced)
  expect(ask(['g', 'f'], { toolChoice: { type: 'required' } }).losses).toContain('tool_choice')
  expect(ask(['f'], { toolChoice: { type: 'none' } }).body).not.toHaveProperty('functions')
})

test('a schema is written beside the object that is enforced; images and further calls are named as lost', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  const sent = baidu.chat.request(requestWith({ responseFormat: { type: 'json-schema', name: 'x', schema } }), call())
  expect(sent.body).toMatchObject({ system: expect.stringContaining('"city"'), response_format: 'json_object' })
  expect(baidu.chat.request(imageRequest(), call()).losses).toContain('image_url')
  expect(baidu.chat.request(toolConversation(), call()).losses).toContain('tool_calls')
})
