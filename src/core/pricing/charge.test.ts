import { describe, expect, test } from 'vitest'
import { emptyUsage, normaliseUsage } from '../usage.ts'
import type { Usage } from '../usage.ts'
import { speechUsage, transcriptionUsage } from './audio-files.ts'
import { chargeReceipt, formulaFor } from './charge.ts'
import { costOfAnswer, estimateOf } from './estimate.ts'
import { imageReceipt } from './images.ts'
import type { Price, RatioPrice } from './price.ts'
import type { Receipt, UsageReceipt } from './receipt.ts'
import { resolvePrice, resolveTaskPrice } from './resolve-price.ts'
import { defaultPriceTables } from './tables.ts'
import { taskModel, taskReceipt } from './tasks.ts'
import { isChatSearchModel, toolUses } from './tools.ts'

const settings = {
  fallback_pricing_enabled: false,
  fallback_single_price: 0,
  fallback_input_ratio: 0,
  fallback_completion_ratio: 0,
  SelfUseModeEnabled: true,
  acceptUnset: false,
}

function priceOf(model: string): Price {
  const found = resolvePrice({ model, tables: defaultPriceTables, settings })
  if (found === undefined) throw new Error(`${model} has no price`)
  return found
}

const usageOf = (parts: Partial<Usage>): Usage => ({ ...emptyUsage, ...parts })

const receiptOf = (
  model: string,
  parts: Partial<Usage>,
  terms: Partial<Pick<UsageReceipt, 'formula' | 'groupRatio' | 'tools'>> = {},
): UsageReceipt => ({
  formula: 'text',
  usage: usageOf(parts),
  price: priceOf(model),
  groupRatio: 1,
  quotaPerUnit: 500_000,
  ...terms,
})

const quotaOf = (receipt: Receipt): number => chargeReceipt(receipt).quota

