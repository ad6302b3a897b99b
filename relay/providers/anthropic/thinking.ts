import type { Effort } from '#core/models/parameters.ts'
import type { ReasoningInput } from '#relay/chat/request.ts'
import type { ProviderCall } from '../types.ts'
import { type Json, withoutAbsent } from '../shared/json.ts'
import type { ClaudeTraits, NameSuffix } from './models.ts'

/** `on` means that the model will certainly think, which forbids sampling fields, forced tools and a begun answer. */
export type Thinking = {
  thinking?: Json | undefined
  effort?: string | undefined
  maxTokens: number
  on: boolean
}

const smallestBudget = 1024
/** The least room that leaves a budget and an answer. */
const smallestRoom = 1280
const defaultMaxTokens = 8192

const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1280,
  low: 1280,
  medium: 2048,
  high: 4096,
  xhigh: 8192,
  max: 16_384,
}

/**
 * The answer's limit: the caller's, else the one configured for the model, else all that the model can write; within that in
 * any case, and within what is held where the limit is not the caller's. What the option holds out of the box for models it does not list is for those whose own maximum is not known.
 */
export function answerLimit(wanted: number | undefined, call: ProviderCall, most: number | undefined): number {
  const configured = call.options['claude.default_max_tokens']
  const own = (name: string): number | undefined => (Object.hasOwn(configured, name) ? configured[name] : undefined)
  const general = own('default') === defaultMaxTokens ? undefined : own('default')
  const limit =
    wanted || own(call.originalModel) || own(call.model) || general || most || own('default') || defaultMaxTokens
  const held = wanted ? undefined : call.largestOwnLimit
  return Math.min(limit, most ?? limit, held ?? limit)
}

/** What a share for thinking is taken of: a limit that nobody set is no request for so much reasoning. */
export const thinkingBase = (wanted: number | undefined, maxTokens: number): number =>
  wanted ? maxTokens : Math.min(maxTokens, defaultMaxTokens)

function withBudget(wanted: number, maxTokens: number): Thinking {
  const room = Math.max(maxTokens, smallestRoom)
  const fitting = wanted < room ? wanted : Math.floor(room * 0.8)
  return {
    thinking: { type: 'enabled', budget_tokens: Math.max(fitting, smallestBudget) },
    maxTokens: room,
    on: true,
  }
}

const effortWord = (effort: string | undefined): string | undefined => (effort === 'minimal' ? 'low' : effort)

const effortOfBudget = (budget: number): string => {
  if (budget < 0) return 'high'
  if (budget <= 2048) return 'low'
  return budget <= 8192 ? 'medium' : 'high'
}

function adaptive(effort: string | undefined, display: string | undefined, maxTokens: number): Thinking {
  return { thinking: withoutAbsent({ type: 'adaptive', display }), effort: effortWord(effort), maxTokens, on: true }
}

/** What the suffix of the name asks for, with the share of the answer's limit that is set for it. */
export function suffixThinking(
  suffix: NameSuffix,
  maxTokens: number,
  how: { traits: ClaudeTraits; share: number; base: number },
): Thinking {
  if (how.traits.thinking === 'none') return { maxTokens, on: false }
  if (how.traits.thinking === 'adaptive') {
    return adaptive(suffix.effort, how.traits.summarises ? 'summarized' : undefined, maxTokens)
  }
  return withBudget(Math.floor(Math.max(how.base, smallestRoom) * how.share), maxTokens)
}

const isOff = (input: ReasoningInput): boolean =>
  input.mode === 'disabled' || input.effort === 'none' || input.budgetTokens === 0

function off(input: ReasoningInput, maxTokens: number, traits: ClaudeTraits): Thinking {
  if (traits.thinking === 'none') return { maxTokens, on: false }
  if (traits.thinking === 'budget') return { thinking: { type: 'disabled' }, maxTokens, on: false }
  if (traits.off === 'low_effort') return { effort: 'low', maxTokens, on: true }
  const wanted = input.effort === 'none' ? undefined : effortWord(input.effort)
  const tooHigh = wanted === 'xhigh' || wanted === 'max'
  const effort = tooHigh && (traits.offUpToHigh || traits.off === 'between_tools') ? 'high' : wanted
  return { thinking: { type: traits.off }, effort, maxTokens, on: traits.off === 'between_tools' }
}

type ThinkingRules = { traits: ClaudeTraits; fromClaude: boolean; share: number; base: number }

function displayOf(input: ReasoningInput, { traits, fromClaude }: ThinkingRules): string | undefined {
  if (!traits.summarises) return undefined
  if (input.includeThoughts === undefined) return fromClaude ? undefined : 'summarized'
  return input.includeThoughts ? 'summarized' : 'omitted'
}

/** The caller's setting in the form the model's family knows. A caller of this dialect may set the effort alone. */
export function requestedThinking(input: ReasoningInput, maxTokens: number, how: ThinkingRules): Thinking {
  const { traits } = how
  if (isOff(input)) return off(input, maxTokens, traits)
  const asksToThink = input.mode !== undefined || input.budgetTokens !== undefined
  if (!asksToThink && (how.fromClaude || input.effort === undefined)) {
    return { effort: traits.effort ? effortWord(input.effort) : undefined, maxTokens, on: false }
  }
  if (traits.thinking === 'none') return { maxTokens, on: false }
  const budget = input.budgetTokens !== undefined && input.budgetTokens > 0 ? input.budgetTokens : undefined
  if (traits.thinking === 'adaptive') {
    if (budget !== undefined && traits.budgetAllowed)
      return { ...withBudget(budget, maxTokens), effort: effortWord(input.effort) }
    const effort = input.effort ?? (input.budgetTokens === undefined ? undefined : effortOfBudget(input.budgetTokens))
    return adaptive(effort, displayOf(input, how), maxTokens)
  }
  const byEffort = input.effort === undefined ? Math.floor(how.base * how.share) : budgets[input.effort]
  return {
    ...withBudget(budget ?? byEffort, maxTokens),
    effort: traits.effort && how.fromClaude ? effortWord(input.effort) : undefined,
  }
}
