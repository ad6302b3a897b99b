import { Box, Center, HStack, Skeleton, Stack, Text, chakra } from '@chakra-ui/react'
import { ChartColumn, Table2 } from 'lucide-react'
import type { ComponentType, ReactNode } from 'react'
import { Suspense, lazy, useState } from 'react'
import { t } from '../../i18n/t.ts'
import { IconButton } from '../icon-button.tsx'
import type { ChartProps } from './chart-types.ts'
import { seriesColor } from './chart-types.ts'
import { SeriesMark } from './series-mark.tsx'
import { writings } from './units.ts'

const heightOf = ({ height = 260 }: ChartProps): string => `${height}px`

/** Where the file does not come its numbers are there all the same, and so is the page around. */
const drawnBy = (name: 'StackedBars' | 'Lines'): ComponentType<ChartProps> =>
  lazy(() =>
    import('./drawings.tsx').then(
      ({ [name]: Drawing }) => ({
        default: (chart: ChartProps) => (
          <Box
            role="img"
            aria-label={chart.label}
            css={{ '& .recharts-text': { fontSize: '11px' } }}
            h={heightOf(chart)}
          >
            <Drawing {...chart} />
          </Box>
        ),
      }),
      () => ({ default: ChartTable }),
    ),
  )

const drawings = { bars: drawnBy('StackedBars'), lines: drawnBy('Lines') }

type ChartFrameProps = ChartProps & {
  kind: 'bars' | 'lines'
  title: string
  /** At the end of the title's line: what is to be drawn. */
  extra?: ReactNode
}

/** A chart with its legend, and the same numbers as a table behind a button. */
export function Chart({ kind, title, extra, ...chart }: ChartFrameProps) {
  const [asTable, setAsTable] = useState(false)
  const Drawing = drawings[kind]
  const isEmpty = chart.points.every(({ values }) => Object.keys(values).length === 0)
  return (
    <Stack gap="2" minW="0">
      <HStack justify="space-between" wrap="wrap" gap="1">
        <Text textStyle="sm" fontWeight="medium">
          {title}
        </Text>
        <HStack gap="1">
          {extra}
          <IconButton
            size="xs"
            icon={asTable ? ChartColumn : Table2}
            label={asTable ? t('显示图表') : t('显示表格')}
            disabled={isEmpty}
            onClick={() => setAsTable(!asTable)}
          />
        </HStack>
      </HStack>
      {isEmpty ? (
        <Center h={heightOf(chart)} color="fg.muted" textStyle="sm">
          {t('这段时间没有数据')}
        </Center>
      ) : asTable ? (
        <ChartTable {...chart} />
      ) : (
        <Suspense fallback={<Skeleton h={heightOf(chart)} />}>
          <Drawing {...chart} />
        </Suspense>
      )}
      {!asTable && !isEmpty && <Legend {...chart} />}
    </Stack>
  )
}

function Legend({ series }: ChartProps) {
  if (series.length < 2) return null
  return (
    <HStack as="ul" gap="3" rowGap="1" wrap="wrap" textStyle="xs" color="fg.muted" listStyleType="none">
      {series.map((one) => (
        <HStack as="li" key={one.key} gap="1.5">
          <SeriesMark color={seriesColor(series, one.key)} />
          {one.name}
        </HStack>
      ))}
    </HStack>
  )
}

const Table = chakra('table', {
  base: {
    w: 'full',
    textStyle: 'xs',
    '& th, & td': {
      px: '2',
      py: '1',
      textAlign: 'end',
      whiteSpace: 'nowrap',
      borderBottomWidth: '1px',
      borderColor: 'border.muted',
    },
    '& th': { color: 'fg.muted', fontWeight: 'medium' },
    '& th:first-of-type': { textAlign: 'start', position: 'sticky', left: '0', bg: 'bg.panel' },
  },
})

const cellText = (value: number | undefined, format: (value: number) => string): string =>
  value === undefined ? '–' : format(value)

function ChartTable({ label, series, points, unit = 'count', height = 260 }: ChartProps) {
  const { format } = writings[unit]
  return (
    <Box
      overflow="auto"
      maxH={`${height}px`}
      borderWidth="1px"
      borderRadius="l2"
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <Table>
        <thead>
          <tr>
            <th scope="col">{t('时间')}</th>
            {series.map((one) => (
              <th key={one.key} scope="col">
                {one.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map((point) => (
            <tr key={point.id}>
              <th scope="row">{point.label}</th>
              {series.map((one) => (
                <td key={one.key}>{cellText(point.values[one.key], format)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </Table>
    </Box>
  )
}
