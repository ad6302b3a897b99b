import { Box, Button, HStack } from '@chakra-ui/react'
import { ChartColumn, FlaskConical, KeyRound, RotateCw } from 'lucide-react'
import { Link } from 'wouter'
import { Count } from '../../components/cells/numbers.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { StatTag } from '../../components/stat-tag.tsx'
import { EmptyState, ErrorState, StaleNotice } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import type { Measure } from './chart-data.ts'
import { amountOf } from './chart-data.ts'
import { Charts } from './charts.tsx'
import { FailedChargesNotice } from './failed-charges-notice.tsx'
import { AttentionList } from './attention.tsx'
import { useSession } from '../../lib/session.ts'
import { DashboardFilters } from './filters.tsx'
import { SessionSums } from './session-sums.tsx'
import { Tiles } from './tiles.tsx'
import type { DashboardValues, StatsInput, Totals } from './use-stats.ts'
import {
  blankFilters,
  useDashboardState,
  useLive,
  useLogLink,
  useOverview,
  useSeries,
  useStatsInput,
} from './use-stats.ts'

const measureOf = (text: string): Measure => (text in amountOf ? (text as Measure) : 'spend')
const isFiltered = (values: DashboardValues): boolean =>
  (Object.keys(blankFilters) as (keyof typeof blankFilters)[]).some((name) => values[name] !== '')

/** Those that failed too: a period of nothing else is the one to look at. */
const madeIn = ({ calls, errors }: Pick<Totals, 'calls' | 'errors'>): number => calls + errors

export function Page() {
  const [values, set] = useDashboardState()
  const { isAdmin } = useSession()
  const input = useStatsInput(values)
  const overview = useOverview(input)
  const series = useSeries(input)
  const logLink = useLogLink(input)
  const { data } = overview
  // Of figures and charts each may be missing; what is there stays.
  const stale = (data && overview.error) ?? (series.data && series.error)
  const isEmpty = data !== undefined && !overview.isPlaceholderData && madeIn(data.current) === 0
  const isUntouched = isEmpty && madeIn(data.previous) === 0
  const retry = () => {
    void overview.refetch()
    void series.refetch()
  }

  return (
    <Frame
      title={t('数据看板')}
      extra={
        <>
          <LiveTags input={input} />
          <IconButton
            icon={RotateCw}
            label={t('刷新')}
            variant="outline"
            loading={data !== undefined && (overview.isFetching || series.isFetching)}
            onClick={input.refresh}
          />
        </>
      }
    >
      <FailedChargesNotice />
      {isAdmin && <AttentionList />}
      <DashboardFilters values={values} onChange={set} />
      {stale && <StaleNotice error={stale} onRetry={retry} />}
      {overview.error && !data ? (
        <ErrorState error={overview.error} onRetry={retry} />
      ) : (
        <>
          {!isUntouched && <Tiles overview={data} logLink={logLink} isStale={overview.isPlaceholderData} />}
          {isEmpty ? (
            <Box layerStyle="panel">
              <Empty
                filtered={isFiltered(values)}
                onClear={() => set(blankFilters)}
                {...(values.range !== '30d' && { onLonger: () => set({ range: '30d' }) })}
              />
            </Box>
          ) : series.error && !series.data ? (
            <Box layerStyle="panel">
              <ErrorState error={series.error} onRetry={() => void series.refetch()} />
            </Box>
          ) : (
            <Charts
              data={series.data}
              input={input}
              measure={measureOf(values.measure)}
              onMeasure={(measure) => set({ measure }, { replace: true })}
              isStale={series.isPlaceholderData}
            />
          )}
          {!isEmpty && <SessionSums input={input} />}
        </>
      )}
    </Frame>
  )
}

/** The last minute, as it goes on. */
function LiveTags({ input }: { input: StatsInput }) {
  const { data, isError, isPlaceholderData } = useLive(input)
  const tags = [
    { id: 'RPM', value: data?.rpm, tip: t('最近一分钟的调用次数') },
    { id: 'TPM', value: data?.tpm, tip: t('最近一分钟的 Token 数') },
  ]
  return (
    <HStack gap="2" wrap="wrap">
      {tags.map(({ id, value, tip }) => (
        <StatTag key={id} label={id} tip={tip} isStale={isPlaceholderData}>
          {value === undefined ? isError ? '–' : undefined : <Count value={value} />}
        </StatTag>
      ))}
    </HStack>
  )
}

type EmptyProps = { filtered: boolean; onClear: () => void; onLonger?: () => void }

function Empty({ filtered, onClear, onLonger }: EmptyProps) {
  // What the checklist of a new site begins with.
  const { isRoot } = useSession()
  const { data: steps } = trpc.admin.site.firstSteps.useQuery(undefined, { ...reportedWhenFailed, enabled: isRoot })
  if (filtered) {
    return (
      <EmptyState
        icon={ChartColumn}
        title={t('没有符合筛选的调用')}
        action={<Button onClick={onClear}>{t('清除筛选')}</Button>}
      />
    )
  }
  if (steps && !steps.channel) {
    return (
      <EmptyState
        icon={ChartColumn}
        title={t('这段时间没有调用')}
        description={t('先添加一个渠道，调用才有去处。')}
        action={
          <Button asChild variant="solid">
            <Link href="/channel/add">{t('添加渠道')}</Link>
          </Button>
        }
      />
    )
  }
  return (
    <EmptyState
      icon={ChartColumn}
      title={t('这段时间没有调用')}
      description={t('新建一个令牌来调用模型，或先在操练场试一试，这里就会有数据。')}
      action={
        <HStack gap="2" wrap="wrap" justify="center">
          <Button asChild variant="solid">
            <Link href="/app/tokens?form=new">
              <KeyRound aria-hidden />
              {t('新建令牌')}
            </Link>
          </Button>
          <Button asChild>
            <Link href="/playground">
              <FlaskConical aria-hidden />
              {t('操练场')}
            </Link>
          </Button>
          {onLonger && (
            <Button variant="ghost" onClick={onLonger}>
              {t('查看近 30 天')}
            </Button>
          )}
        </HStack>
      }
    />
  )
}
