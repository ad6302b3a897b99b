import { getNiceTickValues } from 'recharts'
import { expect, test } from 'vitest'
import { axisDomain, type ChartUnit, writings } from './units.ts'

const axisTo = (unit: ChartUnit, largest: number): string[] =>
  getNiceTickValues([0, largest], 5, !writings[unit].isInteger).map(writings[unit].tick)

test.each<[unit: ChartUnit, largest: number, steps: string[]]>([
  ['share', 0.0178, ['0%', '0.45%', '0.9%', '1.35%', '1.8%']],
  ['share', 1, ['0%', '25%', '50%', '75%', '100%']],
  ['money', 1, ['$0.00', '$0.000002', '$0.000004', '$0.000006', '$0.000008']],
  ['money', 8900, ['$0.00', '$0.005', '$0.01', '$0.015', '$0.02']],
  ['money', 880_000, ['$0.00', '$0.50', '$1.00', '$1.50', '$2.00']],
  ['count', 1, ['0', '1', '2', '3', '4']],
  ['count', 17_800, ['0', '4,500', '9,000', '13.5k', '18k']],
  ['count', 1_780_000, ['0', '450k', '900k', '1.35M', '1.8M']],
  ['duration', 1780, ['0 ms', '450 ms', '900 ms', '1.35 s', '1.8 s']],
  ['duration', 170_000, ['0 ms', '45 s', '90 s', '135 s', '180 s']],
])('an axis of %s up to %d has even steps, each said as it is', (unit, largest, steps) => {
  expect(axisTo(unit, largest)).toEqual(steps)
})

test('what a call cost is shown under the pointer, however little', () => {
  expect([3, 4999, 5000, 880_000].map(writings.money.format)).toEqual(['$0.000006', '$0.009998', '$0.01', '$1.76'])
})

test.each<[unit: ChartUnit, top: string]>([
  ['share', '100%'],
  ['money', '$1.00'],
  ['count', '4'],
  ['duration', '1 s'],
])('an axis of %s that has nothing to show goes up to %s, and any other as far as its values', (unit, top) => {
  const point = (value: number) => ({ id: '1', label: '11-24', values: { one: value } })
  const [from, to] = axisDomain([point(0), point(0)], unit)
  expect([writings[unit].tick(from).replace(/ .*/, ''), writings[unit].tick(Number(to))]).toEqual([
    unit === 'money' ? '$0.00' : unit === 'share' ? '0%' : '0',
    top,
  ])
  expect(axisDomain([point(0), point(0.02)], unit)).toEqual([0, 'auto'])
  expect(axisDomain([], unit)[1]).toBe(to)
})
