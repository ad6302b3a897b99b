import { afterEach, expect, test, vi } from 'vitest'
import { errorLine, modelBars } from './chart-data.ts'
import type { Series } from './use-stats.ts'

afterEach(() => vi.unstubAllEnvs())

const dayMs = 24 * 3_600_000

const spent = (quota: number) => ({
  model: 'gpt-4o',
  quota,
  calls: 1,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  firstTokenMs: null,
})

/** A day on which the clock shows midnight twice, and the second of these, with which PostgreSQL begins it. */
test.each([
  ['Atlantic/Azores', '2026-10-25T01:00:00Z'],
  ['America/Havana', '2026-11-01T05:00:00Z'],
])('a day whose midnight comes twice has its calls in one bar, %s', (zone, midnight) => {
  vi.stubEnv('TZ', zone)
  const second = new Date(midnight)
  const data: Series = {
    from: new Date(second.getTime() - dayMs),
    until: new Date(second.getTime() + dayMs),
    models: ['gpt-4o'],
    points: [{ time: second, models: [spent(5)] }],
    errors: [{ time: second, count: 3 }],
  }
  const axis = { interval: 'day', span: 2 * dayMs } as const
  const spend = modelBars(data, axis, { measure: 'spend', rest: 'Others' }).points
  expect(spend.map(({ values }) => values)).toEqual([{}, { m0: 5 }])
  expect(errorLine(data, axis, 'Errors').points.map(({ values }) => values)).toEqual([{}, { errors: 0.75 }])
})
