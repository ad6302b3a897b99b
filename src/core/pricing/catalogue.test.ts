import { describe, expect, test } from 'vitest'
import { catalogPrice } from './catalogue.ts'
import { dollarsToRatio, priceRatio, ratioToDollars } from './prices.ts'

describe('prices', () => {
  test('a ratio of 1 is 2 dollars per million tokens, and back', () => {
    expect(ratioToDollars(1)).toBe(2)
    expect(ratioToDollars(1.25)).toBe(2.5)
    expect(dollarsToRatio(0.3)).toBe(0.15)
    expect(ratioToDollars(dollarsToRatio(0.07))).toBe(0.07)
  })

  test('follow the units a dollar has', () => {
    expect(ratioToDollars(1, 1_000_000)).toBe(1)
    expect(dollarsToRatio(1, 1_000_000)).toBe(1)
  })

  test('a multiple of a free price is not invented', () => {
    expect(priceRatio(10, 2.5)).toBe(4)
    expect(priceRatio(10, 0)).toBeUndefined()
  })
})

describe('catalogPrice', () => {
  test('gives the list price of known models as ratios, cache included', async () => {
    expect(await catalogPrice('gpt-4o')).toMatchObject({ modelRatio: 1.25, completionRatio: 4, cacheRatio: 0.5 })
    expect(await catalogPrice('claude-sonnet-4-5-20250929')).toMatchObject({
      modelRatio: 1.5,
      completionRatio: 5,
      cacheRatio: 0.1,
      cacheWriteRatio: 1.25,
      cacheWrite1hRatio: 2,
    })
  })

  test('shows what long prompts cost against short ones', async () => {
    const known = await Promise.all(['gemini-2.5-pro', 'claude-sonnet-4-5', 'gpt-4o'].map(catalogPrice))
    expect(known.map((price) => price?.longContext)).toEqual([
      [{ above: 200_000, input: 2, output: 1.5 }],
      [{ above: 200_000, input: 2, output: 1.5 }],
      undefined,
    ])
  })

  test('finds models of other vendors, with and without the vendor in the name', async () => {
    for (const model of [
      'z-ai/glm-4.6',
      'kimi-k2',
      'sonar-pro',
      'deepseek-chat',
      'openai/gpt-4o',
      'qwen/qwen-max',
      'gemini-2.5-pro',
    ]) {
      expect(await catalogPrice(model), model).toBeDefined()
    }
  })

  test('does not guess', async () => {
    for (const model of ['', 'nobody-knows-this', '__proto__', '/'])
      expect(await catalogPrice(model), model).toBeUndefined()
  })
})
