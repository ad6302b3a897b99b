import { expect, test } from 'vitest'
import { costOf, dollarsFor, dollarsOf, type Price, vendorOf } from './prices.ts'

const price = {
  kind: 'ratio' as const,
  source: 'table' as const,
  modelPrice: null,
  modelRatio: 1.25,
  completionRatio: 4,
  cacheRatio: 0.5,
  cacheWriteRatio: 1,
  cacheWrite1hRatio: 1,
  imageRatio: 1,
  audioRatio: 1,
  audioCompletionRatio: 1,
  imageOutputRatio: null,
  longContext: [{ above: 200_000, input: 2, output: 1.5 }],
} satisfies Price

test('a group pays its ratio of the list price, per million tokens', () => {
  expect(dollarsOf(price, { groupRatio: 0.8, quotaPerUnit: 500_000 })).toEqual({
    input: 2,
    output: 8,
    imageOutput: null,
    cached: 1,
    cacheWrite: null,
    call: null,
  })
})

test('images that a model draws are shown at their own price where they have one', () => {
  const terms = { groupRatio: 0.5, quotaPerUnit: 500_000 }
  const drawing = { ...price, modelRatio: 0.15, completionRatio: 8.3333, imageOutputRatio: 100 }
  expect(dollarsOf(drawing, terms).imageOutput).toBeCloseTo(15)
  expect(dollarsFor(drawing, terms, 200_001).imageOutput).toBeCloseTo(22.5)
})

test('cached tokens of the example cost what the cache costs, and never more tokens than there are', () => {
  const dollars = dollarsOf(price, { groupRatio: 1, quotaPerUnit: 500_000 })
  expect(costOf(dollars, { input: 1_000_000, cached: 400_000, output: 100_000 })).toBeCloseTo(1.5 + 0.5 + 1)
  expect(costOf(dollars, { input: 1000, cached: 5000, output: 0 })).toBeCloseTo(0.00125)
})

test('a prompt beyond the limit pays the long price for all of it, its cached part included', () => {
  const terms = { groupRatio: 1, quotaPerUnit: 500_000 }
  expect(dollarsFor(price, terms, 200_000)).toMatchObject({ input: 2.5, output: 10, cached: 1.25 })
  expect(dollarsFor(price, terms, 200_001)).toMatchObject({ input: 5, output: 15, cached: 2.5 })
})

test('a call with a fixed price costs the same whatever its tokens', () => {
  const call = { ...price, kind: 'call', modelPrice: 0.04, modelRatio: null } as const
  const dollars = dollarsOf(call, { groupRatio: 0.5, quotaPerUnit: 500_000 })
  expect(costOf(dollars, { input: 9, cached: 0, output: 9 })).toBeCloseTo(0.02)
})

test('a vendor is recognised by the name behind any prefix', () => {
  expect(['o3-mini', 'openrouter/claude-3', 'my-model'].map(vendorOf)).toEqual(['OpenAI', 'Anthropic', undefined])
})
