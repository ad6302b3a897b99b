import { z } from 'zod'

const factor = z.number().min(0).max(1000)
const mostSteps = 5

/** Beyond so many prompt tokens the whole call, not only the part above, is charged at these multiples. */
export const longContextStep = z.strictObject({
  /** Prompt tokens, with everything cached in them; the step begins with one more. */
  above: z.int().min(1).max(1e9),
  /** Against the short call's price of everything read: input, cache reads, cache writes. */
  input: factor,
  output: factor,
})

export const longContextSteps = z.array(longContextStep).max(mostSteps)
