import fc from 'fast-check'
import type { LongContextStep } from '#core/pricing/long-context.ts'

/** Prices by the token, with these ratios. */
export const ratioPrice = (ratio: fc.Arbitrary<number>) =>
  fc.record({
    kind: fc.constant('ratio' as const),
    modelRatio: ratio,
    completionRatio: ratio,
    cacheRatio: ratio,
    cacheWriteRatio: ratio,
    cacheWrite1hRatio: ratio,
    imageRatio: ratio,
    audioRatio: ratio,
    audioCompletionRatio: ratio,
    imageOutputRatio: fc.option(ratio, { nil: undefined }),
    longContext: fc.constantFrom<LongContextStep[]>([], [{ above: 1000, input: 2, output: 1.5 }]),
    source: fc.constant('table' as const),
  })
