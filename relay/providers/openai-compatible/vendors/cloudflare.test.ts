import { expect, test } from 'vitest'
import { callWith } from '../../conformance/fixtures.ts'
import { requestWith } from '../../conformance/requests.ts'
import { providerFor } from '../../registry.ts'

test('models of Cloudflare that only go on with a text are sent it as it is, and answer in their own form', () => {
  const { chat, native } = providerFor(39)
  const call = callWith({
    model: '@hf/thebloke/deepseek-coder-6.7b-base-awq',
    channel: { type: 39, other: 'acc', baseUrl: 'https://u.test' },
  })
  const text = { type: 'text' as const, text: 'def fib(n):' }
  const asked = requestWith({ messages: [{ role: 'user', content: [text] }], maxTokens: 9, stop: ['\n\n'] })
  expect(chat.request(asked, call)).toMatchObject({
    url: 'https://u.test/client/v4/accounts/acc/ai/run/@hf/thebloke/deepseek-coder-6.7b-base-awq',
    body: { prompt: 'def fib(n):', raw: true, max_tokens: 9 },
    losses: ['stop'],
  })
  expect(native['openai-chat']?.accepts?.({}, call)).toBe(false)
  expect(native['openai-chat']?.accepts?.({}, callWith({ model: '@cf/meta/llama-3.1-8b-instruct' }))).toBe(true)
  const usage = { prompt_tokens: 4, completion_tokens: 2 }
  expect(chat.response({ result: { response: ' return', usage }, success: true }, call)).toMatchObject({
    choices: [{ parts: [{ type: 'text', text: ' return' }], finish: 'stop' }],
    usage: { promptTokens: 4, completionTokens: 2 },
  })
  const failure = { success: false, result: null, errors: [{ code: 3040, message: 'no capacity' }] }
  expect(() => chat.response(failure, call)).toThrow('no capacity')
  const decoder = chat.stream(call)
  const pieces = [
    '{"response":" ret"}',
    '{"response":"urn","usage":{"prompt_tokens":4,"completion_tokens":2}}',
    '[DONE]',
  ]
  const events = [...pieces.flatMap((data) => decoder.push({ data })), ...decoder.end()]
  expect(events.map(({ type }) => type)).toEqual(['start', 'text-delta', 'text-delta', 'usage', 'finish'])
  expect(events).toMatchObject([{}, { text: ' ret' }, { text: 'urn' }, { usage: { completionTokens: 2 } }, {}])
})
