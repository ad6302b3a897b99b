import { describe, expect, test } from 'vitest'
import { completionRules } from './completion-rules.ts'
import defaults from './default-pricing.json' with { type: 'json' }
import { groupRatioOf } from './group-ratio.ts'
import { price as priceSchema } from './price.ts'
import { completionRatioOf, listsCacheWrites, resolvePrice, resolveTaskPrice } from './resolve-price.ts'
import type { PriceSettings } from './resolve-price.ts'
import { defaultPriceTables } from './tables.ts'
import type { PriceTables } from './tables.ts'

const external: PriceSettings = {
  fallback_pricing_enabled: false,
  fallback_single_price: 0,
  fallback_input_ratio: 0,
  fallback_completion_ratio: 0,
  SelfUseModeEnabled: false,
  acceptUnset: false,
}

const priceOf = (model: string, settings: Partial<PriceSettings> = {}, tables: Partial<PriceTables> = {}) =>
  resolvePrice({ model, tables: { ...defaultPriceTables, ...tables }, settings: { ...external, ...settings } })

describe('the default tables', () => {
  test('give every listed model a valid price', () => {
    const models = [...Object.keys(defaults.ModelRatio), ...Object.keys(defaults.ModelPrice)]
    expect(models.length).toBeGreaterThan(330)
    for (const model of models) expect(priceSchema.safeParse(priceOf(model)).success, model).toBe(true)
  })

  test('are in step with the completion rules in code', () => {
    const written = defaults.CompletionRules.rules.map(({ ratio, as, locked }) => ({ ratio, as, locked }))
    expect(completionRules.map(({ ratio, as, locked }) => ({ ratio, as, locked }))).toEqual(written)
    for (const [index, { when }] of defaults.CompletionRules.rules.entries()) {
      const name = /^(?:startsWith|equals|contains)(?: \(case-insensitive\))? (\S+)/.exec(when)?.[1] ?? ''
      const example = when.includes('and endsWith -nothinking')
        ? `${name}-nothinking`
        : when.includes('endsWith 1106') && name === 'gpt-3.5'
          ? `${name}-1106`
          : name
      expect(completionRules[index]?.fits(example), when).toBe(true)
    }
  })
})