describe('the worked examples', () => {
  test('1 and 2: gpt-4o without and with cached tokens', () => {
    const plain = chargeReceipt(receiptOf('gpt-4o', { promptTokens: 1000, completionTokens: 500 }))
    expect(plain).toMatchObject({ quota: 3750, amount: '0.007500' })
    expect(quotaOf(receiptOf('gpt-4o', { promptTokens: 1000, cachedTokens: 400, completionTokens: 500 }))).toBe(3500)
  })

  test('3: a fifth of a unit costs one', () => {
    const charge = chargeReceipt(receiptOf('gpt-3.5-turbo', { promptTokens: 1 }, { groupRatio: 0.8 }))
    expect(charge.quota).toBe(1)
    expect(charge.steps.map(({ label, quota }) => [label, quota])).toEqual([
      ['input', '0.2'],
      ['minimum', '0.8'],
    ])
  })

  const imageTerms = {
    size: 'auto',
    quality: 'auto',
    count: 1,
    groupRatio: 1,
    quotaPerUnit: 500_000,
  }
  const image = (model: string, size: string, rest: { quality?: string; count?: number; usage?: Usage } = {}) =>
    imageReceipt({
      ...imageTerms,
      model,
      size,
      quality: 'standard',
      price: priceOf(model),
      ...rest,
    })

  test('4 and 5: images by price and by ratio', () => {
    expect(quotaOf(image('dall-e-3', '1024x1792', { quality: 'hd', count: 2 }))).toBe(120_000)
    expect(quotaOf(image('dall-e-3', '1024x1024', { quality: 'hd' }))).toBe(40_000)
    expect(quotaOf(image('dall-e-2', '512x512'))).toBe(4500)
  })

  test('a gpt-image image is charged by reported tokens, else by the list', () => {
    const usage = usageOf({ promptTokens: 150, imageInputTokens: 100, completionTokens: 1000, imageOutputTokens: 1000 })
    expect(quotaOf(image('gpt-image-1', '1024x1024', { usage }))).toBe((50 + 100 * 2 + 1000 * 8) * 2.5)
    expect(quotaOf(image('gpt-image-1', '1024x1536', { quality: 'medium', count: 2 }))).toBe(63_000)
    expect(quotaOf(image('gpt-image-1', 'auto', { quality: 'auto' }))).toBe(125_000)
  })

  test('one of another gpt-image model costs less or more of the list as its tokens do', () => {
    const price = { ...priceOf('gpt-image-1'), modelRatio: 1, completionRatio: 4 } as Price
    const mini = imageReceipt({ ...imageTerms, model: 'gpt-image-1-mini', price })
    expect(quotaOf(mini)).toBe((0.25 * 500_000) / 5)
  })

  const drawing = { ...priceOf('gemini-2.5-flash'), modelRatio: 0.15, imageOutputRatio: 100 } as RatioPrice

  test('images that Gemini draws cost their tokens at the price of images, in chat and as an operation', () => {
    const usage = usageOf({ promptTokens: 10, completionTokens: 1330, imageOutputTokens: 1290 })
    const exact = (10 + 40 * drawing.completionRatio + 1290 * 100) * 0.15
    for (const formula of ['text', 'claude', 'audio'] as const) {
      const receipt = { formula, usage, price: drawing, groupRatio: 1, quotaPerUnit: 500_000 }
      expect(quotaOf(receipt), formula).toBe(formula === 'claude' ? Math.floor(exact) : Math.round(exact))
    }
    const operation = { ...imageTerms, model: 'google/gemini-2.5-flash-image', price: drawing }
    expect(quotaOf(imageReceipt({ ...operation, usage }))).toBe(Math.round(exact))
    const untold = { ...usage, imageOutputTokens: 0 }
    expect(quotaOf(imageReceipt({ ...operation, usage: untold }))).toBe(Math.round((10 + 1330 * 100) * 0.15))
    // What is set aside, and charged where no usage comes.
    expect(quotaOf(imageReceipt({ ...operation, count: 2 }))).toBe(2 * 1290 * 15)
  })

  test('what is set aside for an answer with images covers all of it being images', () => {
    const units = { groupRatio: 1, quotaPerUnit: 500_000 }
    const terms = { ...units, price: drawing, formula: 'text' as const, cacheWriteMarked: 0, promptTokens: 10 }
    expect(costOfAnswer(terms, 1290)).toBe(Math.ceil((10 + 1290 * 100) * 0.15))
  })

  test('a receipt from before images had a price of their own reads as it did', () => {
    const { imageOutputRatio: _, ...price } = drawing
    const usage = usageOf({ promptTokens: 10, completionTokens: 1290, imageOutputTokens: 1290 })
    const { quota, steps } = chargeReceipt({ formula: 'text', usage, price, groupRatio: 1, quotaPerUnit: 500_000 })
    expect(quota).toBe(Math.round((10 + 1290 * price.completionRatio) * 0.15))
    expect(steps.map(({ label }) => label)).toEqual(['input', 'output', 'rounding'])
  })

  test('size and quality change the price of no other model', () => {
    const receipt = image('imagen-3.0-generate-002', '512x512', { quality: 'hd' })
    expect(quotaOf(receipt)).toBe(15_000)
  })

  test('6: a drawing job', () => {
    const price = resolveTaskPrice(taskModel('mj', 'IMAGINE'), defaultPriceTables.ModelPrice)
    const terms = { groupRatio: 1, quotaPerUnit: 500_000 }
    expect(quotaOf(taskReceipt({ action: 'IMAGINE', price, ...terms }))).toBe(50_000)
    expect(quotaOf(taskReceipt({ action: 'INPAINT', price, ...terms }))).toBe(0)
    expect(quotaOf(taskReceipt({ action: 'CUSTOM_ZOOM', price, ...terms }))).toBe(0)
    expect([taskModel('mj', 'SWAP_FACE'), taskModel('suno', 'MUSIC')]).toEqual(['swap_face', 'suno_music'])
  })

  test('7: speech by the character, counted as a person counts them', () => {
    const { usage, promptUnit } = speechUsage({ model: 'tts-1', input: '𝄞'.repeat(200), countedTokens: 7 })
    expect(quotaOf({ ...receiptOf('tts-1', usage), promptUnit })).toBe(1500)
    expect(speechUsage({ model: 'gpt-4o-mini-tts', input: 'hello', countedTokens: 1 }).usage.promptTokens).toBe(1)
  })

  test('8: transcription by started seconds; an unreadable file counts as a minute', () => {
    expect(quotaOf(receiptOf('whisper-1', transcriptionUsage(90.2)))).toBe(22_755)
    expect(transcriptionUsage(undefined).promptTokens).toBe(1000)
    expect(transcriptionUsage(Number.NaN).promptTokens).toBe(1000)
  })

  test('9: a Claude call with cache reads and writes', () => {
    const parts = { promptTokens: 1300, cachedTokens: 1000, cacheWriteTokens: 200, completionTokens: 50 }
    expect(quotaOf(receiptOf('claude-3-5-sonnet-20241022', parts, { formula: 'claude' }))).toBe(1050)
    const hour = { ...parts, cacheWrite1hTokens: 100 }
    expect(quotaOf(receiptOf('claude-3-5-sonnet-20241022', hour, { formula: 'claude' }))).toBe(1162)
  })

  test('10: a realtime answer', () => {
    const parts = { promptTokens: 40, audioInputTokens: 30, completionTokens: 60, audioOutputTokens: 40 }
    expect(quotaOf(receiptOf('gpt-4o-realtime-preview', parts, { formula: 'audio' }))).toBe(2425)
  })

  test('11: what to reserve with and without a limit', () => {
    const wanted = {
      price: priceOf('gpt-4o'),
      groupRatio: 1,
      quotaPerUnit: 500_000,
      formula: 'text' as const,
      cacheWriteMarked: 0,
      preConsumedQuota: 500,
    }
    expect(estimateOf({ ...wanted, promptTokens: 3 })).toBe(625)
    expect(estimateOf({ ...wanted, promptTokens: 1000, maxTokens: 200 })).toBe(2250)
    expect(estimateOf({ ...wanted, promptTokens: 1000, maxTokens: 200, choiceCount: 3 })).toBe(4250)
    expect(estimateOf({ ...wanted, promptTokens: 2000 })).toBe(2500)
    expect(estimateOf({ ...wanted, promptTokens: 1001, maxTokens: 1 })).toBe(1257)
    expect(estimateOf({ ...wanted, promptTokens: 1000, cacheWriteMarked: 400, maxTokens: 200 })).toBe(2375)
  })

  test('12: a model without a price in self-use mode', () => {
    expect(quotaOf(receiptOf('nobody-priced-this', { promptTokens: 10, completionTokens: 10 }))).toBe(750)
  })
})

