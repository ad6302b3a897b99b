import type { ChartPoint, ChartSeries } from '../../components/charts/chart-types.ts'
import type { Interval } from './buckets.ts'
import { barOf, bucketLabel, bucketsBetween } from './buckets.ts'
import type { Series } from './use-stats.ts'

type Point = Series['points'][number]['models'][number]
export type Measure = 'spend' | 'calls' | 'tokens'

export const amountOf: Record<Measure, (point: Point) => number> = {
  spend: (point) => point.quota,
  calls: (point) => point.calls,
  tokens: (point) => point.promptTokens + point.completionTokens,
}

const restKey = 'rest'
/** Names of models hold dots, which the chart would take for paths. */
const keyOf = (models: readonly string[], model: string | null): string =>
  model === null ? restKey : `m${models.indexOf(model)}`

export const modelOf = (data: Series, key: string): string | undefined => data.models[Number(key.slice(1))]

export type Axis = { interval: Interval; span: number }

const pointsByBar = ({ points }: Series, interval: Interval) =>
  new Map(points.map(({ time, models }) => [barOf(time, interval), models]))

function rowsOf(
  data: Series,
  axis: Axis,
  valuesAt: (points: readonly Point[]) => Record<string, number>,
): ChartPoint[] {
  const byBar = pointsByBar(data, axis.interval)
  return bucketsBetween(data.from, data.until, axis.interval).map((start) => ({
    id: String(start.getTime()),
    label: bucketLabel(start, axis.interval, axis.span),
    values: valuesAt(byBar.get(start.getTime()) ?? []),
  }))
}

/** The ten models that cost most, and the others together. */
export function modelBars(data: Series, axis: Axis, { measure, rest }: { measure: Measure; rest: string }) {
  const series: ChartSeries[] = data.models.map((model) => ({ key: keyOf(data.models, model), name: model }))
  if (data.points.some(({ models }) => models.some(({ model }) => model === null)))
    series.push({ key: restKey, name: rest, isRest: true })
  const points = rowsOf(data, axis, (here) =>
    Object.fromEntries(here.map((point) => [keyOf(data.models, point.model), amountOf[measure](point)])),
  )
  return { series, points }
}

const mostLines = 5

/** How long the first word took, for the models that cost most. Where nothing was measured there is no value. */
export function firstTokenLines(data: Series, axis: Axis) {
  const measured = data.models.filter((model) =>
    data.points.some(({ models }) => models.some((point) => point.model === model && point.firstTokenMs !== null)),
  )
  const named = measured.slice(0, mostLines)
  const series: ChartSeries[] = named.map((model) => ({ key: keyOf(data.models, model), name: model }))
  const points = rowsOf(data, axis, (here) =>
    Object.fromEntries(
      here.flatMap(({ model, firstTokenMs }) =>
        model !== null && firstTokenMs !== null && named.includes(model)
          ? [[keyOf(data.models, model), firstTokenMs]]
          : [],
      ),
    ),
  )
  return { series, points }
}

const sum = (points: readonly Point[], of: (point: Point) => number): number =>
  points.reduce((total, point) => total + of(point), 0)

/** Tokens of all models: new input, input from the cache, output. */
export function tokenBars(data: Series, axis: Axis, names: { input: string; cached: string; output: string }) {
  const series: ChartSeries[] = [
    { key: 'input', name: names.input },
    { key: 'cached', name: names.cached },
    { key: 'output', name: names.output },
  ]
  const points = rowsOf(data, axis, (here) => ({
    input: sum(here, (point) => Math.max(point.promptTokens - point.cachedTokens, 0)),
    cached: sum(here, (point) => point.cachedTokens),
    output: sum(here, (point) => point.completionTokens),
  }))
  return { series, points }
}

/** The share of calls that failed; without calls there is no value. */
export function errorLine(data: Series, axis: Axis, name: string) {
  const { errors } = data
  const failed = new Map(errors.map(({ time, count }) => [barOf(time, axis.interval), count]))
  const calls = pointsByBar(data, axis.interval)
  const series: ChartSeries[] = [{ key: 'errors', name }]
  const points = bucketsBetween(data.from, data.until, axis.interval).map((start): ChartPoint => {
    const at = start.getTime()
    const count = failed.get(at) ?? 0
    const all = count + sum(calls.get(at) ?? [], (point) => point.calls)
    const values: Record<string, number> = all === 0 ? {} : { errors: count / all }
    return { id: String(at), label: bucketLabel(start, axis.interval, axis.span), values }
  })
  return { series, points }
}
