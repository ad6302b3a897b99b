import { Text } from '@chakra-ui/react'
import { ChannelCell, ModelName, UserCell } from '../../components/cells/names.tsx'
import { Count, Duration, Money, None } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { csvMilliseconds, csvQuota } from '../../components/data-table/csv-amounts.ts'
import type { Column } from '../../components/data-table/types.ts'
import { t } from '../../i18n/t.ts'
import { formatTime } from '../../lib/format.ts'
import { costText } from '../../lib/margin.ts'
import { nanosPerDollar } from '#core/pricing/buying-price.ts'
import { logType } from '#core/statuses.ts'
import { AttemptChain } from './attempts.tsx'
import { contentText, detailsOf, tokenNameOf } from './details.ts'
import { isCall } from './kinds.ts'
import { StateCell, firstTokenTone, stateOf, totalTone } from './state.tsx'
import type { LogRow } from './use-logs.ts'

/** A call is named by its model, anything else by its text. */
function Subject({ log }: { log: LogRow }) {
  if (isCall(log.type)) return <ModelName name={log.modelName} used={detailsOf(log).upstream_model_name} />
  if (log.type !== logType.error) return <span data-tip={contentText(log)}>{contentText(log)}</span>
  return (
    <span data-tip={contentText(log)}>
      <Text as="span" fontFamily="mono" fontSize="xs">
        {log.modelName}
      </Text>{' '}
      <Text as="span" color="fg.muted">
        {contentText(log)}
      </Text>
    </span>
  )
}

function ChannelOf({ log }: { log: LogRow }) {
  const { attempts } = detailsOf(log)
  if (attempts.length > 1) return <AttemptChain attempts={attempts} />
  return <ChannelCell channel={{ id: log.channelId, name: log.channelName }} />
}

/** Nothing takes no time: without one it was not measured. */
const hasTime = (log: LogRow): boolean => isCall(log.type) || (log.type === logType.error && log.useTimeMs > 0)

type Numbered = { id: string; title: string; of: (log: LogRow) => number | undefined }

/** Counts that only calls have. */
const counted = ({ id, title, of }: Numbered): Column<LogRow> => ({
  id,
  title,
  cell: (log) => (isCall(log.type) ? <Count value={of(log)} /> : <None />),
  csv: (log) => (isCall(log.type) ? of(log) : undefined),
  width: 76,
  align: 'end',
  sortable: id !== 'cached',
})

const adminColumns = (): Column<LogRow>[] => [
  {
    id: 'user',
    title: t('用户'),
    cell: (log) => (log.username ? <UserCell user={{ id: log.userId, username: log.username }} /> : <None />),
    csv: (log) => log.username,
    width: 90,
  },
  {
    id: 'channel',
    title: t('所用渠道'),
    cell: (log) => <ChannelOf log={log} />,
    csv: (log) => (log.channelId > 0 ? `#${log.channelId} ${log.channelName}` : ''),
    width: 112,
  },
]

const timeColumns = (): Column<LogRow>[] => [
  {
    id: 'first',
    title: t('首字'),
    cell: (log) => {
      const { firstTokenMs } = detailsOf(log)
      return firstTokenMs === null || !log.isStream ? (
        <None />
      ) : (
        <Duration milliseconds={firstTokenMs} tone={firstTokenTone(firstTokenMs)} />
      )
    },
    ...csvMilliseconds((log: LogRow) => (log.isStream ? detailsOf(log).firstTokenMs : undefined)),
    width: 74,
    align: 'end',
  },
  {
    id: 'total',
    title: t('用时'),
    cell: (log) =>
      hasTime(log) ? <Duration milliseconds={log.useTimeMs} tone={totalTone(log.useTimeMs)} /> : <None />,
    ...csvMilliseconds((log: LogRow) => (hasTime(log) ? log.useTimeMs : undefined)),
    width: 84,
    align: 'end',
    sortable: true,
  },
]

/** What a call took; what a top-up or a gift brought has a sign. */
function Cost({ log }: { log: LogRow }) {
  if (isCall(log.type)) return <Money quota={log.quota} digits={6} />
  if (log.quota === 0) return <None />
  return (
    <Text as="span" color="good.fg">
      {log.quota > 0 && '+'}
      <Money quota={log.quota} digits={2} />
    </Text>
  )
}

/** In a file, where no sign and no colour distinguishes a charge from a credit, each has a column that can be added up. */
export const costColumn = (): Column<LogRow> => ({
  id: 'cost',
  title: t('费用'),
  cell: (log) => <Cost log={log} />,
  csvColumns: [
    { title: t('费用'), ...csvQuota(({ type, quota }: LogRow) => (isCall(type) ? quota : undefined)) },
    { title: t('入账'), ...csvQuota(({ type, quota }: LogRow) => (isCall(type) ? undefined : quota || undefined)) },
  ],
  width: 94,
  align: 'end',
  sortable: true,
  card: 'fact',
})

/** What the operator paid; the log's rows carry it for administrators only. */
const operatorCostColumn = (): Column<LogRow> => ({
  id: 'operator-cost',
  title: t('成本'),
  cell: ({ cost }) => (cost === null || cost === undefined ? <None /> : <span>{costText(cost)}</span>),
  csv: ({ cost }) => (cost === null || cost === undefined ? undefined : cost / nanosPerDollar),
  csvUnit: () => 'USD',
  width: 94,
  align: 'end',
  hidden: true,
})

const hiddenColumns = (): Column<LogRow>[] => [
  { id: 'group', title: t('分组'), cell: (log) => log.group || <None />, csv: (log) => log.group, hidden: true },
  { id: 'ip', title: 'IP', cell: (log) => log.clientIp || <None />, csv: (log) => log.clientIp, hidden: true },
  {
    id: 'request',
    title: t('请求 ID'),
    cell: (log) => log.requestId || <None />,
    csv: (log) => log.requestId,
    width: 220,
    hidden: true,
  },
]

export const logColumns = (isAdmin: boolean): Column<LogRow>[] => [
  {
    id: 'time',
    title: t('时间'),
    cell: (log) => <Time value={log.createdAt} exact="short" />,
    csv: (log) => formatTime(log.createdAt),
    width: 118,
    card: 'fact',
  },
  {
    id: 'state',
    title: t('状态'),
    cell: (log) => <StateCell log={log} />,
    csv: (log) => stateOf(log).words,
    width: 100,
    card: 'fact',
  },
  {
    id: 'model',
    title: t('模型 / 详情'),
    cell: (log) => <Subject log={log} />,
    csv: (log) => log.modelName || contentText(log),
    width: 170,
    grow: true,
    fixed: true,
    card: 'title',
  },
  {
    id: 'token',
    title: t('令牌'),
    cell: (log) => tokenNameOf(log) || <None />,
    csv: tokenNameOf,
    width: 100,
  },
  ...(isAdmin ? adminColumns() : []),
  counted({ id: 'input', title: t('输入'), of: (log) => log.promptTokens }),
  counted({ id: 'cached', title: t('缓存'), of: (log) => detailsOf(log).cache_tokens || undefined }),
  counted({ id: 'output', title: t('输出'), of: (log) => log.completionTokens }),
  ...timeColumns(),
  costColumn(),
  ...(isAdmin ? [operatorCostColumn()] : []),
  ...hiddenColumns(),
]
