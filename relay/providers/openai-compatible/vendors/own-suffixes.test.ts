import { expect, test } from 'vitest'
import { callWith } from '../../conformance/fixtures.ts'
import { requestWith } from '../../conformance/requests.ts'
import { providerFor } from '../../registry.ts'

const callOf = (type: number, model: string) => callWith({ model, channel: { type, baseUrl: 'https://host.test' } })
const takesResponses = (type: number, model: string) =>
  providerFor(type).native['openai-responses']?.accepts?.({}, callOf(type, model))

test.each([
  [17, 'qwen3-max', '-internet'],
  [20, 'anthropic/claude-sonnet-4.5', '-thinking'],
  [45, 'deepseek-v3.1', '-thinking'],
  [48, 'grok-3-mini', '-high'],
  [48, 'grok-4', '-search'],
])(
  'type %i asks in chats for what the ending of %s%s stands for, whatever form the caller speaks',
  (type, model, end) => {
    expect([takesResponses(type, model), takesResponses(type, model + end)]).toEqual([true, false])
  },
)

test.each(['moonshotai/kimi-k2-thinking', 'qwen/qwen3-next-80b-a3b-thinking', 'arcee-ai/trinity-large-thinking'])(
  'OpenRouter is asked for %s by its whole name, in every form',
  (model) => {
    expect(takesResponses(20, model)).toBe(true)
    expect(providerFor(20).native.claude?.accepts?.({}, callOf(20, model))).toBe(true)
    const { body } = providerFor(20).chat.request(requestWith(), callOf(20, model))
    expect(body).toMatchObject({ model })
    expect(body).not.toHaveProperty('reasoning')
  },
)
