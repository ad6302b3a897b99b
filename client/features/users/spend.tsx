import { Box, Skeleton } from '@chakra-ui/react'
import { useMemo } from 'react'
import { Chart } from '../../components/charts/chart.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useMidnight } from '../../lib/now.ts'
import { trpc } from '../../lib/trpc.ts'

const days = 30
const dayMs = 86_400_000
const two = (value: number): string => String(value).padStart(2, '0')

/** What an account spent on each of the last 30 days. */
export function Spend({ userId }: { userId: number }) {
  const midnight = useMidnight()
  const { start, end } = useMemo(() => {
    const today = new Date(midnight)
    const at = (day: number) => new Date(today.getFullYear(), today.getMonth(), today.getDate() + day)
    return { start: at(1 - days), end: new Date(at(1).getTime() - 1) }
  }, [midnight])
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const series = trpc.admin.stats.series.useQuery({ userId, start, end, interval: 'day', timeZone })
  const spent = new Map<string, number>()
  const keyOf = (time: Date) => `${two(time.getMonth() + 1)}-${two(time.getDate())}`
  for (const { time, models } of series.data?.points ?? []) {
    const quota = models.reduce((sum, model) => sum + model.quota, 0)
    spent.set(keyOf(time), (spent.get(keyOf(time)) ?? 0) + quota)
  }
  const points = Array.from({ length: days }, (_, index) => {
    const label = keyOf(new Date(start.getTime() + index * dayMs + dayMs / 2))
    const values: Record<string, number> = spent.size === 0 ? {} : { spend: spent.get(label) ?? 0 }
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
