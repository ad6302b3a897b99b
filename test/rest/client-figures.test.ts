import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exactQuota, linesOf } from '#core/pricing/charge-lines.ts'
import { toText } from '#core/pricing/decimal.ts'
import type { RatioPrice } from '#core/pricing/price.ts'
import type { UsageFormula, UsageReceipt } from '#core/pricing/receipt.ts'
import { emptyUsage, normaliseUsage, type ReportedUsage, type Usage } from '#core/usage.ts'
import { clientFigures } from '#features/logs/client-figures.ts'
import type { LogView } from '#features/logs/view.ts'
import { chargeRowOf, createTally } from '#features/message-batches/charge.ts'
import type { BatchShare } from '#features/message-batches/facts.ts'
import type { StoredBatch } from '#features/message-batches/store.ts'
import { receiptKeys, usageKeys } from '#relay/billing/log-row.ts'
import { ratioPrice } from '#test/support/any-price.ts'
import { costByClient } from '#test/support/cost-by-client.ts'

const price: RatioPrice = {
  kind: 'ratio',
  modelRatio: 1.5,
  completionRatio: 5,
  cacheRatio: 0.1,
  cacheWriteRatio: 1.25,
  cacheWrite1hRatio: 2,
  imageRatio: 1,
  audioRatio: 8,
  audioCompletionRatio: 2,
  source: 'table',
}
const terms = { price, groupRatio: 0.5, quotaPerUnit: 500_000 }

type Row = Pick<LogView, 'promptTokens' | 'completionTokens' | 'quota' | 'other'>

function shownCost(row: Row): number {
  const { promptTokens, completionTokens, other } = clientFigures(row as LogView)
  return costByClient({ promptTokens, completionTokens, other: other ?? {} })
}

const rowOf = (receipt: UsageReceipt): Row => ({
  promptTokens: receipt.usage.promptTokens,
  completionTokens: receipt.usage.completionTokens,
  quota: 1,
  other: { ...usageKeys(receipt, receipt.usage, null), ...receiptKeys(receipt), receipt },
})

const costOf = (formula: UsageFormula, usage: Partial<Usage>, own: Partial<RatioPrice> = {}): number =>
  shownCost(rowOf({ formula, usage: { ...emptyUsage, ...usage }, ...terms, price: { ...price, ...own } }))

test('writes that are kept for an hour cost what they were charged', () => {
  const usage = { promptTokens: 1100, cacheWriteTokens: 1000, cacheWrite1hTokens: 1000, completionTokens: 50 }
  expect(costOf('claude', usage)).toBeCloseTo((100 + 2000 + 250) * 1.5 * 0.5, 6)
})

test('so do writes to the cache of other vendors', () => {
  const usage = { promptTokens: 1400, cachedTokens: 100, cacheWriteTokens: 200, completionTokens: 50 }
  expect(costOf('text', usage)).toBeCloseTo((1100 + 10 + 250 + 250) * 1.5 * 0.5, 6)
})

test('a long prompt costs what it was charged, and its answer', () => {
  const usage = { promptTokens: 300_000, cachedTokens: 100_000, completionTokens: 100 }
  const longContext = [{ above: 200_000, input: 2, output: 1.5 }]
  expect(costOf('text', usage, { longContext })).toBeCloseTo((210_000 * 2 + 500 * 1.5) * 1.5 * 0.5, 6)
})

test('text that a call with sound reads from the cache is no cheaper', () => {
  const usage = { promptTokens: 1100, cachedTokens: 800, audioInputTokens: 100, completionTokens: 10 }
  expect(costOf('audio', usage, { cacheRatio: 0.5 })).toBeCloseTo((1000 + 800 + 50) * 1.5 * 0.5, 6)
})

function batchRow(share: Partial<BatchShare>, answers: ReportedUsage[]): Row {
  const complete: BatchShare = {
    holdId: 'hold',
    model: 'claude',
    upstreamModel: 'claude',
    terms,
    batchRatio: 0.5,
    requests: answers.length,
    content: '',
    other: usageKeys({ ...terms, ...share.terms }, emptyUsage, null),
    ...share,
  }
  const tally = createTally(complete)
  for (const reported of answers) tally.add({ usage: normaliseUsage(reported).usage, isEstimated: false })
  const facts = { username: '', tokenName: '', group: '', clientIp: '', shares: [complete] }
  const batch: StoredBatch = {
    id: 'batch',
    userId: 1,
    tokenId: 1,
    channelId: 1,
    keyHmac: '',
    facts,
    answer: {},
    createdAt: new Date(),
    settledAt: null,
  }
  const { quota, ...row } = chargeRowOf(batch, complete, { tally, log: true })
  expect(shownCost({ quota, ...row })).toBeGreaterThanOrEqual(quota)
  return { quota, ...row }
}

test('a batch costs its share of the price, with what it read from the cache and wrote to it', () => {
  const row = batchRow({}, [
    { promptTokens: 1000, completionTokens: 100 },
    { promptTokens: 1000, cachedTokens: 500, cacheWriteTokens: 300, cacheWrite1hTokens: 100, completionTokens: 0 },
  ])
  expect(row.quota).toBe(Math.floor((1000 + 500 + 200 + 50 + 250 + 200) * 1.5 * 0.5 * 0.5))
  expect(shownCost(row)).toBeCloseTo((1000 + 500 + 200 + 50 + 250 + 200) * 1.5 * 0.5 * 0.5, 6)
})

test('a batch of short and long prompts costs both', () => {
  const longContext = [{ above: 1000, input: 2, output: 1.5 }]
  const row = batchRow({ terms: { ...terms, price: { ...price, longContext } } }, [
    { promptTokens: 1000, completionTokens: 100 },
    { promptTokens: 2000, completionTokens: 100 },
  ])
  expect(shownCost(row)).toBeCloseTo((1000 + 500 + 4000 + 750) * 1.5 * 0.5 * 0.5, 6)
})

test('a batch by a price per call costs it for each that was answered', () => {
  const answers = [1, 2, 3].map((promptTokens) => ({ promptTokens, completionTokens: 1 }))
  const row = batchRow({ terms: { ...terms, price: { kind: 'call', modelPrice: 0.02, source: 'table' } } }, answers)
  expect(shownCost(row)).toBeCloseTo(0.02 * 500_000 * 3 * 0.5 * 0.5, 6)
})

const ratio = fc.constantFrom(0.1, 0.5, 1, 1.25, 1.3333, 37.5)
const tokens = fc.integer({ min: 0, max: 100_000 })
const receipts: fc.Arbitrary<UsageReceipt> = fc.record({
  formula: fc.constantFrom<UsageFormula>('text', 'claude', 'audio'),
  usage: fc
    .record({
      promptTokens: tokens,
      cachedTokens: tokens,
      cacheWriteTokens: tokens,
      cacheWrite1hTokens: tokens,
      audioInputTokens: tokens,
      completionTokens: tokens,
      audioOutputTokens: tokens,
      imageOutputTokens: tokens,
    })
    .map((reported) => normaliseUsage(reported).usage),
  price: ratioPrice(ratio),
  groupRatio: ratio,
  quotaPerUnit: fc.constant(500_000),
})

test('whatever a call used, its row gives its charge', () => {
  fc.assert(
    fc.property(receipts, (receipt) => {
      const charge = Number(toText(exactQuota(linesOf(receipt))))
      expect(Math.abs(shownCost(rowOf(receipt)) - charge)).toBeLessThanOrEqual(1e-6 * Math.max(charge, 1))
    }),
  )
})
