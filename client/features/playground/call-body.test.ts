import { expect, test } from 'vitest'
import { type ModelParameters, usualParameters } from '#core/models/parameters.ts'
import { bodyOf } from './call-body.ts'
import { firstSettings, type Settings } from './settings.ts'
import { sampleTool } from './tools.ts'

const everything: Settings = {
  ...firstSettings,
  topPSent: true,
  topP: 0.9,
  maxTokens: 100,
  frequencyPenalty: 0.5,
  presencePenalty: -0.5,
  seed: 0,
  effort: 'high',
  tools: [sampleTool, { name: 'no name', description: '', parameters: '{}' }, { ...sampleTool, parameters: '[' }],
}

const fields = (parameters: Partial<ModelParameters>, settings: Partial<Settings> = {}): string[] =>
  Object.keys(
    bodyOf({ ...everything, ...settings }, { model: 'any', parameters: { ...usualParameters, ...parameters } }, []),
  ).filter((name) => !['model', 'group', 'messages', 'stream', 'stream_options'].includes(name))

test('a call has the parameters that its model takes and no other', () => {
  expect(fields({ efforts: ['low', 'high'] })).toEqual([
    'temperature',
    'top_p',
    'max_tokens',
    'frequency_penalty',
    'presence_penalty',
    'seed',
    'reasoning_effort',
    'tools',
  ])
  expect(fields({ sampling: 'none', penalties: false, seed: false, tools: false })).toEqual(['max_tokens'])
  expect(fields({ sampling: 'one', penalties: false, seed: false, tools: false })).toEqual([
    'temperature',
    'max_tokens',
  ])
  expect(fields({ sampling: 'one', penalties: false, seed: false, tools: false }, { temperatureSent: false })).toEqual([
    'top_p',
    'max_tokens',
  ])
})

test('temperature goes with the efforts that leave room for it, and an effort that the model does not know stays away', () => {
  const thinking: Partial<ModelParameters> = { efforts: ['none', 'high'], samplingEfforts: ['none'] }
  expect(fields(thinking)).not.toContain('temperature')
  expect(fields(thinking, { effort: 'none' })).toContain('temperature')
  expect(fields(thinking, { effort: '' })).not.toContain('temperature')
  expect(fields({ efforts: ['low'] })).not.toContain('reasoning_effort')
})

test('functions without a callable name or a schema are left out', () => {
  const { tools } = bodyOf(everything, { model: 'any', parameters: usualParameters }, [])
  expect(tools?.map(({ function: { name } }) => name)).toEqual(['get_weather'])
})