describe('resolvePrice', () => {
  test('gives gpt-4o its ratios', () => {
    expect(priceOf('gpt-4o')).toEqual({
      kind: 'ratio',
      modelRatio: 1.25,
      completionRatio: 4,
      cacheRatio: 0.5,
      cacheWriteRatio: 1.25,
      cacheWrite1hRatio: 2,
      imageRatio: 1,
      audioRatio: 20,
      audioCompletionRatio: 2,
      source: 'table',
    })
  })

  test('prefers a price per call to a ratio', () => {
    expect(priceOf('gpt-4o', {}, { ModelPrice: { 'gpt-4o': 0.02 } })).toEqual({
      kind: 'call',
      modelPrice: 0.02,
      source: 'table',
    })
  })

  test('takes a price or ratio of 0 for a price', () => {
    expect(priceOf('free', {}, { ModelRatio: { free: 0 } })).toMatchObject({ kind: 'ratio', modelRatio: 0 })
    expect(priceOf('free', {}, { ModelPrice: { free: 0 } })).toMatchObject({ kind: 'call', modelPrice: 0 })
  })

  test('finds gizmo and thinking-budget names under their family row', () => {
    expect(priceOf('gpt-4-gizmo-abc')).toMatchObject({ kind: 'call', modelPrice: 0.1 })
    expect(priceOf('gpt-4o-gizmo-abc')).toMatchObject({ modelRatio: 2.5, completionRatio: 3 })
    expect(priceOf('gemini-2.5-flash-preview-04-17-thinking-8192')).toMatchObject({ modelRatio: 0.075 })
    expect(priceOf('gemini-2.5-pro-preview-06-05-thinking-128')).toMatchObject({ modelRatio: 0.625 })
    expect(priceOf('gemini-2.5-flash-lite-preview-06-17-thinking-128')).toMatchObject({ modelRatio: 0.05 })
  })

  test('knows no price for an unknown model, nor for names of object members', () => {
    for (const model of ['nobody-priced-this', 'constructor', '__proto__', 'toString', '']) {
      expect(priceOf(model), model).toBeUndefined()
    }
  })

  test('ignores table entries that are no usable number', () => {
    const broken = { bad: -1, worse: Number.NaN, worst: '3' as unknown as number }
    for (const model of Object.keys(broken)) expect(priceOf(model, {}, { ModelRatio: broken }), model).toBeUndefined()
  })

  test('falls back to the single price, else to both ratios, and never to half a pair', () => {
    const on = { fallback_pricing_enabled: true }
    const both = { ...on, fallback_input_ratio: 3, fallback_completion_ratio: 2 }
    expect(priceOf('gpt-4o-unlisted', { ...both, fallback_single_price: 0.5 })).toEqual({
      kind: 'call',
      modelPrice: 0.5,
      source: 'fallback',
    })
    expect(priceOf('gpt-4o-unlisted', both)).toMatchObject({ modelRatio: 3, completionRatio: 2, source: 'fallback' })
    expect(priceOf('gpt-4o-unlisted', { ...on, fallback_input_ratio: 3 })).toBeUndefined()
    expect(priceOf('gpt-4o-unlisted', on)).toBeUndefined()
  })

  test('prices an unpriced model at 37.5 for self-use and for users who accept it', () => {
    expect(priceOf('unlisted', { SelfUseModeEnabled: true })).toMatchObject({
      modelRatio: 37.5,
      completionRatio: 1,
      source: 'unset',
    })
    expect(priceOf('unlisted', { acceptUnset: true })).toMatchObject({ modelRatio: 37.5 })
  })

  test('gives audio models the ratio of their name and Gemini the one its list price makes', () => {
    expect(priceOf('gpt-4o-realtime-preview')).toMatchObject({ audioRatio: 8, audioCompletionRatio: 2 })
    expect(priceOf('gpt-4o-audio-preview-2024-10-01')).toMatchObject({ audioRatio: 40 })
    const ratios = {
      'new-realtime': 1,
      'new-audio': 1,
      'gpt-4o-mini-audio-preview-2026': 1,
      'gpt-4o-mini-realtime-preview-2026': 1,
    }
    const audioRatios = Object.keys(ratios).map((model) => priceOf(model, {}, { ModelRatio: ratios }))
    expect(audioRatios.map((price) => price?.kind === 'ratio' && price.audioRatio)).toEqual([20, 40, 66.67, 16.67])
    expect(priceOf('gemini-2.5-flash', {}, { ModelRatio: { 'gemini-2.5-flash': 0.15 } })).toMatchObject({
      audioRatio: 3.333333,
    })
  })

  const dollarsOf = (model: string, figures: { input: number; output?: number }) => {
    const modelRatio = figures.input / 2
    const completion = figures.output === undefined ? {} : { [model]: figures.output / figures.input }
    const found = priceOf(model, {}, { ModelRatio: { [model]: modelRatio }, CompletionRatio: completion })
    if (found?.kind !== 'ratio') throw new Error('no ratio')
    const { audioRatio, audioCompletionRatio, imageOutputRatio = 0 } = found
    const dollars = (ratio: number) => Math.round(figures.input * ratio * 1000) / 1000
    return {
      audioIn: dollars(audioRatio),
      audioOut: dollars(audioRatio * audioCompletionRatio),
      imageOut: dollars(imageOutputRatio),
    }
  }

  test('prices audio as its vendors list it, dated and behind a vendor’s name too', () => {
    const listed: [string, { input: number; output?: number }, { audioIn: number; audioOut?: number }][] = [
      ['gemini-2.5-pro', { input: 1.25, output: 10 }, { audioIn: 1.25, audioOut: 10 }],
      ['google/gemini-2.5-pro', { input: 1.25, output: 10 }, { audioIn: 1.25 }],
      ['gemini-3-pro-preview', { input: 2, output: 12 }, { audioIn: 2, audioOut: 12 }],
      ['gemini-3-flash-preview', { input: 0.5, output: 3 }, { audioIn: 1, audioOut: 3 }],
      ['gemini-2.0-flash-001', { input: 0.1, output: 0.4 }, { audioIn: 0.7 }],
      ['gemini-2.0-flash-lite', { input: 0.075, output: 0.3 }, { audioIn: 0.075 }],
      ['gemini-2.5-flash-preview-tts', { input: 0.5, output: 10 }, { audioIn: 1, audioOut: 10 }],
      ['gemini-2.5-pro-preview-tts', { input: 1, output: 20 }, { audioIn: 1, audioOut: 20 }],
      ['gemini-2.5-flash-native-audio-preview-09-2025', { input: 0.5, output: 2 }, { audioIn: 3, audioOut: 12 }],
      ['gpt-realtime-2025-08-28', { input: 4 }, { audioIn: 32, audioOut: 64 }],
      ['gpt-realtime-mini', { input: 0.6 }, { audioIn: 10.002 }],
      ['gpt-audio', { input: 2.5 }, { audioIn: 32, audioOut: 64 }],
      ['openai/gpt-audio', { input: 2.5 }, { audioIn: 32, audioOut: 64 }],
      ['gpt-audio-mini-2025-10-06', { input: 0.6 }, { audioIn: 10.002 }],
      ['gpt-4o-mini-transcribe-2025-12-15', { input: 1.25 }, { audioIn: 3 }],
      ['gpt-4o-mini-tts-2025-12-15', { input: 0.6 }, { audioIn: 15, audioOut: 15 }],
      ['gpt-4o-audio-preview-2025-06-03', { input: 2.5 }, { audioIn: 40, audioOut: 80 }],
    ]
    for (const [model, figures, dollars] of listed) expect(dollarsOf(model, figures), model).toMatchObject(dollars)
  })

  test('prices what is kept in a cache for long as its vendor does, behind a vendor’s name too', () => {
    const dollars = (model: string) => {
      const found = priceOf(model, {}, { ModelRatio: { [model]: 1 } })
      return found?.kind === 'ratio' && found.cacheWrite1hRatio * 2
    }
    expect(['gpt-6.2-sol', 'openai/gpt-6.2-sol', 'gpt-5.10', 'gpt-10', 'claude-opus-5-5'].map(dollars)).toEqual([
      5, 5, 5, 5, 4,
    ])
    expect(['gpt-35-turbo', 'gpt-5.1', 'gpt-5.5-mini', 'gpt-4.1'].map(dollars)).toEqual([4, 4, 4, 4])
  })

  test('lists what writing into a cache costs where the vendor charges for it or somebody has priced it', () => {
    const lists = (model: string) => listsCacheWrites(model, { own: 1 })
    expect(['gpt-6.2-sol', 'openai/gpt-5.6', 'claude-opus-5-5', 'own'].map(lists)).toEqual([true, true, true, true])
    expect(['gpt-5.5', 'gpt-35-turbo', 'gpt-4o', 'gemini-3-pro'].map(lists)).toEqual([false, false, false, false])
  })

  test('prices images that are shown to a model that draws as its vendor does, whichever of its names is used', () => {
    const dollars = (model: string) => {
      const found = priceOf(model, {}, { ModelRatio: { [model]: 2.5 } })
      return found?.kind === 'ratio' && found.imageRatio * 5
    }
    const models = ['gpt-image-1', 'gpt-image-1.5-2025-12-16', 'gpt-image-2', 'gpt-image-2.5-flare']
    expect(models.map(dollars)).toEqual([10, 8, 8, 8])
    expect(['gpt-image-2.6-sunburst', 'openai/gpt-image-2.6-flare'].map(dollars)).toEqual([8, 8])
    expect(['gpt-image-1-mini', 'gpt-4o'].map(dollars)).toEqual([6.25, 5])
  })

  test('prices images that a model draws as its vendor lists them, and never below its words', () => {
    const figures = { input: 0.3, output: 2.5 }
    expect(dollarsOf('gemini-2.5-flash-image', figures).imageOut).toBe(30)
    expect(dollarsOf('google/gemini-2.5-flash-image-preview', figures).imageOut).toBe(30)
    expect(dollarsOf('gemini-3-pro-image-preview', { input: 2, output: 12 }).imageOut).toBe(120)
    // Whoever has made their output price that of images keeps it.
    expect(dollarsOf('gemini-2.5-flash-image', { input: 30, output: 60 }).imageOut).toBe(60)
    expect(dollarsOf('gemini-2.5-flash', figures).imageOut).toBe(0)
  })
})

