import { describe, expect, test } from 'vitest'
import type { ReasoningInput } from '#relay/chat/request.ts'
import { callWith } from '../../conformance/fixtures.ts'
import { requestWith } from '../../conformance/requests.ts'
import { providerFor } from '../../registry.ts'

type Sent = { body: Record<string, unknown>; losses: string[] }

/** What a caller of another dialect gets who says how much is to be thought. */
function translated(type: number, model: string, reasoning: ReasoningInput): Sent {
  const request = requestWith({ reasoning, extra: { dialect: 'gemini', fields: {} } })
  const { body, losses = [] } = providerFor(type).chat.request(request, callWith({ model, channel: { type } }))
  return { body: body as Sent['body'], losses }
}

/** The same of a caller of the vendor's own form. */
function passed(type: number, model: string, fields: Record<string, unknown>): Sent {
  const json = { model, messages: [], ...fields }
  const call = callWith({ model, channel: { type } })
  const made = providerFor(type).native['openai-chat']?.request(
    { json, bytes: Buffer.from(JSON.stringify(json)) },
    call,
  )
  return { body: JSON.parse(Buffer.from(made?.body as Uint8Array).toString()), losses: made?.losses ?? [] }
}

const off: ReasoningInput = { mode: 'disabled' }

describe('GLM models that always think', () => {
  test.each([
    ['none', 'low', ['reasoning_effort']],
    ['minimal', 'low', []],
    ['low', 'low', []],
    ['medium', 'high', []],
    ['high', 'high', []],
    ['xhigh', 'max', []],
    ['max', 'max', []],
  ] as const)('are given an effort of %s in their own words: %s', (effort, own, lost) => {
    for (const model of ['glm-5.3', 'glm-5.3-flash']) {
      for (const { body, losses } of [
        translated(26, model, { effort }),
        passed(26, model, { reasoning_effort: effort }),
      ]) {
        expect(body).toMatchObject({ reasoning_effort: own })
        expect(body).not.toHaveProperty('thinking')
        expect(losses).toEqual(lost)
      }
    }
  })

  test('are never asked not to, and the rest of a setting stays', () => {
    expect(translated(26, 'glm-5.3', off)).toMatchObject({
      body: { reasoning_effort: 'low' },
      losses: ['reasoning_effort'],
    })
    const thinking = { type: 'disabled', clear_thinking: false }
    const { body, losses } = passed(26, 'glm-5.3', { thinking })
    expect(body).toMatchObject({ reasoning_effort: 'low', thinking: { type: 'enabled', clear_thinking: false } })
    expect(losses).toEqual(['thinking'])
    expect(passed(26, 'glm-5.3', { thinking, reasoning_effort: 'max' }).body).toMatchObject({ reasoning_effort: 'max' })
  })

  test('differ from those before them, which are switched', () => {
    expect(translated(26, 'glm-5.2', off).body).toMatchObject({ thinking: { type: 'disabled' } })
    expect(translated(26, 'glm-5.2', { effort: 'medium' }).body).toMatchObject({ reasoning_effort: 'medium' })
    expect(passed(26, 'glm-5.2', { thinking: { type: 'disabled' } }).losses).toEqual([])
  })
})

test.each(['mistral-medium-3-5', 'mistral-medium-3.5', 'mistral-medium-2604'])(
  'Mistral Medium 3.5 is switched to think or not by the name %s',
  (model) => {
    expect(translated(42, model, { effort: 'low' }).body).toMatchObject({ reasoning_effort: 'high' })
    expect(translated(42, model, off).body).toMatchObject({ reasoning_effort: 'none' })
  },
)

