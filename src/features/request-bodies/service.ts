import { type BodyBudget, createBodyBudget } from './budget.ts'
import { type BodyLimits, bodyLimitsOf } from './limits.ts'

/** What lives as long as the process. */
export type Bodies = { limits: BodyLimits; budget: BodyBudget }

export function createBodies(settings: Parameters<typeof bodyLimitsOf>[0]): Bodies {
  const limits = bodyLimitsOf(settings)
  return { limits, budget: createBodyBudget(limits) }
}
