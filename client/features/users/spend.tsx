import { Box, Skeleton } from '@chakra-ui/react'
import { useMemo } from 'react'
import { Chart } from '../../components/charts/chart.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { daysUpTo, sumByDay } from '../../lib/days.ts'
import { useMidnight } from '../../lib/now.ts'
import { trpc } from '../../lib/trpc.ts'

const length = 30
const two = (value: number): string => String(value).padStart(2, '0')

/** What an account spent on each of the last 30 days. */
export function Spend({ userId }: { userId: number }) {
  const midnight = useMidnight()
  const { days, start, end } = useMemo(() => {
    const today = new Date(midnight)
    const tomorrow = new Date(today.getFullYear(), today.getMonth(), today.getDate() + 1)
    const shown = daysUpTo(today, length)
    return { days: shown, start: shown[0] ?? today, end: new Date(tomorrow.getTime() - 1) }
  }, [midnight])
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const series = trpc.admin.stats.series.useQuery({ userId, start, end, interval: 'day', timeZone })
  const read = series.data?.points ?? []
  const sums = sumByDay(read, days)
  const points = days.map((day, index) => {
    const label = `${two(day.getMonth() + 1)}-${two(day.getDate())}`
    const values: Record<string, number> = read.length === 0 ? {} : { spend: sums[index] ?? 0 }
    return { id: label, label, values }
  })
  const name = t('最近 30 天的消费')
  return (
    <Box layerStyle="panel" px="4" py="3" aria-busy={series.isPending}>
      {series.error && !series.data ? (
        <ErrorState error={series.error} onRetry={() => void series.refetch()} />
      ) : !series.data ? (
        <Skeleton h="56" />
      ) : (
        <Chart
          kind="bars"
          title={name}
          label={name}
          height={180}
          series={[{ key: 'spend', name: t('消费') }]}
          points={points}
          unit="money"
        />
      )}
    </Box>
  )
}
