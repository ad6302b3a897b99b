import { expect, test } from 'vitest'
import { splitSuffix, traitsOf } from './models.ts'

test.each([
  ['claude-sonnet-4-20250514', { maxOutput: 64_000, structuredOutput: false, sampling: 'free', thinking: 'budget' }],
  ['claude-opus-4-20250514', { maxOutput: 32_000, prefill: true }],
  ['claude-opus-4-1-20250805', { maxOutput: 32_000, structuredOutput: true, sampling: 'one' }],
  ['claude-opus-4-5-20251101', { maxOutput: 64_000, effort: true }],
  ['anthropic/claude-sonnet-4.5', { maxOutput: 64_000, effort: false }],
  ['claude-sonnet-4-6', { sampling: 'free', budgetAllowed: true, prefill: false }],
  ['claude-sonnet-5-5', { off: 'between_tools', forcedToolChoice: false }],
  ['claude-fable-5', { off: 'low_effort', forcedToolChoice: true }],
  ['claude-mythos-5', { off: 'low_effort', forcedToolChoice: true }],
  ['claude-mythos-5-1', { off: 'low_effort', forcedToolChoice: false }],
  ['claude-3-5-haiku-20241022', { maxOutput: 8192, thinking: 'none' }],
  ['claude-2.1', { maxOutput: 4096, thinking: 'none' }],
  ['claude-opus-9', { maxOutput: 128_000, sampling: 'refused', thinking: 'adaptive' }],
  ['glm-4.6', { sampling: 'free', prefill: true, thinking: 'budget' }],
])('%s', (model, expected) => {
  expect(traitsOf(model)).toMatchObject(expected)
})

test('the limit of another vendor’s model is not guessed', () => {
  expect(traitsOf('kimi-k2.5').maxOutput).toBeUndefined()
})

test.each([
  ['claude-sonnet-4-5-thinking', { model: 'claude-sonnet-4-5', thinking: true }],
  ['claude-opus-4-6-thinking-max', { model: 'claude-opus-4-6', thinking: true, effort: 'max' }],
  ['claude-opus-4-6', { model: 'claude-opus-4-6', thinking: false }],
  ['claude-3-7-sonnet-high', { model: 'claude-3-7-sonnet-high', thinking: false }],
  ['some-model-high', { model: 'some-model-high', thinking: false }],
  ['kimi-k2-thinking', { model: 'kimi-k2-thinking', thinking: false }],
  ['qwen3-next-80b-a3b-thinking', { model: 'qwen3-next-80b-a3b-thinking', thinking: false }],
  ['sonnet-4.5-thinking', { model: 'sonnet-4.5', thinking: true }],
])('the reasoning asked for in the name %s', (model, expected) => {
  expect(splitSuffix(model)).toEqual(expected)
})
