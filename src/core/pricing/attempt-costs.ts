import { normaliseUsage, type ReportedUsage } from '../usage.ts'
import { type BuyingPriceIndex, type BuyingTerms, buyingTermsAt, costOf } from './buying-price.ts'
import { formulaFor } from './charge.ts'
import type { Receipt, UsageReceipt } from './receipt.ts'

/** What a failed attempt cost on its channel, in billionths of a dollar. */
export type AttemptCost = { channelId: number; cost: number }

/** What was bought: from a channel, a model under all its names, at an instant. */
export type Bought = {
  attempt: { channel: { buyingPrices: BuyingPriceIndex }; model: string; upstreamModel: string }
  at: Date
}

const termsOf = ({ attempt: { channel, model, upstreamModel }, at }: Bought): BuyingTerms | undefined =>
  buyingTermsAt(channel.buyingPrices, { names: [upstreamModel, model], at: at.getTime() })

/** An attempt that failed after its upstream had reported usage is paid for all the same. */
export function costOfFailure(
  bought: Bought,
  reported: ReportedUsage | undefined,
  terms: Pick<UsageReceipt, 'price' | 'groupRatio' | 'quotaPerUnit'>,
): number | undefined {
  if (reported === undefined) return undefined
  const buying = termsOf(bought)
  const { usage, reported: isReported } = normaliseUsage(reported)
  if (!buying || !isReported) return undefined
  return costOf(buying, { formula: formulaFor({ claude: false, realtime: false, usage }), usage, ...terms })
}

type Tried = { channel_id: number; cost?: number }

/** What failed attempts cost, by channel; null where none cost anything. */
export function failedCosts(attempts: readonly Tried[]): AttemptCost[] | null {
  const costs = attempts.flatMap(({ channel_id: channelId, cost }) => (cost === undefined ? [] : [{ channelId, cost }]))
  return costs.length === 0 ? null : costs
}

/** Keys of `other.admin_info`, which ordinary users never see. */
export type CostInfo = { cost?: number; cost_share?: number }

type CostOfCall = {
  columns: { cost: number | null; costs: AttemptCost[] | null }
  info: CostInfo
}

/** What a call cost with the try that is charged and those that failed before it. */
export function costOfCall(bought: Bought, attempts: readonly Tried[], receipt: Receipt | null): CostOfCall {
  const costs = failedCosts(attempts)
  const terms = termsOf(bought)
  if (!terms) return { columns: { cost: null, costs }, info: {} }
  // What was not used is not paid for.
  const cost = receipt === null ? 0 : costOf(terms, receipt)
  return {
    columns: { cost, costs },
    info: { cost, ...(terms.kind === 'share' ? { cost_share: terms.share } : {}) },
  }
}