describe('completionRatioOf', () => {
  test('lets a locked rule beat the map and an unlocked one yield to it', () => {
    expect(completionRatioOf('gpt-4o', { 'gpt-4o': 9 })).toBe(4)
    expect(completionRatioOf('gpt-4.1', { 'gpt-4.1': 9 })).toBe(9)
    expect(completionRatioOf('gpt-4.1', {})).toBe(4)
  })

  test('lets the map win for names with a slash', () => {
    expect(completionRatioOf('vendor/claude-3-opus', { 'vendor/claude-3-opus': 9 })).toBe(9)
    expect(completionRatioOf('vendor/claude-3-opus', {})).toBe(5)
  })

  test('knows the built-in families', () => {
    const expected: Record<string, number> = {
      'gpt-4o-2024-05-13': 3,
      'gpt-4-all': 1,
      'gpt-4o-all': 1,
      'gpt-4-turbo-2024-04-09': 3,
      'gpt-4-0613': 2,
      'gpt-5-mini': 8,
      'o3-mini': 4,
      'claude-sonnet-4-5-20250929': 5,
      'claude-2.1': 3,
      'gpt-3.5-turbo-0125': 3,
      'gpt-3.5-turbo-1106': 2,
      'gpt-3.5-turbo-16k': 1.3333,
      'gemini-2.5-flash-preview-05-20-nothinking': 4,
      'gemini-2.5-flash-preview-05-20': 23.3333,
      'gemini-2.5-flash-lite': 4,
      'gemini-2.5-flash': 8.3333,
      'gemini-3-pro-preview': 6,
      'DeepSeek-Chat': 4,
      'command-light': 4,
      'ERNIE-Speed-8K': 2,
      'never-heard-of': 1,
    }
    const found = Object.fromEntries(Object.keys(expected).map((model) => [model, completionRatioOf(model, {})]))
    expect(found).toEqual(expected)
    expect(completionRatioOf('gpt-4-all', defaultPriceTables.CompletionRatio)).toBe(2)
  })
})

