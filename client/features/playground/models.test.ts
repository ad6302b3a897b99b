import { expect, test } from 'vitest'
import { estimateQuota, groupInUse, listPrice } from './models.ts'

const noRatios = {
  cacheRatio: null,
  cacheWriteRatio: null,
  cacheWrite1hRatio: null,
  imageRatio: null,
  audioRatio: null,
  audioCompletionRatio: null,
  imageOutputRatio: null,
  longContext: [],
}

test('a ratio of one is two dollars a million tokens at the usual units per dollar, times the group, and the answer times its own ratio', () => {
  const price = {
    kind: 'ratio' as const,
    source: 'table' as never,
    modelPrice: null,
    modelRatio: 1.25,
    completionRatio: 4,
  }
  const item = { model: 'm', groups: [], price: { ...price, ...noRatios } }
  const listed = (quotaPerUnit: number) => listPrice(item, { groupRatio: 0.8, quotaPerUnit })
  expect(listed(500_000)).toEqual({ kind: 'tokens', input: 2, output: 8 })
  // A token costs units of quota: where a dollar is more of them, it costs less.
  expect(listed(1_000_000)).toEqual({ kind: 'tokens', input: 1, output: 4 })
})

test('an estimate adds what was asked to what was answered, at the list price of each', () => {
  const usage = { promptTokens: 1000, completionTokens: 500, cachedTokens: 0 }
  expect(estimateQuota({ kind: 'tokens', input: 2, output: 8 }, usage, 500_000)).toBeCloseTo(3000)
  expect(estimateQuota({ kind: 'call', call: 0.04 }, usage, 500_000)).toBe(20_000)
})

test('a group that cannot be chosen any more gives way to the first, once it is known which there are', () => {
  const groups = [{ name: 'default' }, { name: 'pro' }]
  expect(['pro', 'vip', ''].map((wanted) => groupInUse(groups, wanted))).toEqual(['pro', 'default', 'default'])
  expect(groupInUse(undefined, 'vip')).toBe('vip')
  expect(groupInUse([], 'vip')).toBe('vip')
})
