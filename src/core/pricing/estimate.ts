import { emptyUsage } from '../usage.ts'
import { ceilingOf } from './charge.ts'
import type { Price } from './price.ts'
import type { ToolUse, UsageFormula } from './receipt.ts'

export type EstimateWish = {
  /** By the cheap count. */
  promptTokens: number
  /** The part of the prompt marked for the upstream's cache, and of that the part for one hour. */
  cacheWriteMarked: number
  cacheWrite1hMarked?: number | undefined
  /** The caller's own output limit; absent or 0 is none. */
  maxTokens?: number | undefined
  /** Answers wanted. */
  choiceCount?: number | undefined
  preConsumedQuota: number
  price: Price
  groupRatio: number
  quotaPerUnit: number
  formula: UsageFormula
  /** Tools that the vendor runs in every call of the model. */
  tools?: ToolUse[] | undefined
}

const largestCount = 1e9
const tokens = (count: number): number => Math.min(Math.max(Math.ceil(count) || 0, 0), largestCount)

/**
 * What to reserve before a call: its own formula rounded up, for the prompt and the whole output it may ask for. Without a
 * limit the prompt counts as at least `preConsumedQuota` tokens. At least 1 unless the model is free.
 */
export function estimateOf(wish: EstimateWish): number {
  const limit = tokens(wish.maxTokens ?? 0)
  const prompt = tokens(wish.promptTokens)
  const promptTokens = limit > 0 ? prompt : Math.max(prompt, tokens(wish.preConsumedQuota), 1)
  const cacheWriteTokens = Math.min(tokens(wish.cacheWriteMarked), prompt)
  return ceilingOf({
    formula: wish.formula,
    price: wish.price,
    groupRatio: wish.groupRatio,
    quotaPerUnit: wish.quotaPerUnit,
    tools: wish.tools,
    usage: {
      ...emptyUsage,
      promptTokens,
      cacheWriteTokens,
      cacheWrite1hTokens: Math.min(tokens(wish.cacheWrite1hMarked ?? 0), cacheWriteTokens),
      completionTokens: tokens(limit * Math.max(1, wish.choiceCount ?? 1)),
    },
  })
}
