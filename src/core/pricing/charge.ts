import { exactQuota, lineQuota, linesOf } from './charge-lines.ts'
import type { ChargeLine, LineLabel, LineUnit, RatioName } from './charge-lines.ts'
import {
  ceil,
  decimalOf,
  divide,
  floor,
  product,
  roundHalfAway,
  subtract,
  toSafeInteger,
  toText,
  withoutNeedlessZeros,
} from './decimal.ts'
import type { Decimal } from './decimal.ts'
import type { Receipt, UsageFormula } from './receipt.ts'
import type { Usage } from '../usage.ts'

export type ChargeStep = {
  label: LineLabel | 'rounding' | 'minimum'
  quantity: number
  unit: LineUnit | 'quota'
  /** US dollars for `per` of the unit, every ratio but the group's applied. */
  price: string
  per: 1 | 1000 | 1_000_000
  ratios: { name: RatioName; value: number }[]
  /** Quota of this step, exact. The steps add up to the charge. */
  quota: string
  /** US dollars of this step, six decimals. */
  amount: string
}

export type Charge = {
  /** Whole internal units, what is taken from the balance. */
  quota: number
  /** The same in US dollars, six decimals. */
  amount: string
  steps: ChargeStep[]
}

const shownDigits = 6
/** A price per million may be far below a millionth of a dollar, and is still no zero. */
const mostPriceDigits = 14

/**
 * Which formula a call is charged by. Audio tokens decide before the vendor, for only the audio formula prices them;
 * `claude` means the Claude route or a channel that speaks Claude.
 */
export function formulaFor(call: { claude: boolean; realtime: boolean; usage: Usage }): UsageFormula {
  if (call.realtime || call.usage.audioInputTokens + call.usage.audioOutputTokens > 0) return 'audio'
  return call.claude ? 'claude' : 'text'
}

/** The one way from a receipt to a charge, for the bill, the log and the screen alike. */
export function chargeReceipt(receipt: Receipt): Charge {
  const lines = linesOf(receipt)
  const exact = exactQuota(lines)
  const quota = roundedQuota(receipt, lines, exact)
  return {
    quota: toSafeInteger(quota),
    amount: dollarText(decimalOf(quota), receipt.quotaPerUnit),
    steps: [
      ...lines.map((line) => stepOf(line, receipt.quotaPerUnit)),
      ...adjustment(exact, quota, receipt.quotaPerUnit),
    ],
  }
}

/** The charge without the words for it. */
export function quotaOfReceipt(receipt: Receipt): number {
  const lines = linesOf(receipt)
  return toSafeInteger(roundedQuota(receipt, lines, exactQuota(lines)))
}

/** The least balance that surely covers the receipt: its exact charge rounded up, at least 1 unless it costs nothing. */
export const ceilingOf = (receipt: Receipt): number => {
  const lines = linesOf(receipt)
  const upper = ceil(exactQuota(lines))
  return toSafeInteger(upper === 0n && hasPrice(receipt, lines) ? 1n : upper)
}

/**
 * Claude calls, images and tasks are rounded down, everything else (and every price per call of a chat) to the nearest.
 * What has a price and was used costs at least 1.
 */
function roundedQuota(receipt: Receipt, lines: readonly ChargeLine[], exact: Decimal): bigint {
  const down =
    receipt.formula === 'claude'
      ? receipt.price.kind === 'ratio'
      : receipt.formula !== 'text' && receipt.formula !== 'audio'
  const rounded = down ? floor(exact) : roundHalfAway(exact)
  return rounded === 0n && hasPrice(receipt, lines) ? 1n : rounded
}

/** Whether what was used has a price at all, so that it costs at least 1. */
export function hasPrice(receipt: Receipt, lines: readonly ChargeLine[]): boolean {
  if (lines.length === 0 || receipt.groupRatio === 0) return false
  return receipt.price.kind === 'call' ? receipt.price.modelPrice > 0 : receipt.price.modelRatio > 0
}

const dollarText = (quota: Decimal, quotaPerUnit: number): string =>
  toText(divide(quota, decimalOf(quotaPerUnit), shownDigits), shownDigits)

/** As an amount is written, with the further digits that it has. */
const priceText = (quota: Decimal, quotaPerUnit: number): string =>
  withoutNeedlessZeros(toText(divide(quota, decimalOf(quotaPerUnit), mostPriceDigits), mostPriceDigits), shownDigits)

function stepOf(line: ChargeLine, quotaPerUnit: number): ChargeStep {
  const per = line.unit === 'token' ? 1_000_000 : line.unit === 'character' ? 1000 : 1
  const ownRatios = line.ratios.filter(({ name }) => name !== 'group')
  const price = product([decimalOf(per), line.base, ...ownRatios.map(({ value }) => decimalOf(value))])
  const quota = lineQuota(line)
  return {
    label: line.label,
    quantity: line.quantity,
    unit: line.unit,
    price: priceText(price, quotaPerUnit),
    per,
    ratios: line.ratios,
    quota: toText(quota),
    amount: dollarText(quota, quotaPerUnit),
  }
}

function adjustment(exact: Decimal, quota: bigint, quotaPerUnit: number): ChargeStep[] {
  const difference = subtract(decimalOf(quota), exact)
  if (difference.units === 0n) return []
  const isMinimum = quota === 1n && roundHalfAway(exact) === 0n
  return [
    {
      label: isMinimum ? 'minimum' : 'rounding',
      quantity: 1,
      unit: 'quota',
      price: dollarText(decimalOf(1), quotaPerUnit),
      per: 1,
      ratios: [],
      quota: toText(difference),
      amount: dollarText(difference, quotaPerUnit),
    },
  ]
}