describe('chargeReceipt', () => {
  test('charges nothing for an answer without tokens, a price per call and tools included', () => {
    const tools = toolUses({ model: 'gpt-4o', usage: { webSearchCalls: 3, fileSearchCalls: 1 } })
    expect(quotaOf(receiptOf('gpt-4o', {}, { tools }))).toBe(0)
    expect(quotaOf(receiptOf('dall-e-3', {}))).toBe(0)
  })

  test('charges a price per call once, whatever the tokens', () => {
    expect(
      quotaOf(receiptOf('gpt-4-gizmo-x', { promptTokens: 9, completionTokens: 99_999 }, { groupRatio: 0.5 })),
    ).toBe(25_000)
  })

  test('charges nothing where the model or the group is free', () => {
    const free: Price = { ...priceOf('gpt-4o'), modelRatio: 0 } as Price
    expect(quotaOf({ ...receiptOf('gpt-4o', { promptTokens: 9 }), price: free })).toBe(0)
    expect(quotaOf(receiptOf('gpt-4o', { promptTokens: 9 }, { groupRatio: 0 }))).toBe(0)
  })

  test('rounds text to the nearest unit and Claude down', () => {
    const price: Price = { ...priceOf('gpt-4o'), modelRatio: 0.5 } as Price
    const call = { ...receiptOf('gpt-4o', { promptTokens: 5 }), price }
    expect(quotaOf(call)).toBe(3)
    expect(quotaOf({ ...call, formula: 'claude' })).toBe(2)
  })

  test('adds the built-in tools at their price, times the group', () => {
    const usage = { promptTokens: 100, webSearchCalls: 2, fileSearchCalls: 4 }
    const containers = [{ id: 'cntr_1', gigabytes: 1 }]
    const tools = toolUses({ model: 'gpt-4o', usage: { ...usageOf(usage), containers } })
    const charge = chargeReceipt(receiptOf('gpt-4o', usage, { tools, groupRatio: 2 }))
    expect(charge.quota).toBe((125 + 2 * 12_500 + 4 * 1250 + 15_000) * 2)
    expect(charge.steps.map((step) => step.label)).toEqual(['input', 'webSearch', 'fileSearch', 'codeInterpreter'])
  })

  test('shows every step with its rate and amount in six decimals', () => {
    const parts = { promptTokens: 1000, cachedTokens: 400, completionTokens: 500 }
    expect(chargeReceipt(receiptOf('gpt-4o', parts, { groupRatio: 0.8 })).steps).toEqual([
      {
        label: 'input',
        quantity: 600,
        unit: 'token',
        price: '2.500000',
        per: 1_000_000,
        ratios: [
          { name: 'model', value: 1.25 },
          { name: 'group', value: 0.8 },
        ],
        quota: '600',
        amount: '0.001200',
      },
      {
        label: 'cacheRead',
        quantity: 400,
        unit: 'token',
        price: '1.250000',
        per: 1_000_000,
        ratios: [
          { name: 'model', value: 1.25 },
          { name: 'cache', value: 0.5 },
          { name: 'group', value: 0.8 },
        ],
        quota: '200',
        amount: '0.000400',
      },
      {
        label: 'output',
        quantity: 500,
        unit: 'token',
        price: '10.000000',
        per: 1_000_000,
        ratios: [
          { name: 'model', value: 1.25 },
          { name: 'completion', value: 4 },
          { name: 'group', value: 0.8 },
        ],
        quota: '2000',
        amount: '0.004000',
      },
    ])
  })

  test('charges cached audio as audio, not twice', () => {
    const { usage } = normaliseUsage({ promptTokens: 127, cachedTokens: 384, audioInputTokens: 8, completionTokens: 1 })
    expect(quotaOf({ ...receiptOf('gpt-4o-realtime-preview', usage), formula: 'audio' })).toBe(
      Math.round((119 + 8 * 8 + 4) * 2.5),
    )
  })
})

