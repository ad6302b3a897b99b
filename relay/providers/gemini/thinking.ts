import type { Effort } from '#core/models/parameters.ts'
import type { DialectId, ReasoningInput } from '#relay/chat/request.ts'
import type { ProviderCall } from '../types.ts'
import { type Json, withoutAbsent } from '../shared/json.ts'
import { type GeminiThinking, type NameSuffix, splitSuffix, thinkingOf } from './models.ts'

/** What the share of an answer's limit becomes when there is no limit, and the most it may become. */
const fullBudget = 24_576

const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: fullBudget,
  xhigh: fullBudget,
  max: 32_768,
}

const levelOf: Readonly<Record<Effort, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

const order = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']

/** The level itself, else the next higher one the model knows. */
function nearestLevel(level: string, levels: readonly string[]): string | undefined {
  const rank = order.indexOf(level)
  return levels.find((known) => order.indexOf(known) >= rank) ?? levels.at(-1)
}

type Budgeted = Extract<GeminiThinking, { kind: 'budget' }>

function clampBudget(budget: number, model: Budgeted): number {
  if (budget < 0) return -1
  if (budget === 0) return model.canBeOff ? 0 : model.least
  return Math.min(Math.max(budget, model.least), model.most)
}

const levelOfBudget = (budget: number): string | undefined => {
  if (budget < 0) return undefined
  if (budget === 0) return 'MINIMAL'
  if (budget <= 2048) return 'LOW'
  return budget <= 8192 ? 'MEDIUM' : 'HIGH'
}

const isOff = (input: ReasoningInput): boolean =>
  input.mode === 'disabled' || input.effort === 'none' || input.budgetTokens === 0

/** Who asks for thinking in another dialect wants to see it; this vendor's own callers say so themselves. */
const includesReasoning = (input: ReasoningInput, dialect: DialectId): boolean | undefined =>
  input.includeThoughts ?? (dialect === 'gemini' || isOff(input) ? undefined : true)

function requestedBudget(input: ReasoningInput, model: Budgeted): number | undefined {
  if (isOff(input)) return clampBudget(0, model)
  if (input.budgetTokens !== undefined) return clampBudget(input.budgetTokens, model)
  if (input.effort !== undefined) return clampBudget(budgets[input.effort], model)
  return input.mode === undefined ? undefined : -1
}

function requestedLevel(input: ReasoningInput, levels: readonly string[]): string | undefined {
  const wanted = isOff(input)
    ? 'MINIMAL'
    : input.effort === undefined
      ? levelOfBudget(input.budgetTokens ?? -1)
      : levelOf[input.effort]
  return wanted === undefined ? undefined : nearestLevel(wanted, levels)
}

/** The caller's setting as `thinkingConfig`; nothing where the model does not think or the setting says nothing. */
export function requestedThinking(input: ReasoningInput, model: string, dialect: DialectId): Json | undefined {
  const thinking = thinkingOf(model)
  const own = dialect === 'gemini' ? input.budgetTokens : undefined
  if (thinking.kind === 'none') return undefined
  const config = withoutAbsent({
    thinkingBudget: thinking.kind === 'budget' ? requestedBudget(input, thinking) : own,
    thinkingLevel: thinking.kind === 'level' && own === undefined ? requestedLevel(input, thinking.levels) : undefined,
    includeThoughts: includesReasoning(input, dialect),
  })
  return Object.keys(config).length > 0 ? config : undefined
}

function suffixBudget(budget: NonNullable<NameSuffix['budget']>, limit: number, share: number): number {
  if (budget === 'off') return 0
  if (budget !== 'share') return budget
  const wanted = Math.floor(limit * share)
  return wanted === 0 || wanted > fullBudget ? fullBudget : wanted
}

/** What the suffix of the name asks for; `limit` is the answer's, 0 when it has none. */
function suffixThinking(suffix: NameSuffix, limit: number, share: number): Json | undefined {
  const thinking = thinkingOf(suffix.model)
  if (thinking.kind === 'level') {
    const level = suffix.level?.toUpperCase() ?? (suffix.budget === 'off' ? 'MINIMAL' : 'HIGH')
    return {
      thinkingLevel: nearestLevel(level, thinking.levels),
      ...(suffix.budget === 'off' ? {} : { includeThoughts: true }),
    }
  }
  if (suffix.budget === undefined) return undefined
  const wanted = suffixBudget(suffix.budget, limit, share)
  const thinkingBudget = thinking.kind === 'budget' ? clampBudget(wanted, thinking) : wanted
  return { thinkingBudget, ...(suffix.budget === 'off' ? {} : { includeThoughts: true }) }
}

export type NamedThinking = { model: string; thinkingConfig?: Json | undefined }

/** The upstream's name of the model and the thinking that the name itself asks for. */
export function thinkingByName(call: ProviderCall, limit: number): NamedThinking {
  const suffix: NameSuffix = call.options['gemini.thinking_adapter_enabled']
    ? splitSuffix(call.model)
    : { model: call.model }
  if (suffix.budget !== undefined || suffix.level !== undefined) {
    const share = call.options['gemini.thinking_adapter_budget_tokens_percentage']
    return { model: suffix.model, thinkingConfig: suffixThinking(suffix, limit, share) }
  }
  const shown = call.options['gemini.models_supported_thinking_budget'].includes(call.originalModel)
  return { model: suffix.model, ...(shown ? { thinkingConfig: { includeThoughts: true } } : {}) }
}
