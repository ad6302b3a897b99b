import type { LongContextStep } from '#core/pricing/long-context.ts'
import type { ModelPriceInput } from '#core/pricing/price-changes.ts'
import { dollarsToRatio, priceRatio, ratioToDollars } from '#core/pricing/prices.ts'
import type { RouterOutputs } from '#server/app-router.ts'

export type PriceRow = RouterOutputs['admin']['prices']['list']['rows'][number]

/** A price as it is typed: dollars per million tokens, or dollars a call; null where a field is empty, NaN where it is no number. */
export type Draft = {
  input: number | null
  output: number | null
  cacheRead: number | null
  cacheWrite: number | null
  call: number | null
  /** What long prompts cost against short ones. */
  longContext: readonly LongContextStep[]
  /** While no input price above 0 is typed: the prices at the last one, from which those at the next follow. */
  before?: Prices | undefined
}
type Prices = Pick<Draft, 'input' | 'output' | 'cacheRead' | 'cacheWrite'>
export type Figure = Exclude<keyof Draft, 'longContext' | 'before'>

export const blankDraft: Draft = {
  input: null,
  output: null,
  cacheRead: null,
  cacheWrite: null,
  call: null,
  longContext: [],
}

export type Drafts = ReadonlyMap<string, Draft>

const rounded = (value: number): number => Number(value.toPrecision(10))

/** What stands in the tables, as it would be typed. */
export function draftOf({ price }: Pick<PriceRow, 'price'>, quotaPerUnit: number): Draft {
  if (!price) return blankDraft
  if (price.modelPrice !== null) return { ...blankDraft, call: price.modelPrice }
  const input = ratioToDollars(price.modelRatio ?? 0, quotaPerUnit)
  return {
    input,
    output: rounded(input * (price.completionRatio ?? 1)),
    cacheRead: rounded(input * (price.cacheRatio ?? 1)),
    cacheWrite: rounded(input * (price.cacheWriteRatio ?? 1)),
    call: null,
    longContext: price.longContext,
  }
}

/** Whether something is typed that is no price: it must neither be saved nor be taken for an empty field. */
export const isUnreadable = ({ input, output, cacheRead, cacheWrite, call }: Draft): boolean =>
  [input, output, cacheRead, cacheWrite, call].some((figure) => figure !== null && !(figure >= 0))

const same = (left: Draft, right: Draft): boolean =>
  !isUnreadable(left) && JSON.stringify({ ...left, before: undefined }) === JSON.stringify(right)

type Edit = { row: PriceRow; figure: Figure; value: number | null; quotaPerUnit: number }

/** One figure typed. Another input price takes the prices that follow from it along, as the ratios do. */
export function withFigure(drafts: Drafts, { row, figure, value, quotaPerUnit }: Edit): Drafts {
  const current = drafts.get(row.model) ?? draftOf(row, quotaPerUnit)
  const next = { ...current, [figure]: value }
  const draft = figure === 'input' ? { ...next, ...following(current, value) } : next
  return withDraft(drafts, row, { draft, quotaPerUnit })
}

/** A price is typed sign by sign, by way of nothing, a zero or a lone point: none of these loses what the next one is a multiple of. */
function following(current: Draft, input: number | null): Partial<Draft> {
  const base = (current.input ?? 0) > 0 ? current : current.before
  if (!base?.input) return {}
  const before = (input ?? 0) > 0 ? undefined : base
  if (input === null || !(input >= 0)) return { before }
  const factor = input / base.input
  const at = (dollars: number | null) => (dollars === null ? null : rounded(dollars * factor))
  return { output: at(base.output), cacheRead: at(base.cacheRead), cacheWrite: at(base.cacheWrite), before }
}

/** A draft that says what is stored anyway is none. */
export function withDraft(
  drafts: Drafts,
  row: PriceRow,
  { draft, quotaPerUnit }: { draft: Draft; quotaPerUnit: number },
): Drafts {
  const next = new Map(drafts)
  if (same(draft, draftOf(row, quotaPerUnit))) next.delete(row.model)
  else next.set(row.model, draft)
  return next
}

