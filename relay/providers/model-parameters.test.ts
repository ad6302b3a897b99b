import { expect, test } from 'vitest'
import { applyFamilyRules } from './openai-compatible/model-families.ts'
import { parametersOf } from './model-parameters.ts'

const effortChoices = ['', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** What the vendor's own rules leave of a call with everything in it. */
function remainingFields(model: string, effort: string): string[] {
  const given = ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'tools']
  const body: Record<string, unknown> = { model, ...Object.fromEntries(given.map((name) => [name, 1])) }
  if (effort !== '') body['reasoning_effort'] = effort
  applyFamilyRules(body, [])
  return given.filter((name) => Object.hasOwn(body, name))
}

test.each([
  'gpt-4o',
  'gpt-4o-mini',
  'gpt-4.1',
  'gpt-4o-search-preview',
  'o1',
  'o3-mini',
  'o3-mini-high',
  'o4-mini',
  'gpt-5',
  'gpt-5-mini',
  'gpt-5.1',
  'gpt-5.4',
  'gpt-5-chat-latest',
])('%s is offered just the parameters that are sent on, whatever the effort', (model) => {
  const { sampling, samplingEfforts, penalties, seed, tools, efforts } = parametersOf(model)
  for (const effort of effortChoices) {
    if (effort !== '' && !efforts.includes(effort)) continue
    const samples = sampling === 'both' && (samplingEfforts?.includes(effort) ?? true)
    expect([model, effort, remainingFields(model, effort)]).toEqual([
      model,
      effort,
      [
        ...(samples ? ['temperature', 'top_p'] : []),
        ...(penalties ? ['frequency_penalty', 'presence_penalty'] : []),
        ...(seed ? ['seed'] : []),
        ...(tools ? ['tools'] : []),
      ],
    ])
  }
})

test('a model whose name states its effort, or that does not think, is offered none', () => {
  for (const model of [
    'o3-mini-high',
    'gpt-4o',
    'claude-3-5-haiku-20241022',
    'claude-sonnet-4-5-thinking',
    'gemini-2.0-flash',
  ])
    expect([model, parametersOf(model).efforts]).toEqual([model, []])
  expect(parametersOf('gemini-3-pro-preview').efforts).toEqual(['low', 'high'])
  expect(parametersOf('gemini-2.5-pro').efforts).not.toContain('none')
})

test('a Claude model takes what its family takes: newer ones no sampling, none of them a seed', () => {
  expect(parametersOf('claude-opus-4-7')).toMatchObject({
    sampling: 'none',
    seed: false,
    penalties: false,
    maxOutput: 128_000,
  })
  expect(parametersOf('claude-sonnet-4-5-20250929')).toMatchObject({ sampling: 'one', samplingEfforts: ['', 'none'] })
  expect(parametersOf('anthropic/claude-3.5-sonnet')).toMatchObject({ sampling: 'both', efforts: [] })
})

test('a Gemini model takes penalties up to the second generation', () => {
  expect(parametersOf('gemini-2.0-flash').penalties).toBe(true)
  for (const model of ['gemini-2.5-flash', 'gemini-2.5-flash-image', 'google/gemini-3.5-flash', 'gemini-flash-latest'])
    expect([model, parametersOf(model).penalties]).toEqual([model, false])
})

test('models of other vendors take what their own calls carry', () => {
  expect(parametersOf('sonar-pro')).toMatchObject({ seed: false, tools: false, penalties: true, images: true })
  expect(parametersOf('baidu/ERNIE-4.0-8K')).toMatchObject({ seed: false, images: false, tools: true })
  expect(parametersOf('SparkDesk-v4.0')).toMatchObject({ penalties: false, seed: false, images: false })
  expect(parametersOf('hunyuan-turbo')).toMatchObject({ penalties: false, seed: true, images: false })
  expect(parametersOf('hunyuan-vision')).toMatchObject({ images: true })
  expect(parametersOf('glm-4.6')).toMatchObject({ images: false, context: 200_000, maxOutput: 131_072 })
  expect(parametersOf('glm-4.6v-flash')).toMatchObject({ images: true, context: 128_000, maxOutput: 32_768 })
  expect(parametersOf('glm-5.2')).toMatchObject({ images: false, context: 1_000_000, maxOutput: 131_072 })
})
