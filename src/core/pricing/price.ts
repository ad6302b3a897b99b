import { z } from 'zod'
import { longContextSteps } from './long-context-schema.ts'

const figure = z.number().nonnegative()

const ratioPrice = z.object({
  kind: z.literal('ratio'),
  /** 1 is one quota unit a token: with the usual 500000 units per dollar, 2 USD per million tokens. */
  modelRatio: figure,
  completionRatio: figure,
  cacheRatio: figure,
  cacheWriteRatio: figure,
  cacheWrite1hRatio: figure,
  imageRatio: figure,
  audioRatio: figure,
  audioCompletionRatio: figure,
  /** Of output tokens that are images; absent where they cost what text does. */
  imageOutputRatio: figure.optional(),
  /** What long prompts cost more; none where every prompt costs the same. */
  longContext: longContextSteps.optional(),
  source: z.enum(['table', 'fallback', 'unset']),
})

const callPrice = z.object({
  kind: z.literal('call'),
  /** US dollars a call. */
  modelPrice: figure,
  source: z.enum(['table', 'fallback', 'default']),
})

/** The price of a model as it was when a call was admitted; plain JSON, kept in the log row. */
export const price = z.discriminatedUnion('kind', [ratioPrice, callPrice])

export type RatioPrice = z.infer<typeof ratioPrice>
export type CallPrice = z.infer<typeof callPrice>
export type Price = z.infer<typeof price>
