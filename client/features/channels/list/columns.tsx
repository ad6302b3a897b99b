import { chakra } from '@chakra-ui/react'
import { Tags } from '../../../components/cells/names.tsx'
import { Count, Money, None } from '../../../components/cells/numbers.tsx'
import { Time } from '../../../components/cells/time.tsx'
import { csvMilliseconds, csvQuota } from '../../../components/data-table/csv-amounts.ts'
import type { Column } from '../../../components/data-table/types.ts'
import { t } from '../../../i18n/t.ts'
import { costText, marginText } from '../../../lib/margin.ts'
import { reportedWhenFailed } from '../../../lib/query.ts'
import { trpc } from '../../../lib/trpc.ts'
import { nanosPerDollar } from '#core/pricing/buying-price.ts'
import { typeLabel } from '../types.ts'
import type { ChannelActions } from '../use-channel-actions.ts'
import type { Probe } from '../tests/result-cache.ts'
import { ChannelStatus, HealthStrip, ResponseTime, statusText } from './cells.tsx'
import type { Drift } from './drift-mark.tsx'
import { InlineNumber } from './inline-number.tsx'
import type { Opening } from './row-cells.tsx'
import { Groups, Name, Operate, Part, TagStatus, upstreamBalance, Used } from './row-cells.tsx'
import type { Cooldown } from './use-cooldowns.ts'
import type { Row } from './rows.ts'
import { channelsOf, nameOf } from './rows.ts'

type ColumnsOf = {
  actions: ChannelActions
  opening: Opening
  probesOf: ReadonlyMap<number, Probe[]>
  driftOf: ReadonlyMap<number, Drift>
  unpricedOf: ReadonlyMap<number, readonly string[]>
  cooldownsOf: ReadonlyMap<number, Cooldown[]>
  /** All channels on the page, in portions that fit into an address. */
  idsOfPage: readonly number[][]
  toggleTag: (tag: string) => void
}

/** The server orders by the names of these columns. */
export function channelColumns(given: ColumnsOf): Column<Row>[] {
  const { actions, opening, probesOf, driftOf, unpricedOf, cooldownsOf, idsOfPage, toggleTag } = given
  return [
    {
      id: 'id',
      title: 'ID',
      width: 58,
      sortable: true,
      cell: (row) => (row.kind === 'tag' ? null : <chakra.span color="fg.muted">{row.id}</chakra.span>),
      csv: (row) => row.id,
    },
    {
      id: 'name',
      title: t('名称'),
      width: 140,
      grow: true,
      fixed: true,
      sortable: true,
      card: 'title',
      cell: (row) => (
        <Name
          row={row}
          toggleTag={toggleTag}
          drift={row.kind === 'channel' ? driftOf.get(row.id) : undefined}
          unpriced={row.kind === 'channel' ? unpricedOf.get(row.id) : undefined}
          opening={opening}
        />
      ),
      csv: nameOf,
    },
    {
      id: 'group',
      title: t('分组'),
      width: 106,
      cell: (row) => <Groups of={row.kind === 'tag' ? row.groups : row.channel.groups} />,
      csv: (row) => (row.kind === 'tag' ? row.groups : row.channel.groups).join(','),
    },
    {
      id: 'type',
      title: t('类型'),
      width: 126,
      sortable: true,
      cell: (row) => row.kind === 'channel' && <Part tip>{typeLabel(row.channel.type)}</Part>,
      csv: (row) => (row.kind === 'channel' ? typeLabel(row.channel.type) : ''),
    },
    {
      id: 'status',
      title: t('状态'),
      width: 92,
      sortable: true,
      card: 'fact',
      cell: (row) =>
        row.kind === 'tag' ? (
          <TagStatus row={row} />
        ) : (
          <ChannelStatus of={row.channel} cooldowns={cooldownsOf.get(row.id)} />
        ),
      csv: (row) => (row.kind === 'channel' ? statusText(row.channel.status) : ''),
    },
    {
      id: 'health',
      title: t('健康'),
      width: 114,
      card: 'fact',
      cell: (row) => (row.kind === 'channel' ? <HealthStrip probes={probesOf.get(row.id)} /> : <None />),
    },
    {
      id: 'responseTimeMs',
      title: t('响应时间'),
      width: 96,
      sortable: true,
      cell: (row) =>
        row.kind === 'tag' ? (
          <ResponseTime milliseconds={row.responseTimeMs} />
        ) : (
          <ResponseTime milliseconds={row.channel.responseTimeMs} testedAt={row.channel.testedAt} />
        ),
      ...csvMilliseconds((row: Row) => (row.kind === 'tag' ? row.responseTimeMs : row.channel.responseTimeMs)),
    },
    {
      id: 'usedQuota',
      title: t('已用 / 余额'),
      width: 134,
      align: 'end',
      sortable: true,
      card: 'fact',
      cell: (row) =>
        row.kind === 'tag' ? (
          <Money quota={row.usedQuota} />
        ) : (
          <Used channel={row.channel} onUpdate={() => actions.updateBalance(row.channel)} />
        ),
      csvColumns: [
        {
          title: t('已用额度'),
          ...csvQuota((row: Row) => (row.kind === 'tag' ? row.usedQuota : row.channel.usedQuota)),
        },
        { title: t('余额'), csv: (row) => (row.kind === 'channel' ? upstreamBalance(row.channel) : '') },
      ],
    },
    ...figureColumns(actions),
    ...hiddenColumns(idsOfPage),
    {
      id: 'operate',
      title: t('操作'),
      width: 76,
      cell: (row) => <Operate row={row} opening={opening} />,
    },
  ]
}

