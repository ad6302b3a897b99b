import {
  abbreviate,
  abbreviateRound,
  amountText,
  formatDuration,
  formatInteger,
  formatPercent,
  quotaText,
} from '../../lib/format.ts'
import { currentStatus } from '../../lib/status.ts'

/** What the numbers of a chart are. */
export type ChartUnit = 'count' | 'money' | 'share' | 'duration'

type Writing = {
  /** Of a point. */
  format: (value: number) => string
  /** Of the axis, whose steps are round numbers and would be uneven or all the same if they were rounded again. */
  tick: (value: number) => string
  /** The axis has no steps between them. */
  isInteger: boolean
}

const upTo = (digits: number, value: number): number => Number(value.toFixed(digits))

export const writings: Record<ChartUnit, Writing> = {
  count: { format: abbreviate, tick: abbreviateRound, isInteger: true },
  money: {
    format: (quota) => (quota < currentStatus().quotaPerUnit / 100 ? amountText(quota) : quotaText(quota)),
    tick: amountText,
    isInteger: true,
  },
  share: { format: (share) => formatPercent(share), tick: (share) => `${upTo(4, share * 100)}%`, isInteger: false },
  // Minutes would need more room than the axis has.
  duration: {
    format: (ms) => (ms < 10_000 ? formatDuration(ms) : `${formatInteger(ms / 1000)} s`),
    tick: (ms) => (ms < 1000 ? `${ms} ms` : `${upTo(2, ms / 1000)} s`),
    isInteger: true,
  },
}

/** What an axis goes up to where there is nothing to see: by itself it would go up to four of whatever there is none of. */
const topOfNothing: Record<ChartUnit, () => number> = {
  count: () => 4,
  money: () => currentStatus().quotaPerUnit,
  share: () => 1,
  duration: () => 1000,
}

/** From where to where an axis goes. */
export const axisDomain = (
  points: readonly { values: Readonly<Record<string, number>> }[],
  unit: ChartUnit,
): [number, number | 'auto'] => [
  0,
  points.some(({ values }) => Object.values(values).some((value) => value > 0)) ? 'auto' : topOfNothing[unit](),
]
