import { expect, test } from 'vitest'
import { callWith } from '../../conformance/fixtures.ts'
import { ali } from './ali.ts'

function made(fields: Record<string, unknown>) {
  const json: Record<string, unknown> = { messages: [], ...fields }
  const call = callWith({ model: String(json['model']), stream: true, channel: { type: 17 } })
  const request = ali.native['openai-chat']?.request({ json, bytes: Buffer.from(JSON.stringify(json)) }, call)
  const body = JSON.parse(Buffer.from(request?.body as Uint8Array).toString()) as Record<string, unknown>
  return { body, losses: request?.losses ?? [] }
}

const sent = (fields: Record<string, unknown>) => made(fields).body

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

const named = { type: 'function', function: { name: 'f' } }

test('a tool that must be called is called without the thinking that nobody has asked for', () => {
  for (const model of ['qwen3.6-plus', 'qwen3.8-max', 'qwen3-32b', 'glm-4.7', 'glm-5', 'glm-5.1'])
    for (const tool_choice of ['required', named]) {
      const { body, losses } = made({ model, stream: true, tool_choice })
      expect(body).toMatchObject({ tool_choice, enable_thinking: false })
      expect(losses).toEqual(['thinking'])
    }
})

test('a tool that must be called may be called where thinking is asked for or cannot be switched off', () => {
  for (const fields of [
    { model: 'qwen3.6-plus', enable_thinking: true },
    { model: 'qwen-plus', reasoning_effort: 'high' },
    { model: 'qwen3-235b-a22b-thinking-2507' },
    { model: 'qwq-plus' },
    { model: 'glm-5.3' },
  ]) {
    const { body, losses } = made({ ...fields, stream: true, tool_choice: named })
    expect(body['tool_choice']).toBe('auto')
    expect(losses).toEqual(['tool_choice'])
  }
})

test('a tool that must be called stays where the model does not think', () => {
  for (const fields of [
    { model: 'qwen-plus' },
    { model: 'qwen3-max' },
    { model: 'qwen3-coder-plus' },
    { model: 'qwen3.6-plus', enable_thinking: false },
    { model: 'glm-5.2', enable_thinking: false },
  ]) {
    const given = { messages: [], ...fields, stream: true, tool_choice: named }
    expect(made(given)).toEqual({ body: expect.objectContaining(given), losses: [] })
  }
  expect(sent({ model: 'qwen-plus', stream: true, tool_choice: named })).not.toHaveProperty('enable_thinking')
})