const figureColumns = (actions: ChannelActions): Column<Row>[] => [
  {
    id: 'priority',
    title: t('优先级'),
    width: 78,
    sortable: true,
    align: 'end',
    cell: (row) => (
      <InlineNumber
        kind="priority"
        label={t('{name} 的优先级', { name: nameOf(row) })}
        value={row.kind === 'tag' ? row.priority : row.channel.priority}
        save={(priority) =>
          row.kind === 'tag' ? actions.editTag({ tag: row.tag, priority }) : actions.setPriority(row.id, priority)
        }
      />
    ),
    csv: (row) => (row.kind === 'tag' ? row.priority : row.channel.priority),
  },
  {
    id: 'weight',
    title: t('权重'),
    width: 78,
    sortable: true,
    align: 'end',
    cell: (row) => (
      <InlineNumber
        kind="weight"
        label={t('{name} 的权重', { name: nameOf(row) })}
        value={row.kind === 'tag' ? row.weight : row.channel.weight}
        save={(weight) =>
          row.kind === 'tag' ? actions.editTag({ tag: row.tag, weight }) : actions.setWeight(row.id, weight)
        }
      />
    ),
    csv: (row) => (row.kind === 'tag' ? row.weight : row.channel.weight),
  },
]

type MarginProps = { row: Row; idsOfPage: readonly number[][] }

/** Of the last thirty days; asked for once the column is shown, for all rows of the page together. */
function Margin({ row, idsOfPage }: MarginProps) {
  const answers = trpc.useQueries((one) =>
    idsOfPage.map((channelIds) => one.admin.prices.channelMargins({ channelIds }, reportedWhenFailed)),
  )
  const ids = new Set(channelsOf([row]).map(({ id }) => id))
  const own = answers.flatMap(({ data = [] }) => data.filter(({ channelId }) => ids.has(channelId)))
  if (own.length === 0) return <None />
  const cost = own.reduce((sum, one) => sum + one.cost, 0)
  const costedQuota = own.reduce((sum, one) => sum + one.costedQuota, 0)
  return <span data-tip={t('毛利只计算已知进价的调用。')}>{marginText({ cost, costedQuota })}</span>
}

const usedCostOf = (row: Row): number => channelsOf([row]).reduce((sum, { usedCost }) => sum + usedCost, 0)

const hiddenColumns = (idsOfPage: readonly number[][]): Column<Row>[] => [
  {
    id: 'usedCost',
    title: t('成本'),
    width: 104,
    align: 'end',
    hidden: true,
    cell: (row) => (usedCostOf(row) === 0 ? <None /> : <span>{costText(usedCostOf(row))}</span>),
    csv: (row) => usedCostOf(row) / nanosPerDollar,
    csvUnit: () => 'USD',
  },
  {
    id: 'margin',
    title: t('近 30 天毛利'),
    width: 150,
    align: 'end',
    hidden: true,
    cell: (row) => <Margin row={row} idsOfPage={idsOfPage} />,
  },
  {
    id: 'models',
    title: t('模型数'),
    width: 88,
    align: 'end',
    hidden: true,
    cell: (row) =>
      row.kind === 'channel' && (
        <chakra.span data-tip={row.channel.models.slice(0, 30).join('\n')}>
          <Count value={row.channel.models.length} />
        </chakra.span>
      ),
    csv: (row) => (row.kind === 'channel' ? row.channel.models.join(',') : ''),
  },
  {
    id: 'tag',
    title: t('标签'),
    width: 120,
    hidden: true,
    cell: (row) => row.kind === 'channel' && (row.channel.tag ? <Tags values={[row.channel.tag]} /> : <None />),
    csv: (row) => (row.kind === 'tag' ? row.tag : row.channel.tag),
  },
  {
    id: 'testedAt',
    title: t('测试时间'),
    width: 120,
    hidden: true,
    cell: (row) => row.kind === 'channel' && <Time value={row.channel.testedAt} />,
    csv: (row) => (row.kind === 'channel' ? row.channel.testedAt?.toISOString() : ''),
  },
  {
    id: 'createdAt',
    title: t('创建时间'),
    width: 120,
    hidden: true,
    cell: (row) => row.kind === 'channel' && <Time value={row.channel.createdAt} />,
    csv: (row) => (row.kind === 'channel' ? row.channel.createdAt.toISOString() : ''),
  },
]