describe('DeepSeek V4', () => {
  test.each([
    ['DashScope', 17, 'deepseek-v4-pro', { enable_thinking: true }, { enable_thinking: false }],
    ['SiliconFlow', 40, 'deepseek-ai/DeepSeek-V4-Flash', { enable_thinking: true }, { enable_thinking: false }],
    ['Ark', 45, 'deepseek-v4-pro-260425', { thinking: { type: 'enabled' } }, { thinking: { type: 'disabled' } }],
  ])('at %s is switched to think or not', (_, type, model, on, none) => {
    const asked = translated(type, model, { effort: 'low' })
    expect(asked.body).toMatchObject(on)
    expect(asked.losses).toEqual([])
    expect(translated(type, model, off).body).toMatchObject(none)
  })

  test('at DashScope thinks as much as its callers ask it to, of whichever dialect', () => {
    const model = 'deepseek-v4-pro'
    for (const effort of ['low', 'max'] as const)
      for (const { body, losses } of [
        passed(17, model, { reasoning_effort: effort }),
        translated(17, model, { effort }),
      ]) {
        expect(body).toMatchObject({ enable_thinking: true, reasoning_effort: effort })
        expect(losses).toEqual([])
      }
    expect(translated(17, model, { effort: 'minimal' }).body).toMatchObject({ reasoning_effort: 'low' })
    for (const { body } of [
      passed(17, model, { reasoning_effort: 'none' }),
      translated(17, model, { effort: 'none' }),
    ]) {
      expect(body).toMatchObject({ enable_thinking: false })
      expect(body).not.toHaveProperty('reasoning_effort')
    }
    const { body: unthinking } = translated(17, model, { mode: 'disabled', effort: 'high' })
    expect(unthinking).toMatchObject({ enable_thinking: false })
    expect(unthinking).not.toHaveProperty('reasoning_effort')
    expect(translated(17, 'qwen3-max', { effort: 'max' }).body).not.toHaveProperty('reasoning_effort')
  })
})

describe('SiliconFlow', () => {
  test.each(['zai-org/GLM-5', 'Pro/zai-org/GLM-5.1', 'Pro/moonshotai/Kimi-K2.5', 'Pro/moonshotai/Kimi-K2.6'])(
    'switches %s to think or not',
    (model) => {
      expect(translated(40, model, { effort: 'low' }).body).toMatchObject({ enable_thinking: true })
      expect(translated(40, model, off).body).toMatchObject({ enable_thinking: false })
    },
  )

  test.each([
    ['Pro/zai-org/GLM-5.2', 'minimal', { enable_thinking: true, reasoning_effort: 'high' }, []],
    ['deepseek-ai/DeepSeek-V4-Flash', 'xhigh', { enable_thinking: true, reasoning_effort: 'max' }, []],
    ['zai-org/GLM-5.3', 'minimal', { reasoning_effort: 'low' }, []],
    ['zai-org/GLM-5.3', 'medium', { reasoning_effort: 'high' }, []],
    ['zai-org/GLM-5.3', 'none', { reasoning_effort: 'low' }, ['reasoning_effort']],
  ] as const)('gives %s an effort of %s in its own words', (model, effort, own, lost) => {
    const { body, losses } = translated(40, model, { effort })
    const { enable_thinking, reasoning_effort } = body
    expect(JSON.parse(JSON.stringify({ enable_thinking, reasoning_effort }))).toEqual(own)
    expect(losses).toEqual(lost)
  })

  test('never asks a model that always thinks not to', () => {
    const { body, losses } = passed(40, 'zai-org/GLM-5.3', { enable_thinking: false })
    expect(body).toMatchObject({ reasoning_effort: 'low' })
    expect(body).not.toHaveProperty('enable_thinking')
    expect(losses).toEqual(['enable_thinking'])
  })
})

