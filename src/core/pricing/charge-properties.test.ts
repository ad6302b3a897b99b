import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ratioPrice } from '#test/support/any-price.ts'
import { emptyUsage, normaliseUsage } from '../usage.ts'
import type { Usage } from '../usage.ts'
import { ceilingOf, chargeReceipt } from './charge.ts'
import { add, decimalOf } from './decimal.ts'
import { type AnswerTerms, costOfAnswer, estimateOf } from './estimate.ts'
import type { Price } from './price.ts'
import { receipt as receiptSchema } from './receipt.ts'
import type { Receipt, UsageFormula, UsageReceipt } from './receipt.ts'

const usageOf = (parts: Partial<Usage>): Usage => ({ ...emptyUsage, ...parts })
const quotaOf = (receipt: Receipt): number => chargeReceipt(receipt).quota

const ratio = fc.oneof(
  fc.constantFrom(0, 1, 0.5, 1.25, 1.3333, 37.5, 66.67, 0.0214),
  fc.integer({ min: 0, max: 10_000_000 }).map((units) => units / 10_000),
)
const anyPrice: fc.Arbitrary<Price> = fc.oneof(
  ratioPrice(ratio),
  fc.record({ kind: fc.constant('call' as const), modelPrice: ratio, source: fc.constant('table' as const) }),
)
const hostileCount = fc.oneof(
  fc.integer({ min: 0, max: 1_000_000 }),
  fc.constantFrom(-1e6, 1e308, Number.NaN, 0.5, 1e9, 1e9 + 1, null, undefined, '12' as unknown as number),
)
const anyUsage = fc
  .record({
    promptTokens: hostileCount,
    cachedTokens: hostileCount,
    cacheWriteTokens: hostileCount,
    cacheWrite1hTokens: hostileCount,
    audioInputTokens: hostileCount,
    imageInputTokens: hostileCount,
    completionTokens: hostileCount,
    audioOutputTokens: hostileCount,
    imageOutputTokens: hostileCount,
    reasoningTokens: hostileCount,
    webSearchCalls: fc.integer({ min: 0, max: 20 }),
  })
  .map((reported) => normaliseUsage(reported).usage)
const anyReceipt: fc.Arbitrary<UsageReceipt> = fc.record({
  formula: fc.constantFrom<UsageFormula>('text', 'claude', 'audio'),
  usage: anyUsage,
  price: anyPrice,
  groupRatio: ratio,
  quotaPerUnit: fc.constantFrom(500_000, 1, 1000, 123_457),
})

