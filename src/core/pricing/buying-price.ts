import { z } from 'zod'
import { exactQuota, linesOf } from './charge-lines.ts'
import { toNumber } from './decimal.ts'
import type { BatchReceipt, Receipt, UsageReceipt } from './receipt.ts'

const dollars = z.number().min(0).max(1e6)

/** What an operator pays for a model: dollars per million tokens and per call, or a share of the list price. */
const buyingTerms = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('tokens'),
    input: dollars,
    output: dollars,
    /** Left out: as `input`. */
    cacheRead: dollars.optional(),
    cacheWrite: dollars.optional(),
    call: dollars.optional(),
  }),
  z.strictObject({
    kind: z.literal('share'),
    /** 0.3: thirty percent of what the price tables say, before any group ratio. */
    share: z.number().min(0).max(10),
  }),
])
export type BuyingTerms = z.infer<typeof buyingTerms>

const buyingPrice = z.strictObject({
  /** Empty: every model of the channel that has no price of its own. */
  model: z.string().trim().max(255),
  /** Milliseconds since 1970; it counts from this instant until the next one of the same model. */
  from: z.int().min(0),
  terms: buyingTerms,
})
export type BuyingPrice = z.infer<typeof buyingPrice>

const mostPrices = 2000
export const buyingPrices = z.array(buyingPrice).max(mostPrices)

/** By model, the latest first. */
export type BuyingPriceIndex = ReadonlyMap<string, readonly BuyingPrice[]>

export function indexBuyingPrices(prices: readonly BuyingPrice[]): BuyingPriceIndex {
  const index = new Map<string, BuyingPrice[]>()
  for (const price of prices.toSorted((left, right) => right.from - left.from)) {
    const known = index.get(price.model)
    if (known) known.push(price)
    else index.set(price.model, [price])
  }
  return index
}

/** The terms that count at an instant for a model under any of its names; undefined where nobody has said what it costs. */
export function buyingTermsAt(
  index: BuyingPriceIndex,
  { names, at }: { names: readonly string[]; at: number },
): BuyingTerms | undefined {
  if (index.size === 0) return undefined
  for (const name of [...names, '']) {
    const found = index.get(name)?.find(({ from }) => from <= at)
    if (found) return found.terms
  }
  return undefined
}

/** Costs are stored in billionths of a dollar, so that one token of the cheapest model is still a whole number. */
export const nanosPerDollar = 1e9

/** What an attempt cost the operator, in billionths of a dollar. */
export function costOf(terms: BuyingTerms, receipt: Receipt): number {
  if (receipt.formula === 'batch') return costOfBatch(terms, receipt)
  if (terms.kind === 'tokens') return 'usage' in receipt ? costOfTokens(terms, receipt) : costOfCalls(terms, receipt)
  return shareOfList(terms.share, receipt)
}

/** Vendors sell what runs in a batch at half their price, whatever it is sold on for. */
const vendorBatchRatio = 0.5

function costOfBatch(terms: BuyingTerms, receipt: BatchReceipt): number {
  if (terms.kind === 'share') return shareOfList(terms.share, { ...receipt, batchRatio: vendorBatchRatio })
  const { call = 0, ...byTokens } = terms
  const costs = receipt.parts.map(
    ({ usage, calls }) => costOfTokens(byTokens, { usage }) + calls * call * nanosPerDollar,
  )
  return Math.round(costs.reduce((total, cost) => total + cost, 0) * vendorBatchRatio)
}

function shareOfList(share: number, receipt: Receipt): number {
  const listed = toNumber(exactQuota(linesOf({ ...receipt, groupRatio: 1 }))) / receipt.quotaPerUnit
  return Math.round(listed * share * nanosPerDollar)
}

type TokenTerms = Extract<BuyingTerms, { kind: 'tokens' }>

type PricedUsage = Pick<
  UsageReceipt['usage'],
  'promptTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'completionTokens'
>

function costOfTokens(terms: TokenTerms, { usage }: { usage: PricedUsage }): number {
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens } = usage
  if (promptTokens + completionTokens === 0) return 0
  const cached = Math.min(cachedTokens, promptTokens)
  const written = Math.min(cacheWriteTokens, promptTokens - cached)
  const perMillion =
    (promptTokens - cached - written) * terms.input +
    cached * (terms.cacheRead ?? terms.input) +
    written * (terms.cacheWrite ?? terms.input) +
    completionTokens * terms.output
  return Math.round((perMillion / 1e6 + (terms.call ?? 0)) * nanosPerDollar)
}

/** Images and jobs are bought by the piece. */
const costOfCalls = (terms: TokenTerms, receipt: Exclude<Receipt, UsageReceipt | BatchReceipt>): number =>
  Math.round((terms.call ?? 0) * (receipt.formula === 'image' ? receipt.count : 1) * nanosPerDollar)
