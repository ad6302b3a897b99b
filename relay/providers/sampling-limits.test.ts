import { expect, test } from 'vitest'
import type { ChatRequest } from '#relay/chat/request.ts'
import { callWith } from './conformance/fixtures.ts'
import { requestWith, weatherTool } from './conformance/requests.ts'
import { anthropic } from './anthropic/index.ts'
import { aws } from './aws/index.ts'
import { cohere } from './cohere/index.ts'
import { openai } from './openai-compatible/vendors/openai.ts'

const toClaude = (request: Partial<ChatRequest>, model = 'claude-sonnet-4-5') =>
  anthropic.chat.request(requestWith(request), callWith({ model, channel: { type: 14 } }))

test('a choice among all words, which is -1 to some servers, is no limit to vendors that refuse the figure', () => {
  const channel = { type: 33, baseUrl: '', key: 'AKIDEXAMPLE|secret|us-east-1' }
  const sent = (topK: number) =>
    JSON.stringify([
      toClaude({ topK }).body,
      aws.chat.request(requestWith({ topK }), callWith({ model: 'amazon.nova-pro-v1:0', channel })).body,
      cohere.chat.request(requestWith({ topK }), callWith({ model: 'command-a-03-2025', channel: { type: 34 } })).body,
    ])
  expect(sent(7).match(/"(top_k|topK|k)":7/g)).toHaveLength(3)
  expect(sent(-1)).not.toMatch(/"(top_k|topK|k)"/)
  expect(toClaude({ topK: -1 }).losses).toEqual([])
})

test('limits beyond those of Claude are lowered by name', () => {
  expect(toClaude({ maxTokens: 100_000 })).toMatchObject({ body: { max_tokens: 64_000 }, losses: ['max_tokens'] })
  expect(toClaude({ maxTokens: 64_000 }).losses).toEqual([])
  expect(toClaude({ temperature: 1.5 })).toMatchObject({ body: { temperature: 1 }, losses: ['temperature'] })
  expect(toClaude({ temperature: 1.5 }, 'claude-opus-4-8').losses).toEqual(['temperature'])
  expect(toClaude({ temperature: 1 }).losses).toEqual([])
})

test('a tool is strict in the responses form as its caller says, and as usual in the form that they speak', () => {
  const toolsOf = (dialect: 'openai-chat' | 'openai-responses', strict?: boolean) =>
    openai.chat.request(
      requestWith({ tools: [{ ...weatherTool, strict }], extra: { dialect, fields: {} } }),
      callWith({ model: 'gpt-5.4' }),
    ).body as { tools: { strict?: boolean }[] }
  expect(toolsOf('openai-chat').tools[0]?.strict).toBe(false)
  expect(toolsOf('openai-responses').tools[0]).not.toHaveProperty('strict')
  expect(toolsOf('openai-responses', false).tools[0]?.strict).toBe(false)
})
