import { costOf } from '#core/pricing/buying-price.ts'
import { quotaOfReceipt } from '#core/pricing/charge.ts'
import { stepFor } from '#core/pricing/long-context.ts'
import type { BatchPart, BatchReceipt } from '#core/pricing/receipt.ts'
import { nameOfPrice } from '#core/pricing/price-of.ts'
import { toolUses } from '#core/pricing/tools.ts'
import { emptyUsage, type Usage } from '#core/usage.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import type { BatchShare } from './facts.ts'
import type { StoredBatch } from './store.ts'

type Sums = { calls: number; usage: BatchPart['usage']; step?: BatchPart['step']; searches: number }

const noUsage: BatchPart['usage'] = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  completionTokens: 0,
}

/** Sums up the answered requests of one share, those of each step of long prompts by themselves. */
export type Tally = {
  add: (answer: { usage: Usage; isEstimated: boolean }) => void
  receipt: () => BatchReceipt | null
  answered: () => number
  /** Some of it was counted here. */
  isEstimated: () => boolean
}

export function createTally({ terms, batchRatio, upstreamModel }: BatchShare): Tally {
  const steps = terms.price.kind === 'ratio' ? terms.price.longContext : undefined
  const model = nameOfPrice(terms, upstreamModel)
  const sums = new Map<number, Sums>()
  let answered = 0
  let someEstimated = false
  return {
    add: ({ usage, isEstimated }) => {
      answered += 1
      someEstimated ||= isEstimated
      if (usage.promptTokens + usage.completionTokens === 0) return
      const step = stepFor(steps, usage.promptTokens)
      const sum = sums.get(step?.above ?? 0) ?? { calls: 0, usage: { ...noUsage }, step, searches: 0 }
      sums.set(step?.above ?? 0, sum)
      sum.calls += 1
      sum.searches += usage.webSearchCalls
      for (const name of Object.keys(noUsage) as (keyof typeof noUsage)[]) sum.usage[name] += usage[name]
    },
    answered: () => answered,
    isEstimated: () => someEstimated,
    receipt: () => {
      if (sums.size === 0) return null
      const parts = [...sums.values()].map(({ calls, usage, step, searches }): BatchPart => {
        const tools = toolUses({ model, usage: { ...emptyUsage, webSearchCalls: searches } })
        return { calls, usage, ...(step ? { step } : {}), ...(tools.length > 0 ? { tools } : {}) }
      })
      return { formula: 'batch', batchRatio, parts, ...terms }
    },
  }
}

const total = (receipt: BatchReceipt | null, name: keyof BatchPart['usage']): number =>
  Math.min(2_147_483_647, receipt?.parts.reduce((sum, { usage }) => sum + usage[name], 0) ?? 0)

/** The charge of one share of a batch that has ended, with its log row. */
export function chargeRowOf(
  batch: StoredBatch,
  share: BatchShare,
  { tally, log }: { tally: Tally; log: boolean },
): ChargeRow {
  const { username, tokenName, group, clientIp } = batch.facts
  const receipt = tally.receipt()
  const cost = share.buying ? (receipt ? costOf(share.buying, receipt) : 0) : null
  const { admin_info: admin, ...other } = share.other
  return {
    id: share.holdId,
    userId: batch.userId,
    tokenId: batch.tokenId,
    channelId: batch.channelId,
    username,
    tokenName,
    modelName: share.model,
    group,
    clientIp,
    quota: receipt ? quotaOfReceipt(receipt) : 0,
    counted: receipt !== null,
    log,
    content: `${share.content}，批量倍率 ${share.batchRatio}，完成 ${tally.answered()}/${share.requests} 个请求`,
    promptTokens: total(receipt, 'promptTokens'),
    completionTokens: total(receipt, 'completionTokens'),
    cachedTokens: total(receipt, 'cachedTokens'),
    useTimeMs: 0,
    firstTokenMs: null,
    isStream: false,
    other: {
      ...other,
      cache_tokens: total(receipt, 'cachedTokens'),
      ...(tally.isEstimated() ? { usage_source: 'estimated' } : {}),
      admin_info: { ...Object(admin), ...(cost === null ? {} : { cost }) },
      batch: { id: batch.id, requests: share.requests, answered: tally.answered(), ratio: share.batchRatio },
      ...(receipt ? { receipt } : {}),
    },
    cost,
    costs: null,
  }
}
