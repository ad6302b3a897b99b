import type { ChatRequest, ReasoningInput } from '#relay/chat/request.ts'
import { type Json, wordOf } from '../shared/json.ts'

/** Whether the caller wants thinking on or off; nothing when they leave it to the model. */
export function wantsThinking(input: ReasoningInput | undefined): boolean | undefined {
  if (!input) return undefined
  if (input.mode === 'disabled' || input.effort === 'none' || input.budgetTokens === 0) return false
  return input.mode !== undefined || input.effort !== undefined || input.budgetTokens !== undefined ? true : undefined
}

/** In the words of several vendors. */
export function disableThinking(body: Json): void {
  body['thinking'] = { type: 'disabled' }
}

/** What other efforts are in the three words of models that always think. */
const steadyEfforts: Readonly<Record<string, string>> = { none: 'low', minimal: 'low', medium: 'high', xhigh: 'max' }

/** Puts an effort in those words, and names it where it was none. */
export function fitSteadyEffort(body: Json): string[] {
  const effort = wordOf(body['reasoning_effort'])
  if (effort === undefined) return []
  body['reasoning_effort'] = steadyEfforts[effort] ?? effort
  return effort === 'none' ? ['reasoning_effort'] : []
}

const takes = (models: Pick<RegExp, 'test'> | undefined, body: Json): boolean =>
  models === undefined || models.test(String(body['model']))

/** Vendors with `thinking: { type }`; `models` are those that know the field. */
export const thinkingType =
  (models?: Pick<RegExp, 'test'>) =>
  (body: Json, request: ChatRequest): void => {
    const wanted = wantsThinking(request.reasoning)
    if (wanted === undefined || body['thinking'] !== undefined || !takes(models, body)) return
    body['thinking'] = { type: wanted ? 'enabled' : 'disabled' }
  }

/** Vendors with `enable_thinking` and a budget beside it. */
export const enableThinking =
  (models?: Pick<RegExp, 'test'>) =>
  (body: Json, request: ChatRequest): void => {
    const wanted = wantsThinking(request.reasoning)
    if (wanted === undefined || body['enable_thinking'] !== undefined || !takes(models, body)) return
    body['enable_thinking'] = wanted
    const budget = request.reasoning?.budgetTokens
    if (wanted && budget !== undefined && budget > 0) body['thinking_budget'] = budget
  }
