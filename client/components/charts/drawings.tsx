import { Box, HStack, Stack, Text } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { Bar, BarChart, CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import type { ChartPoint, ChartProps, ChartSeries } from './chart-types.ts'
import { seriesColor } from './chart-types.ts'
import { SeriesMark } from './series-mark.tsx'
import { axisDomain, type ChartUnit, writings } from './units.ts'

const axis = { fill: 'var(--ui-colors-fg-subtle)' }
const line = 'var(--ui-colors-border)'

type Row = Readonly<Record<string, number | string>> & { id: string; label: string }

const rowsOf = (points: readonly ChartPoint[]): Row[] =>
  points.map((point) => ({ ...point.values, id: point.id, label: point.label }))

const valueAxis = (points: readonly ChartPoint[], unit: ChartUnit) => ({
  tick: axis,
  tickLine: false,
  axisLine: false,
  width: 56,
  tickFormatter: writings[unit].tick,
  allowDecimals: !writings[unit].isInteger,
  domain: axisDomain(points, unit),
})

type TipProps = {
  active?: boolean
  label?: ReactNode
  payload?: readonly { dataKey?: unknown; value?: unknown }[]
  series: readonly ChartSeries[]
  format: (value: number) => string
}

/** Names what stands under the pointer, the largest first, without the zeros. */
function Tip({ active, label, payload = [], series, format }: TipProps) {
  if (!active) return null
  const entries = payload
    .map((entry) => ({ key: String(entry.dataKey), value: Number(entry.value) }))
    .filter((entry) => entry.value > 0)
    .toSorted((one, other) => other.value - one.value)
  return (
    <Box bg="bg.panel" borderWidth="1px" borderRadius="l2" boxShadow="md" px="3" py="2" textStyle="xs">
      <Text fontWeight="medium" mb="1">
        {label}
      </Text>
      <Stack gap="0.5">
        {entries.map((entry) => (
          <HStack key={entry.key} gap="2">
            <SeriesMark color={seriesColor(series, entry.key)} />
            <Text flex="1" me="4">
              {series.find((one) => one.key === entry.key)?.name}
            </Text>
            <Text>{format(entry.value)}</Text>
          </HStack>
        ))}
      </Stack>
    </Box>
  )
}

export function StackedBars({ series, points, unit = 'count', height = 260, onSelect }: ChartProps) {
  const { format } = writings[unit]
  return (
    <ResponsiveContainer width="100%" height={height}>
      <BarChart data={rowsOf(points)} margin={{ top: 4, right: 4, bottom: 0, left: 0 }} maxBarSize={36}>
        <CartesianGrid vertical={false} stroke={line} />
        <XAxis dataKey="label" tick={axis} tickLine={false} axisLine={{ stroke: line }} minTickGap={24} />
        <YAxis {...valueAxis(points, unit)} />
        <Tooltip
          cursor={{ fill: 'var(--ui-colors-bg-muted)' }}
          isAnimationActive={false}
          content={(props) => <Tip {...props} series={series} format={format} />}
        />
        {series.map((one) => (
          <Bar
            key={one.key}
            dataKey={one.key}
            name={one.name}
            stackId="all"
            fill={seriesColor(series, one.key)}
            isAnimationActive={false}
            cursor={onSelect ? 'pointer' : undefined}
            onClick={(_, index) => {
              const point = points[index]
              if (point) onSelect?.({ series: one, point })
            }}
          />
        ))}
      </BarChart>
    </ResponsiveContainer>
  )
}

export function Lines({ series, points, unit = 'count', height = 260 }: ChartProps) {
  const { format } = writings[unit]
  return (
    <ResponsiveContainer width="100%" height={height}>
      <LineChart data={rowsOf(points)} margin={{ top: 4, right: 8, bottom: 0, left: 0 }}>
        <CartesianGrid vertical={false} stroke={line} />
        <XAxis dataKey="label" tick={axis} tickLine={false} axisLine={{ stroke: line }} minTickGap={24} />
        <YAxis {...valueAxis(points, unit)} />
        <Tooltip
          cursor={{ stroke: line }}
          isAnimationActive={false}
          content={(props) => <Tip {...props} series={series} format={format} />}
        />
        {series.map((one) => (
          <Line
            key={one.key}
            dataKey={one.key}
            name={one.name}
            stroke={seriesColor(series, one.key)}
            strokeWidth={1.75}
            dot={false}
            connectNulls
            isAnimationActive={false}
          />
        ))}
      </LineChart>
    </ResponsiveContainer>
  )
}
