import { decimalOf, divide, multiply, toNumber } from './decimal.ts'
import { defaultQuotaPerUnit } from '../quota.ts'

const tokensPerMillion = decimalOf(1_000_000)
const digits = 6

/** US dollars per million input tokens; 2 for ratio 1 at the usual 500000 units per dollar. */
export const ratioToDollars = (modelRatio: number, quotaPerUnit: number = defaultQuotaPerUnit): number =>
  toNumber(divide(multiply(decimalOf(modelRatio), tokensPerMillion), decimalOf(quotaPerUnit), digits))

export const dollarsToRatio = (dollars: number, quotaPerUnit: number = defaultQuotaPerUnit): number =>
  toNumber(divide(multiply(decimalOf(dollars), decimalOf(quotaPerUnit)), tokensPerMillion, digits))

/** One price as a multiple of another: output against input, cache against input. Undefined where the base is 0. */
export const priceRatio = (dollars: number, baseDollars: number): number | undefined =>
  baseDollars > 0 ? toNumber(divide(decimalOf(dollars), decimalOf(baseDollars), digits)) : undefined
