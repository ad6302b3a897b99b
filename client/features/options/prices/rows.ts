import type { CatalogPrice } from '#core/pricing/catalogue.ts'
import { dollarsToRatio, priceRatio, ratioToDollars } from '#core/pricing/prices.ts'
import type { PriceTables } from '#core/pricing/tables.ts'
import type { SetPrices } from '#features/models/schema.ts'
import { furtherOf, type FurtherPrices } from '../../../lib/further-prices.ts'

/** A model as the price tables know it; a price per call has no ratios. */
export type PriceRow = {
  model: string
  price: number | null
  ratio: number | null
  completionRatio: number | null
  cacheRatio: number | null
}

export const tableKeys = ['ModelPrice', 'ModelRatio', 'CompletionRatio', 'CacheRatio'] as const

const own = (table: Readonly<Record<string, number>>, model: string): number | null =>
  Object.hasOwn(table, model) ? (table[model] ?? null) : null

export function rowsOf(tables: Pick<PriceTables, (typeof tableKeys)[number]>): PriceRow[] {
  const models = new Set(tableKeys.flatMap((key) => Object.keys(tables[key])))
  return [...models].toSorted().map((model) => ({
    model,
    price: own(tables.ModelPrice, model),
    ratio: own(tables.ModelRatio, model),
    completionRatio: own(tables.CompletionRatio, model),
    cacheRatio: own(tables.CacheRatio, model),
  }))
}

/** What is typed for one price: in ratios or in dollars per million tokens, or in dollars a call. */
export type PriceFigures = {
  kind: 'tokens' | 'call'
  unit: 'ratio' | 'price'
  ratio: number | null
  completionRatio: number | null
  cacheRatio: number | null
  input: number | null
  output: number | null
  cached: number | null
  price: number | null
  /** What was filled in from the public catalogue, whose further prices have no field. */
  listed?: { model: string; price: FurtherPrices } | undefined
}

export const blankFigures: PriceFigures = {
  kind: 'tokens',
  unit: 'price',
  ratio: null,
  completionRatio: null,
  cacheRatio: null,
  input: null,
  output: null,
  cached: null,
  price: null,
}

type Ratios = Pick<PriceFigures, 'ratio' | 'completionRatio' | 'cacheRatio'>
type Dollars = Pick<PriceFigures, 'input' | 'output' | 'cached'>

const times = (base: number, factor: number | null): number | null =>
  factor === null ? null : Number((base * factor).toPrecision(10))

const isFigure = (value: number | null): value is number => value !== null && Number.isFinite(value)

/** Nothing where there is no ratio to begin with. */
export function toDollars({ ratio, completionRatio, cacheRatio }: Ratios, quotaPerUnit: number): Dollars {
  if (!isFigure(ratio)) return { input: null, output: null, cached: null }
  const input = ratioToDollars(ratio, quotaPerUnit)
  return { input, output: times(input, completionRatio), cached: times(input, cacheRatio) }
}

export function toRatios({ input, output, cached }: Dollars, quotaPerUnit: number): Ratios {
  if (!isFigure(input)) return { ratio: null, completionRatio: null, cacheRatio: null }
  const against = (dollars: number | null) => (isFigure(dollars) ? (priceRatio(dollars, input) ?? null) : null)
  return { ratio: dollarsToRatio(input, quotaPerUnit), completionRatio: against(output), cacheRatio: against(cached) }
}

type Input = SetPrices['prices'][number]

/** A completion or cache ratio that was left blank is none: the built-in rules count. */
export function inputOf(model: string, figures: PriceFigures, quotaPerUnit: number): Input {
  if (figures.kind === 'call') return { model, modelPrice: figures.price ?? 0 }
  const { ratio, completionRatio, cacheRatio } = figures.unit === 'ratio' ? figures : toRatios(figures, quotaPerUnit)
  const listed = figures.listed?.model === model ? furtherOf(figures.listed.price) : {}
  return { model, modelRatio: ratio ?? 0, completionRatio, cacheRatio, ...listed }
}

/** A model's list price as it is set; what the list does not say stays as it is. */
export const listedInput = (model: string, price: CatalogPrice): Input => ({
  model,
  modelRatio: price.modelRatio,
  completionRatio: price.completionRatio,
  ...(price.cacheRatio !== undefined && { cacheRatio: price.cacheRatio }),
  ...furtherOf(price),
})

type Form = PriceFigures & { model: string }

/**
 * What a list price fills into the form that it was asked for in: nothing where the form has another model by now, and none of
 * what was typed meanwhile.
 */
export function listedFigures(
  price: CatalogPrice,
  { asked, now, quotaPerUnit }: { asked: Form; now: Form; quotaPerUnit: number },
): Partial<PriceFigures> {
  const model = asked.model.trim()
  if (now.model.trim() !== model) return {}
  const { modelRatio: ratio, completionRatio, cacheRatio = null } = price
  const ratios = { ratio, completionRatio, cacheRatio }
  const found = { ...ratios, ...toDollars(ratios, quotaPerUnit), listed: { model, price } }
  const isTyped = (name: keyof PriceFigures) => !Object.is(now[name], asked[name])
  const untouched = Object.entries(found).filter(([name]) => !isTyped(name as keyof typeof found))
  return { ...(!isTyped('kind') && !isTyped('price') && { kind: 'tokens' }), ...Object.fromEntries(untouched) }
}
