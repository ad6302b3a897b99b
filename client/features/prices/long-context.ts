import { areAscending, type LongContextStep } from '#core/pricing/long-context.ts'
import { priceRatio } from '#core/pricing/prices.ts'
import type { Draft } from './drafts.ts'

/** One step as it is typed, in dollars per million tokens; null where a field is empty. */
export type LongContext = { above: number | null; input: number | null; output: number | null }

const rounded = (value: number): number => Number(value.toPrecision(10))

export const stepsOf = ({ input, output, longContext }: Draft): LongContext[] =>
  longContext.map((step) => ({
    above: step.above,
    input: rounded((input ?? 0) * step.input),
    output: rounded((output ?? input ?? 0) * step.output),
  }))

type Filled = { above: number; input: number; output: number }

const isFilled = (row: LongContext): row is Filled =>
  row.above !== null &&
  Number.isInteger(row.above) &&
  row.above > 0 &&
  row.input !== null &&
  row.input >= 0 &&
  row.output !== null &&
  row.output >= 0

/** Every step is filled in and begins above the one before it. */
export const isLongContext = (rows: readonly LongContext[]): boolean =>
  rows.every(isFilled) && areAscending(rows.filter(isFilled))

/** What was typed, against the price of a short call. */
export const stepsIn = (rows: readonly LongContext[], { input, output }: Draft): LongContextStep[] =>
  rows.filter(isFilled).map((row) => ({
    above: row.above,
    input: priceRatio(row.input, input ?? 0) ?? 1,
    output: priceRatio(row.output, output ?? input ?? 0) ?? 1,
  }))
