import type { ChartUnit } from './units.ts'

export type ChartSeries = {
  key: string
  name: string
  /** What the top ones leave over: drawn grey. */
  isRest?: boolean
}

/** One step of the axis, with a number for each series. */
export type ChartPoint = { id: string; label: string; values: Readonly<Record<string, number>> }

export type ChartProps = {
  /** Read out as the chart's name. */
  label: string
  series: readonly ChartSeries[]
  points: readonly ChartPoint[]
  /** Of the numbers; counts by default. */
  unit?: ChartUnit
  height?: number
  /** A click on a segment: to the log with that filter. */
  onSelect?: (choice: { series: ChartSeries; point: ChartPoint }) => void
}

const colors = 10

/** The same series keeps its colour by its place; theme tokens, so both themes can tell them apart. */
export const seriesColor = (series: readonly ChartSeries[], key: string): string => {
  const index = series.findIndex((one) => one.key === key)
  const token = series[index]?.isRest ? 'rest' : String((index % colors) + 1)
  return `var(--ui-colors-chart-${token})`
}
