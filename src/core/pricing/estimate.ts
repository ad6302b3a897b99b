import { emptyUsage, type Usage } from '../usage.ts'
import { type ChargeLine, exactQuota, isOfAnswer, linesOf, toolLine } from './charge-lines.ts'
import { hasPrice } from './charge.ts'
import { add, ceil, type Decimal, decimalOf, multiply, toSafeInteger } from './decimal.ts'
import type { Price } from './price.ts'
import type { ToolUse, UsageFormula } from './receipt.ts'

/** What a call costs before and while it is answered: a prompt that is known, and an answer that grows. */
export type AnswerTerms = {
  /** By the cheap count. */
  promptTokens: number
  /** The part of the prompt marked for the upstream's cache, and of that the part for one hour. */
  cacheWriteMarked: number
  cacheWrite1hMarked?: number | undefined
  /** The part of the prompt that is audio, which has a price of its own. */
  audioTokens?: number | undefined
  /** The answer is audio. */
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

/** What tools come to that the vendor runs, rounded up. */
export const costOfTools = (
  tools: readonly ToolUse[],
  terms: Pick<AnswerTerms, 'groupRatio' | 'quotaPerUnit'>,
): number => toSafeInteger(ceil(exactQuota(tools.map((use) => toolLine(use, terms)))))

/**
 * The cost of an answer of n tokens is `fixed + n × each`, rounded up: every line of a charge is a quantity times a price, and
 * no price depends on the answer's length.
 */
type AnswerCost = { fixed: Decimal; each: Decimal; least: 0 | 1 }

/** Of the terms that were asked for last: planning a hold asks for many lengths of the same. */
let latest: { terms: AnswerTerms; costs: AnswerCost[] } | null = null

/**
 * The least hold that covers the prompt and an answer of so many tokens; at least 1 unless the model is free. Terms are
 * never changed, only replaced.
 */
export function costOfAnswer(terms: AnswerTerms, answerTokens: number): number {
  if (latest?.terms !== terms) latest = { terms, costs: costsOf(terms) }
  const count = decimalOf(tokens(answerTokens))
  let most = 0
  for (const { fixed, each, least } of latest.costs) {
    most = Math.max(most, least, toSafeInteger(ceil(add(fixed, multiply(count, each)))))
  }
  return most
}

function costsOf(terms: AnswerTerms): AnswerCost[] {
  const { formula, price, groupRatio, quotaPerUnit, tools } = terms
  const costOf = (kind: { audioOutputTokens?: 1; imageOutputTokens?: 1 } = {}): AnswerCost => {
    const usage = { ...usageOfPrompt(terms), completionTokens: 1, ...kind }
    const receipt = { formula, price, groupRatio, quotaPerUnit, tools, usage }
    const lines = linesOf(receipt)
    const ofAnswer = ({ label }: ChargeLine): boolean => isOfAnswer(label)
    return {
      fixed: exactQuota(lines.filter((line) => !ofAnswer(line))),
      each: exactQuota(lines.filter(ofAnswer)),
      least: hasPrice(receipt, lines) ? 1 : 0,
    }
  }
  const draws = price.kind === 'ratio' && price.imageOutputRatio !== undefined
  // Nobody knows how much of a spoken answer is its words, which are more expensive than its audio for some models, nor how much of
  // one with images.
  return [
    costOf(),
    ...(terms.spoken === true ? [costOf({ audioOutputTokens: 1 })] : []),
    ...(draws ? [costOf({ imageOutputTokens: 1 })] : []),
  ]
}

function usageOfPrompt(terms: AnswerTerms): Usage {
  const promptTokens = Math.max(tokens(terms.promptTokens), 1)
  const cacheWriteTokens = Math.min(tokens(terms.cacheWriteMarked), promptTokens)
  return {
    ...emptyUsage,
    promptTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: Math.min(tokens(terms.cacheWrite1hMarked ?? 0), cacheWriteTokens),
    audioInputTokens: Math.min(tokens(terms.audioTokens ?? 0), promptTokens),
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