describe('formulaFor', () => {
  test('lets audio tokens decide before the vendor', () => {
    const call = { claude: false, realtime: false, usage: emptyUsage }
    expect(formulaFor(call)).toBe('text')
    expect(formulaFor({ ...call, claude: true })).toBe('claude')
    expect(formulaFor({ ...call, realtime: true })).toBe('audio')
    expect(formulaFor({ ...call, usage: usageOf({ audioOutputTokens: 1 }) })).toBe('audio')
  })
})

test('chat models that search by themselves are known by name', () => {
  expect(
    ['gpt-4o-search-preview', 'gpt-4o-mini-search-preview-2025-03-11', 'gpt-5-search-api', 'gpt-4o'].map(
      isChatSearchModel,
    ),
  ).toEqual([true, true, true, false])
})

test('a chat model that searches by itself is charged one search a call, or as many as are reported', () => {
  const model = 'gpt-4o-search-preview'
  const calls = (webSearchCalls: number) => toolUses({ model, usage: { webSearchCalls, fileSearchCalls: 0 } })[0]?.calls
  expect([0, 1, 3].map(calls)).toEqual([1, 1, 3])
})

test('web search costs what its vendor asks', () => {
  const dollars = (model: string) => toolUses({ model, usage: { webSearchCalls: 1, fileSearchCalls: 0 } })[0]?.dollars
  expect(['gpt-4.1-mini', 'o3', 'claude-sonnet-4-5', 'gemini-2.5-pro'].map(dollars)).toEqual([25, 10, 10, 14])
})

