import type { z } from 'zod'
import type { longContextStep } from './long-context-schema.ts'

export type LongContextStep = z.infer<typeof longContextStep>

/** Model → its steps, as an option stores it. */
export type LongContextTable = Readonly<Record<string, readonly LongContextStep[]>>

/** Each step begins above the one before it. */
export const areAscending = (steps: readonly LongContextStep[]): boolean =>
  steps.every(({ above }, index) => index === 0 || above > (steps[index - 1]?.above ?? 0))

/** The step of a prompt; undefined for a short one. */
export const stepFor = (
  steps: readonly LongContextStep[] | undefined,
  promptTokens: number,
): LongContextStep | undefined => steps?.findLast(({ above }) => promptTokens > above)