/** Why a figure is not to be typed: it has a price per call, nothing to be a multiple of, or the model's name decides. */
export type Fixed = 'call' | 'input' | 'name'

export const fixedBy = (row: PriceRow, shown: Draft, figure: Figure): Fixed | undefined => {
  if (figure === 'call') return undefined
  if (shown.call !== null) return 'call'
  if (figure === 'input') return undefined
  if (shown.input === null || shown.input === 0) return 'input'
  return figure === 'output' && row.isCompletionLocked ? 'name' : undefined
}

/** What is to be set for several models: a figure that is left out stays as it is, null takes it away. */
export type Batch = Partial<Record<Figure, number | null>>

const batchOrder = ['call', 'input', 'output', 'cacheRead', 'cacheWrite'] as const

/** One model's part of a batch, and which of its figures cannot be set for it. */
export function withBatch(
  drafts: Drafts,
  row: PriceRow,
  { batch, quotaPerUnit }: { batch: Batch; quotaPerUnit: number },
): { drafts: Drafts; refused: Figure[] } {
  // Prices by token take the place of a price per call, as that takes theirs.
  const complete: Batch = typeof batch.input === 'number' ? { call: null, ...batch } : batch
  const refused: Figure[] = []
  let next = drafts
  for (const figure of batchOrder) {
    const value = complete[figure]
    if (value === undefined) continue
    const shown = next.get(row.model) ?? draftOf(row, quotaPerUnit)
    if (!fixedBy(row, shown, figure)) next = withFigure(next, { row, figure, value, quotaPerUnit })
    else if (value !== null) refused.push(figure)
  }
  return { drafts: next, refused }
}

/** Another list of steps for long prompts. */
export function withLongContext(
  drafts: Drafts,
  row: PriceRow,
  { longContext, quotaPerUnit }: { longContext: readonly LongContextStep[]; quotaPerUnit: number },
): Drafts {
  const current = drafts.get(row.model) ?? draftOf(row, quotaPerUnit)
  return withDraft(drafts, row, { draft: { ...current, longContext }, quotaPerUnit })
}

/** What a draft asks the server to set. */
export function inputOf(model: string, draft: Draft, quotaPerUnit: number): ModelPriceInput {
  if (draft.call !== null) return { model, modelPrice: draft.call }
  if (draft.input === null) return { model, removed: true }
  const { input } = draft
  const against = (dollars: number | null) => (dollars === null ? null : priceRatio(dollars, input))
  const ratios = {
    completionRatio: against(draft.output),
    cacheRatio: against(draft.cacheRead),
    cacheWriteRatio: against(draft.cacheWrite),
  }
  const given = Object.entries(ratios).filter(([, ratio]) => ratio !== undefined)
  return {
    model,
    modelRatio: dollarsToRatio(input, quotaPerUnit),
    ...Object.fromEntries(given),
    longContext: [...draft.longContext],
  }
}

/** What the tables said of each model where its draft began: a refresh meanwhile does not move that. */
export function beginningsOf(
  drafts: Drafts,
  rows: readonly Pick<PriceRow, 'model' | 'entries'>[],
  before: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const began = rows.filter(({ model }) => drafts.has(model))
  return new Map(began.map(({ model, entries }) => [model, before.get(model) ?? entries]))
}

/** Where a draft departs from what is stored, figure by figure. */
export function differingFigures(
  draft: Draft,
  row: PriceRow,
  quotaPerUnit: number,
): { figures: { figure: Figure; mine: number | null; theirs: number | null }[]; isLongContext: boolean } {
  const stored = draftOf(row, quotaPerUnit)
  const order = ['input', 'output', 'cacheRead', 'cacheWrite', 'call'] as const
  return {
    figures: order
      .filter((figure) => draft[figure] !== stored[figure])
      .map((figure) => ({ figure, mine: draft[figure], theirs: stored[figure] })),
    isLongContext: JSON.stringify(draft.longContext) !== JSON.stringify(stored.longContext),
  }
}

export const changeOf = (drafts: Drafts, quotaPerUnit: number) => ({
  prices: [...drafts].map(([model, draft]) => inputOf(model, draft, quotaPerUnit)),
  groupRatios: {},
})
