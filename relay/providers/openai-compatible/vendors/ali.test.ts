import { expect, test } from 'vitest'
import { callWith } from '../../conformance/fixtures.ts'
import { ali } from './ali.ts'

function sent(fields: Record<string, unknown>) {
  const json: Record<string, unknown> = { messages: [], ...fields }
  const call = callWith({ model: String(json['model']), stream: true, channel: { type: 17 } })
  const { body } = ali.native['openai-chat']?.request({ json, bytes: Buffer.from(JSON.stringify(json)) }, call) ?? {}
  return JSON.parse(Buffer.from(body as Uint8Array).toString()) as Record<string, unknown>
}

test.each([
  ['none', false],
  ['low', true],
  ['high', true],
])(
  'an effort of %s, which DashScope has no word for, switches thinking to %s for OpenAI’s callers too',
  (effort, on) => {
    for (const model of ['qwen3-max', 'qwen-plus', 'qwen-plus-internet']) {
      const body = sent({ model, stream: true, reasoning_effort: effort })
      expect(body['enable_thinking']).toBe(on)
      expect(body).not.toHaveProperty('reasoning_effort')
    }
  },
)

test('what a caller says in DashScope’s own words stays, and models that always think are not asked otherwise', () => {
  expect(sent({ model: 'qwen3-max', reasoning_effort: 'none', enable_thinking: true })['enable_thinking']).toBe(true)
  for (const model of ['qwen3-235b-a22b-thinking-2507', 'glm-5.3', 'qwen3-coder-plus'])
    expect(sent({ model, reasoning_effort: 'none' })).not.toHaveProperty('enable_thinking')
})