describe('whatever an upstream reports', () => {
  test('a charge is a whole number from 0, and its steps add up to it', () => {
    fc.assert(
      fc.property(anyReceipt, (receipt) => {
        const charge = chargeReceipt(receipt)
        expect(Number.isSafeInteger(charge.quota) && charge.quota >= 0).toBe(true)
        if (charge.quota < Number.MAX_SAFE_INTEGER) {
          const total = charge.steps.map((step) => decimalOf(step.quota)).reduce(add, decimalOf(0))
          expect(total.units).toBe(decimalOf(charge.quota).units * 10n ** BigInt(total.scale))
        }
      }),
    )
  })

  test('the stored receipt gives the same charge after a trip through JSON', () => {
    fc.assert(
      fc.property(anyReceipt, (receipt) => {
        const stored = receiptSchema.parse(JSON.parse(JSON.stringify(receipt)))
        expect(chargeReceipt(stored)).toEqual(chargeReceipt(receipt))
      }),
    )
  })

  test('one token more never costs less', () => {
    const field = fc.constantFrom<'promptTokens' | 'completionTokens'>('promptTokens', 'completionTokens')
    fc.assert(
      fc.property(anyReceipt, field, fc.integer({ min: 1, max: 1000 }), (receipt, name, more) => {
        const larger = { ...receipt, usage: { ...receipt.usage, [name]: receipt.usage[name] + more } }
        expect(quotaOf(larger)).toBeGreaterThanOrEqual(quotaOf(receipt))
      }),
    )
  })

  test('what is used and has a price costs at least one unit, and never more than its ceiling', () => {
    fc.assert(
      fc.property(anyReceipt, (receipt) => {
        const { price, usage } = receipt
        const costs = (price.kind === 'call' ? price.modelPrice : price.modelRatio) * receipt.groupRatio > 0
        const used = usage.promptTokens + usage.completionTokens > 0
        expect(quotaOf(receipt) > 0).toBe(costs && used)
        expect(ceilingOf(receipt)).toBeGreaterThanOrEqual(quotaOf(receipt))
      }),
    )
  })

  test('the reserve is a whole number that covers a call within its limit', () => {
    const counts = fc.record({
      prompt: fc.integer({ min: 0, max: 100_000 }),
      limit: fc.integer({ min: 1, max: 100_000 }),
      used: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    fc.assert(
      fc.property(anyReceipt, counts, (receipt, { prompt, limit, used }) => {
        if (receipt.formula === 'audio') return
        const reserve = estimateOf({
          ...receipt,
          promptTokens: prompt,
          cacheWriteMarked: 0,
          maxTokens: limit,
          preConsumedQuota: 500,
        })
        const usage = usageOf({ promptTokens: prompt, completionTokens: Math.floor(limit * used) })
        expect(Number.isSafeInteger(reserve)).toBe(true)
        expect(reserve).toBeGreaterThanOrEqual(quotaOf({ ...receipt, usage }))
      }),
    )
  })
})

describe('the cost of an answer that grows', () => {
  const anyTerms = fc.record({
    formula: fc.constantFrom<UsageFormula>('text', 'claude', 'audio'),
    price: anyPrice,
    groupRatio: ratio,
    quotaPerUnit: fc.constantFrom(500_000, 1, 123_457),
    promptTokens: fc.integer({ min: 0, max: 200_000 }),
    cacheWriteMarked: fc.integer({ min: 0, max: 200_000 }),
    cacheWrite1hMarked: fc.integer({ min: 0, max: 1000 }),
    audioTokens: fc.integer({ min: 0, max: 1000 }),
    spoken: fc.boolean(),
  })

  /** By the formula of the bill, for the whole call. */
  function ceilingOfAnswer(terms: AnswerTerms, completionTokens: number, kind: Partial<Usage> = {}): number {
    const promptTokens = Math.max(terms.promptTokens, 1)
    const cacheWriteTokens = Math.min(terms.cacheWriteMarked, promptTokens)
    const usage = usageOf({
      promptTokens,
      cacheWriteTokens,
      cacheWrite1hTokens: Math.min(terms.cacheWrite1hMarked ?? 0, cacheWriteTokens),
      audioInputTokens: Math.min(terms.audioTokens ?? 0, promptTokens),
      completionTokens,
      ...kind,
    })
    return ceilingOf({ ...terms, usage })
  }

  test('is what the bill of the same usage comes to, rounded up', () => {
    fc.assert(
      fc.property(anyTerms, fc.integer({ min: 0, max: 1_000_000 }), (terms, count) => {
        const kinds = [
          {},
          ...(terms.spoken ? [{ audioOutputTokens: count }] : []),
          ...(terms.price.kind === 'ratio' && terms.price.imageOutputRatio !== undefined
            ? [{ imageOutputTokens: count }]
            : []),
        ]
        const expected = Math.max(...kinds.map((kind) => ceilingOfAnswer(terms, count, kind)))
        expect(costOfAnswer(terms, count)).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })
})

/** The formulas once more, in fractions, to be compared with the decimals. */
type Fraction = [numerator: bigint, denominator: bigint]
const fractionOf = (value: number): Fraction => {
  const [integer = '', part = ''] = value.toFixed(10).split('.')
  return [BigInt(integer + part), 10n ** 10n]
}
const times = (...factors: Fraction[]): Fraction => factors.reduce((a, b) => [a[0] * b[0], a[1] * b[1]], [1n, 1n])
const plus = (...terms: Fraction[]): Fraction =>
  terms.reduce((a, b) => [a[0] * b[1] + b[0] * a[1], a[1] * b[1]], [0n, 1n])

function rederived({ formula, usage, price, groupRatio, quotaPerUnit }: UsageReceipt): number {
  const total = usage.promptTokens + usage.completionTokens
  if (total === 0) return 0
  const n = (count: number): Fraction => [BigInt(count), 1n]
  const r = fractionOf
  let exact: Fraction
  let ratioIsZero = groupRatio === 0
  if (price.kind === 'call') {
    exact = times(r(price.modelPrice), r(quotaPerUnit), r(groupRatio))
    ratioIsZero ||= price.modelPrice === 0
  } else {
    ratioIsZero ||= price.modelRatio === 0
    const plainInput = Math.max(0, usage.promptTokens - usage.cachedTokens - usage.cacheWriteTokens)
    const image = formula === 'text' ? Math.min(usage.imageInputTokens, plainInput) : 0
    const isLong = (price.longContext?.length ?? 0) > 0 && usage.promptTokens > 1000
    const audioOut = formula === 'audio' ? usage.audioOutputTokens : 0
    const imageOut = Math.min(usage.imageOutputTokens, usage.completionTokens - audioOut)
    const written = plus(
      times(n(usage.completionTokens - audioOut - imageOut), r(price.completionRatio)),
      times(n(imageOut), r(price.imageOutputRatio ?? price.completionRatio)),
      times(n(audioOut), r(price.audioRatio), r(price.audioCompletionRatio)),
    )
    const read =
      formula === 'audio'
        ? plus(n(usage.promptTokens - usage.audioInputTokens), times(n(usage.audioInputTokens), r(price.audioRatio)))
        : plus(
            n(plainInput - image),
            times(n(image), r(price.imageRatio)),
            times(n(usage.cachedTokens), r(price.cacheRatio)),
            times(n(usage.cacheWriteTokens - usage.cacheWrite1hTokens), r(price.cacheWriteRatio)),
            times(n(usage.cacheWrite1hTokens), r(price.cacheWrite1hRatio)),
          )
    const weighted = isLong ? plus(times(read, n(2)), times(written, r(1.5))) : plus(read, written)
    exact = times(weighted, r(price.modelRatio), r(groupRatio))
  }
  const [numerator, denominator] = exact
  const down = formula === 'claude' && price.kind === 'ratio'
  const integer = down ? numerator / denominator : (2n * numerator + denominator) / (2n * denominator)
  const quota = integer === 0n && !ratioIsZero ? 1n : integer
  return quota > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(quota)
}

test('the formulas computed again in fractions agree for any usage and price', () => {
  fc.assert(
    fc.property(anyReceipt, (receipt) => {
      expect(quotaOf(receipt)).toBe(rederived(receipt))
    }),
    { numRuns: 300 },
  )
})
