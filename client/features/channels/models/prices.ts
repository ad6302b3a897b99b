import { dollarsToRatio, priceRatio, ratioToDollars } from '#core/pricing/prices.ts'
import type { CatalogPrice } from '#core/pricing/catalogue.ts'
import type { SetPrices } from '#features/models/schema.ts'
import { furtherOf, type FurtherPrices } from '../../../lib/further-prices.ts'

/** What an operator types for one model: dollars per million tokens, or dollars a call. */
export type PriceDraft = {
  model: string
  chosen: boolean
  kind: 'tokens' | 'call'
  input: string
  output: string
  cached: string
  call: string
  /** Whose list the figures are from; empty where none has the model. */
  vendor: string
  /** That list asks nothing for the model. */
  isFree: boolean
  further: FurtherPrices
}

const short = (dollars: number): string => String(Number(dollars.toPrecision(6)))

export function draftOf(model: string, listed: CatalogPrice | null, quotaPerUnit: number): PriceDraft {
  const figures = { input: '', output: '', cached: '', call: '' }
  const blank = { model, kind: 'tokens' as const, ...figures, vendor: '', isFree: false, further: {} }
  if (!listed) return { ...blank, chosen: false }
  const input = ratioToDollars(listed.modelRatio, quotaPerUnit)
  return {
    ...blank,
    chosen: true,
    input: short(input),
    output: short(input * listed.completionRatio),
    cached: listed.cacheRatio === undefined ? '' : short(input * listed.cacheRatio),
    vendor: listed.vendor,
    isFree: input === 0,
    further: furtherOf(listed),
  }
}

/** A figure of dollars; undefined for a blank, null for what is none. */
const dollarsIn = (typed: string): number | undefined | null => {
  if (typed.trim() === '') return undefined
  const number = Number(typed)
  return Number.isFinite(number) && number >= 0 ? number : null
}

export type DraftProblem = 'missing' | 'number' | 'zero'

export const problemOf = (draft: PriceDraft): DraftProblem | undefined => {
  const result = inputOf(draft, 1)
  return typeof result === 'string' ? result : undefined
}

type Input = SetPrices['prices'][number]

/** The draft as the ratios that are stored, or why it is none. What is left blank is none: the built-in rules count. A price of nothing stands only where a list says so. */
function inputOf(draft: PriceDraft, quotaPerUnit: number): Input | DraftProblem {
  if (draft.kind === 'call') {
    const call = dollarsIn(draft.call)
    if (call === undefined) return 'missing'
    return call === null ? 'number' : { model: draft.model, modelPrice: call }
  }
  const [input, output, cached] = [draft.input, draft.output, draft.cached].map(dollarsIn)
  if (input === undefined) return 'missing'
  if (input === null || output === null || cached === null) return 'number'
  // The others are stored as multiples of the input price, and of nothing there are none.
  if (input === 0 && (!draft.isFree || (output ?? 0) > 0 || (cached ?? 0) > 0)) return 'zero'
  return {
    model: draft.model,
    modelRatio: dollarsToRatio(input, quotaPerUnit),
    completionRatio: output === undefined ? null : (priceRatio(output, input) ?? null),
    cacheRatio: cached === undefined ? null : (priceRatio(cached, input) ?? null),
    ...draft.further,
  }
}

/** What the chosen drafts would set; those with a problem are left to their owner. */
export const inputsOf = (drafts: readonly PriceDraft[], quotaPerUnit: number): Input[] =>
  drafts
    .filter((draft) => draft.chosen)
    .flatMap((draft) => {
      const wanted = inputOf(draft, quotaPerUnit)
      return typeof wanted === 'string' ? [] : [wanted]
    })
