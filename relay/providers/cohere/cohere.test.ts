import { expect, test } from 'vitest'
import { callWith } from '../conformance/fixtures.ts'
import { requestWith, toolConversation, weatherTool } from '../conformance/requests.ts'
import { cohere } from './index.ts'

const call = callWith({ model: 'command-a-03-2025', channel: { type: 34, baseUrl: 'https://api.cohere.ai', key: 'k' } })
const other = { ...weatherTool, name: 'other' }

test('an address with a version of its own is given the one that chats have', () => {
  const channel = { ...call.channel, baseUrl: 'https://proxy.example/v1' }
  expect(cohere.chat.request(requestWith(), { ...call, channel }).url).toBe('https://proxy.example/v2/chat')
})

test('fields have the vendor’s names and bounds', () => {
  const request = requestWith({
    topP: 1,
    topK: 5,
    stop: ['a', 'b', 'c', 'd', 'e', 'f'],
    presencePenalty: -1,
    responseFormat: { type: 'json-schema', name: 'x', schema: { type: 'object' } },
    user: 'u',
    logprobs: true,
  })
  expect(cohere.chat.request(request, call)).toMatchObject({
    url: 'https://api.cohere.ai/v2/chat',
    headers: { authorization: 'Bearer k' },
    body: {
      model: 'command-a-03-2025',
      p: 0.99,
      k: 5,
      stop_sequences: ['a', 'b', 'c', 'd', 'e'],
      presence_penalty: 0,
      response_format: { type: 'json_object', json_schema: { type: 'object' } },
      logprobs: true,
    },
    losses: ['user'],
  })
})

test('a choice is required, none or left out; a named tool is offered alone', () => {
  const body = (toolChoice: Parameters<typeof requestWith>[0] extends infer R ? R : never) =>
    cohere.chat.request(requestWith({ tools: [weatherTool, other], ...toolChoice }), call).body as Record<
      string,
      unknown
    >
  expect(body({ toolChoice: { type: 'auto' } })).not.toHaveProperty('tool_choice')
  expect(body({ toolChoice: { type: 'none' } })['tool_choice']).toBe('NONE')
  const named = body({ toolChoice: { type: 'tool', name: 'other' } })
  expect(named).toMatchObject({ tool_choice: 'REQUIRED', tools: [{ function: { name: 'other' } }] })
  expect(named['tools']).toHaveLength(1)
})

test('what is said before a call is its plan', () => {
  const body = cohere.chat.request(toolConversation(), call).body as { messages: Record<string, unknown>[] }
  expect(body.messages[2]).toMatchObject({ role: 'assistant', tool_plan: 'I will look.', tool_calls: [{}, {}] })
  expect(body.messages[2]).not.toHaveProperty('content')
  expect(body.messages[3]).toEqual({ role: 'tool', tool_call_id: 'call_1', content: 'sunny-18' })
})

test('a plan is shown as reasoning, empty arguments are an empty object', () => {
  const message = {
    tool_plan: 'I will look.',
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: 'null' } }],
  }
  expect(cohere.chat.response({ message, finish_reason: 'TOOL_CALL' }, call).choices[0]?.parts).toEqual([
    { type: 'reasoning', text: 'I will look.' },
    { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' },
  ])
})

test('sources of documents are cited', () => {
  const citations = [
    { start: 0, end: 2, text: 'Hi', sources: [{ type: 'document', document: { url: 'https://e.test', title: 'E' } }] },
  ]
  const message = { content: [{ type: 'text', text: 'Hi' }], citations }
  expect(cohere.chat.response({ message }, call).choices[0]?.parts[0]).toMatchObject({
    citations: [{ url: 'https://e.test', title: 'E', startIndex: 0, endIndex: 2 }],
  })
})

test('a stop by failure is no answer', () => {
  expect(() => cohere.chat.response({ message: {}, finish_reason: 'TIMEOUT' }, call)).toThrow('TIMEOUT')
  expect(cohere.error(401, '{"message":"invalid api token"}')).toMatchObject({
    status: 401,
    message: 'invalid api token',
  })
})

test('what every function says of itself is said once', () => {
  const body = (strict: boolean[]) =>
    cohere.chat.request(requestWith({ tools: strict.map((each) => ({ ...weatherTool, strict: each })) }), call)
      .body as Record<string, unknown>
  expect(body([true, true])['strict_tools']).toBe(true)
  expect(body([true, false])).not.toHaveProperty('strict_tools')
  expect(JSON.stringify(body([true, false])['tools'])).not.toContain('"strict"')
})