describe('Ark', () => {
  test.each([
    ['doubao-seed-2-1-pro-260628', 'low', 'low'],
    ['doubao-seed-2.0-pro', 'max', 'max'],
    ['doubao-seed-character-260628', 'xhigh', 'xhigh'],
    ['deepseek-v4-pro-260425', 'max', 'max'],
    ['glm-5-2-260617', 'high', 'high'],
    ['doubao-seed-1-8-251228', 'minimal', 'low'],
    ['doubao-seed-1-6-251015', 'max', 'high'],
    ['doubao-seed-1-6-250615', 'high', undefined],
    ['deepseek-v3-2-251201', 'high', undefined],
  ] as const)('gives %s an effort of %s beside the switch, where it takes one', (model, effort, own) => {
    const { body, losses } = translated(45, model, { effort })
    expect([body['thinking'], body['reasoning_effort'], losses]).toEqual([{ type: 'enabled' }, own, []])
  })

  test('gives no effort beside a switch that is off, which refuses it', () => {
    for (const reasoning of [off, { effort: 'none' }, { mode: 'disabled', effort: 'high' }] as const) {
      const { body } = translated(45, 'doubao-seed-2-1-pro-260628', reasoning)
      expect(body).toMatchObject({ thinking: { type: 'disabled' } })
      expect(body).not.toHaveProperty('reasoning_effort')
    }
  })
})

test.each([
  ['deepseek-v3.2', { thinking: { type: 'enabled' } }, { thinking: { type: 'disabled' } }],
  ['kimi-k2.5', { thinking: { type: 'enabled' } }, { thinking: { type: 'disabled' } }],
  ['glm-5', { thinking: { type: 'enabled' } }, { thinking: { type: 'disabled' } }],
  ['glm-4.7', { thinking: { type: 'enabled' } }, { thinking: { type: 'disabled' } }],
  ['qwen3-32b', { enable_thinking: true }, { enable_thinking: false }],
  ['ernie-4.5-turbo-vl-32k', { enable_thinking: true }, { enable_thinking: false }],
  ['ernie-5.0-thinking-preview', { enable_thinking: true }, { enable_thinking: false }],
])('Qianfan switches %s to think or not by the word of that model', (model, on, none) => {
  const wordsOf = ({ thinking, enable_thinking }: Record<string, unknown>) =>
    JSON.parse(JSON.stringify({ thinking, enable_thinking }))
  expect(wordsOf(translated(46, model, { effort: 'low' }).body)).toEqual(on)
  expect(wordsOf(translated(46, model, off).body)).toEqual(none)
})

test('MiniMax M3 thinks when it is asked to and not when it is asked not to; its forerunners always do', () => {
  expect(translated(35, 'MiniMax-M3', { effort: 'low' })).toMatchObject({
    body: { thinking: { type: 'adaptive' }, reasoning_split: true },
    losses: [],
  })
  expect(translated(35, 'MiniMax-M3', off).body).toMatchObject({ thinking: { type: 'disabled' } })
  for (const [model, reasoning] of [
    ['MiniMax-M3', {}],
    ['MiniMax-M2.7', off],
  ] as const)
    expect(translated(35, model, reasoning).body).not.toHaveProperty('thinking')
})

describe('Grok', () => {
  test.each([
    ['grok-4.3', 'none', 'none', []],
    ['grok-4.3', 'minimal', 'low', []],
    ['grok-4.3', 'medium', 'medium', []],
    ['grok-4.3', 'max', 'high', ['reasoning_effort']],
    ['grok-4.5', 'none', 'low', ['reasoning_effort']],
    ['grok-4.5', 'minimal', 'low', []],
    ['grok-4.5', 'medium', 'medium', []],
    ['grok-4.5', 'xhigh', 'high', ['reasoning_effort']],
    ['grok-4.6', 'xhigh', 'xhigh', []],
    ['grok-4.6-latest', 'max', 'xhigh', ['reasoning_effort']],
    ['grok-3-mini', 'medium', 'low', ['reasoning_effort']],
  ] as const)('%s is given the effort nearest to %s: %s', (model, effort, own, lost) => {
    const { body, losses } = translated(48, model, { effort })
    expect(body).toMatchObject({ reasoning_effort: own })
    expect(losses).toEqual(lost)
  })

  test('of a release that takes none is given none', () => {
    const { body, losses } = translated(48, 'grok-4-0709', { effort: 'high' })
    expect(body).not.toHaveProperty('reasoning_effort')
    expect(losses).toEqual(['reasoning_effort'])
    expect(translated(48, 'grok-4.20-reasoning', off).body).not.toHaveProperty('reasoning_effort')
  })
})