describe('resolveTaskPrice', () => {
  test('takes the table, then the built-in price, then a tenth of a dollar', () => {
    expect(resolveTaskPrice('mj_imagine', { mj_imagine: 0.2 })).toEqual({
      kind: 'call',
      modelPrice: 0.2,
      source: 'table',
    })
    expect(resolveTaskPrice('mj_describe', {})).toEqual({ kind: 'call', modelPrice: 0.05, source: 'default' })
    expect(resolveTaskPrice('mj_new_thing', {})).toEqual({ kind: 'call', modelPrice: 0.1, source: 'default' })
  })
})

describe('groupRatioOf', () => {
  test('prefers the ratio between the two groups, then the used group, then 1', () => {
    const tables = { GroupRatio: { vip: 0.8, free: 0 }, GroupGroupRatio: { staff: { vip: 0.5 } } }
    expect(groupRatioOf({ userGroup: 'staff', usedGroup: 'vip' }, tables)).toEqual({ ratio: 0.5, known: true })
    expect(groupRatioOf({ userGroup: 'other', usedGroup: 'vip' }, tables)).toEqual({ ratio: 0.8, known: true })
    expect(groupRatioOf({ userGroup: 'other', usedGroup: 'free' }, tables)).toEqual({ ratio: 0, known: true })
    expect(groupRatioOf({ userGroup: '__proto__', usedGroup: 'constructor' }, tables)).toEqual({
      ratio: 1,
      known: false,
    })
  })
})
