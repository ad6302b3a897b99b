import { emptyUsage, type Usage } from '../usage.ts'
import { ceilingOf } from './charge.ts'
import type { Price } from './price.ts'
import type { ToolUse, UsageFormula } from './receipt.ts'

/** What a call costs before and while it is answered: a prompt that is known, and an answer that grows. */
export type AnswerTerms = {
  /** By the cheap count. */
  promptTokens: number
  /** The part of the prompt marked for the upstream's cache, and of that the part for one hour. */
  cacheWriteMarked: number
  cacheWrite1hMarked?: number | undefined
  /** The part of the prompt that is sound, which has a price of its own. */
  audioTokens?: number | undefined
  /** The answer is sound. */
  spoken?: boolean | undefined
  price: Price
  groupRatio: number
  quotaPerUnit: number
  formula: UsageFormula
  /** Tools that the vendor runs in every call of the model. */
  tools?: ToolUse[] | undefined
}

export type EstimateInput = AnswerTerms & {
  /** The caller's own output limit; absent or 0 is none. */
  maxTokens?: number | undefined
  /** Answers wanted. */
  choiceCount?: number | undefined
  preConsumedQuota: number
}

const largestCount = 1e9
const tokens = (count: number): number => Math.min(Math.max(Math.ceil(count) || 0, 0), largestCount)

/**
 * What to reserve for a call whose answer nobody can follow: its own formula rounded up, for the prompt and the whole output
 * it may ask for. Without a limit the prompt counts as at least `preConsumedQuota` tokens. At least 1 unless the model is free.
 */
export function estimateOf(input: EstimateInput): number {
  const limit = tokens(input.maxTokens ?? 0)
  const prompt = tokens(input.promptTokens)
  const promptTokens = limit > 0 ? prompt : Math.max(prompt, tokens(input.preConsumedQuota), 1)
  return costOfAnswer({ ...input, promptTokens }, limit * Math.max(1, input.choiceCount ?? 1))
}

/** What was worked out for terms already: planning and following one hold asks for the same few lengths again and again. */
const knownCosts = new WeakMap<AnswerTerms, Map<number, number>>()

/**
 * The least hold that covers the prompt and an answer of so many tokens; at least 1 unless the model is free. Terms are
 * never changed, only replaced.
 */
export function costOfAnswer(terms: AnswerTerms, answerTokens: number): number {
  let known = knownCosts.get(terms)
  if (!known) knownCosts.set(terms, (known = new Map()))
  let cost = known.get(answerTokens)
  if (cost === undefined) known.set(answerTokens, (cost = computeCost(terms, answerTokens)))
  return cost
}

function computeCost(terms: AnswerTerms, answerTokens: number): number {
  const { formula, price, groupRatio, quotaPerUnit, tools } = terms
  const costOf = (usage: Usage): number => ceilingOf({ formula, price, groupRatio, quotaPerUnit, tools, usage })
  const usage = usageOfAnswer(terms, answerTokens)
  if (terms.spoken !== true) return costOf(usage)
  // Nobody knows how much of the answer is its words, which are dearer than its sound for some models.
  return Math.max(costOf({ ...usage, audioOutputTokens: usage.completionTokens }), costOf(usage))
}

function usageOfAnswer(terms: AnswerTerms, answerTokens: number): Usage {
  const promptTokens = Math.max(tokens(terms.promptTokens), 1)
  const cacheWriteTokens = Math.min(tokens(terms.cacheWriteMarked), promptTokens)
  const completionTokens = tokens(answerTokens)
  return {
    ...emptyUsage,
    promptTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: Math.min(tokens(terms.cacheWrite1hMarked ?? 0), cacheWriteTokens),
    audioInputTokens: Math.min(tokens(terms.audioTokens ?? 0), promptTokens),
    completionTokens,
  }
}

/** How long an answer may be that an amount still pays for: -1 where it does not even pay for the prompt. */
export function answerTokensFor(terms: AnswerTerms, amount: number): number {
  const fixed = costOfAnswer(terms, 0)
  if (amount < fixed) return -1
  const many = costOfAnswer(terms, 1e6) - fixed >= 1e6 ? 1e6 : largestCount
  const price = costOfAnswer(terms, many) - fixed
  if (price <= 0) return Number.POSITIVE_INFINITY
  // What was rounded up stays on the safe side.
  return Math.min(Math.floor(((amount - fixed) * many) / (price + 1)), largestCount)
}