test('a million one-token calls sum to a million times one call', () => {
  const one = quotaOf(receiptOf('qwen-long', { promptTokens: 1 }, { groupRatio: 0.333 }))
  expect(one * 1_000_000).toBe(1_000_000)
})

describe('long prompts', () => {
  const longContext = [
    { above: 200_000, input: 2, output: 1.5 },
    { above: 1_000_000, input: 4, output: 3 },
  ]
  const table = { ...defaultPriceTables, LongContextRatio: { 'gemini-2.5-pro': longContext } }
  const long = (model: string, parts: Partial<Usage>): UsageReceipt => {
    const price = resolvePrice({ model, tables: table, settings })
    if (price === undefined) throw new Error(`${model} has no price`)
    return { ...receiptOf(model, parts), price }
  }

  test('are charged at their step for the whole call, from one token above the limit', () => {
    const usage = { cachedTokens: 100_000, completionTokens: 1000 }
    const at = (promptTokens: number) => chargeReceipt(long('gemini-2.5-pro', { ...usage, promptTokens }))
    // (100000 + 100000 × cache + 1000 × 8) × 0.625 at the limit; everything read twice, the answer 1.5 times above it.
    const { cacheRatio, modelRatio, completionRatio } = long('gemini-2.5-pro', {}).price as RatioPrice
    const exact = (plain: number, input: number, output: number) =>
      Math.round((plain * input + 100_000 * cacheRatio * input + 1000 * completionRatio * output) * modelRatio)
    expect(at(200_000).quota).toBe(exact(100_000, 1, 1))
    expect(at(200_001).quota).toBe(exact(100_001, 2, 1.5))
    expect(at(1_000_001).quota).toBe(exact(900_001, 4, 3))
    expect(
      at(200_001).steps.map(({ label, ratios }) => [label, ratios.find(({ name }) => name === 'longContext')?.value]),
    ).toEqual([
      ['input', 2],
      ['cacheRead', 2],
      ['output', 1.5],
      ...(at(200_001).steps.some(({ label }) => label === 'rounding') ? [['rounding', undefined]] : []),
    ])
  })

  test('of a family are priced by the row of the family, and of another model not at all', () => {
    const tables = { ...table, LongContextRatio: { 'gemini-2.5-pro-thinking-*': longContext } }
    const stepsOf = (model: string) => resolvePrice({ model, tables, settings })
    expect(stepsOf('gemini-2.5-pro-preview-thinking-128')).toMatchObject({ longContext })
    expect(stepsOf('gemini-2.5-pro')).not.toHaveProperty('longContext')
  })

  test('are reserved for at their own price', () => {
    const { price } = long('gemini-2.5-pro', {})
    const reserve = (promptTokens: number) =>
      estimateOf({
        price,
        formula: 'text',
        promptTokens,
        cacheWriteMarked: 0,
        maxTokens: 1000,
        preConsumedQuota: 500,
        groupRatio: 1,
        quotaPerUnit: 500_000,
      })
    const charged = quotaOf(long('gemini-2.5-pro', { promptTokens: 300_000, completionTokens: 1000 }))
    expect(reserve(300_000)).toBeGreaterThanOrEqual(charged)
    expect(reserve(300_000)).toBeLessThanOrEqual(charged + 1)
  })
})
