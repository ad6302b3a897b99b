import { Skeleton } from '@chakra-ui/react'
import { useMemo } from 'react'
import { Sparkline } from '../../components/charts/sparkline.tsx'
import { None } from '../../components/cells/numbers.tsx'
import { t } from '../../i18n/t.ts'
import { quotaText } from '../../lib/format.ts'
import { useMidnight, useNow } from '../../lib/now.ts'
import { trpc } from '../../lib/trpc.ts'
import { daysUpTo, sumByDay } from '../../lib/days.ts'

const hour = 3_600_000
const minutes = 60_000
const length = 7

/** What a token spent on each of the last seven days. */
export function Week({ tokenId }: { tokenId: number }) {
  // The same until the hour is over, so that redrawing asks nothing.
  const end = Math.ceil(useNow().getTime() / hour) * hour
  const midnight = useMidnight()
  const days = useMemo(() => daysUpTo(new Date(midnight), length), [midnight])
  const start = days[0] ?? new Date(end - 1)
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const series = trpc.user.stats.series.useQuery(
    { tokenId, start, end: new Date(end - 1), interval: 'day', timeZone },
    { staleTime: 5 * minutes },
  )
  if (series.error && !series.data) return <None />
  if (!series.data) return <Skeleton h="4" w="20" />
  const values = sumByDay(series.data.points, days)
  const total = values.reduce((sum, value) => sum + value, 0)
  return <Sparkline values={values} label={t('今天与前 6 天共 {amount}', { amount: quotaText(total) })} />
}
