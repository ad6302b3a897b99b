import { Server } from 'lucide-react'
import type { RouterOutputs } from '#server/app-router.ts'
import { Code } from '../../components/cells/names.tsx'
import { Count, Duration, None } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { Section } from '../../components/facts.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import { formatBytes } from '../../lib/format.ts'

type State = RouterOutputs['admin']['system']['state']
type Node = State['nodes'][number]

type Query = {
  data: State | undefined
  error: unknown
  isFetching: boolean
  refetch: () => unknown
}

const roleWords = (): Record<string, string> => ({ all: t('全部'), console: t('控制台'), relay: t('中继') })

/** A turn of the event loop that is later than this is felt by callers. */
const lateMs = 100
const nearlyFull = 0.1

const columns = (): Column<Node>[] => [
  {
    id: 'name',
    title: t('节点'),
    width: 130,
    grow: true,
    fixed: true,
    card: 'title',
    cell: ({ host, pid }) => <Code>{`${host}:${pid}`}</Code>,
  },
  {
    id: 'alive',
    title: t('状态'),
    width: 90,
    card: 'fact',
    cell: ({ alive, seenAt }) =>
      alive ? (
        <Status tone="good">{t('在线')}</Status>
      ) : (
        <Status tone="bad">
          {t('已退出')} <Time value={seenAt} />
        </Status>
      ),
  },
  { id: 'role', title: t('角色'), width: 60, cell: ({ role }) => roleWords()[role] ?? role },
  { id: 'version', title: t('版本'), width: 70, cell: ({ version }) => version },
  { id: 'started', title: t('启动时间'), width: 95, cell: ({ startedAt }) => <Time value={startedAt} /> },
  {
    id: 'calls',
    title: t('处理中'),
    width: 90,
    align: 'end',
    card: 'fact',
    cell: ({ figures }) => <Count value={figures.callsUnderWay} />,
  },
  {
    id: 'queue',
    title: t('等待入账'),
    width: 100,
    align: 'end',
    cell: ({ figures }) => <Count value={figures.ledgerQueue} />,
  },
  {
    id: 'delay',
    title: t('事件循环延迟'),
    width: 130,
    align: 'end',
    card: 'fact',
    cell: ({ figures }) => (
      <Duration milliseconds={figures.loopDelayMs} tone={figures.loopDelayMs > lateMs ? 'warning' : undefined} />
    ),
  },
  { id: 'memory', title: t('内存'), width: 80, align: 'end', cell: ({ figures }) => formatBytes(figures.memoryBytes) },
  {
    id: 'bodies',
    title: t('请求体内存'),
    hidden: true,
    width: 110,
    align: 'end',
    cell: ({ figures }) => formatBytes(figures.bodyBytes),
  },
  {
    id: 'connections',
    title: t('数据库连接'),
    width: 145,
    align: 'end',
    cell: ({ figures: { connections } }) =>
      connections.waiting > 0 ? (
        <Status tone="warning">{t('{count} 个在等待', { count: connections.waiting })}</Status>
      ) : (
        `${connections.open - connections.idle} / ${connections.open}`
      ),
  },
  {
    id: 'cooldowns',
    title: t('熔断'),
    width: 105,
    align: 'end',
    cell: ({ figures }) => <Count value={figures.cooldowns} />,
  },
  { id: 'disk', title: t('磁盘剩余'), width: 90, align: 'end', cell: ({ figures }) => <Disk disk={figures.disk} /> },
]

function Disk({ disk }: { disk: Node['figures']['disk'] }) {
  if (!disk) return <None />
  const text = formatBytes(disk.freeBytes)
  return disk.freeBytes < disk.totalBytes * nearlyFull ? <Status tone="bad">{text}</Status> : <>{text}</>
}

export function Nodes({ nodes }: { nodes: Query }) {
  return (
    <Section title={t('运行中的节点')}>
      <DataTable
        id="nodes"
        label={t('节点')}
        columns={columns()}
        rowId={({ id }) => id}
        rowLabel={({ host, pid }) => `${host}:${pid}`}
        query={{ ...nodes, data: nodes.data && { items: nodes.data.nodes } }}
        isMuted={({ alive }) => !alive}
        empty={<EmptyState icon={Server} title={t('没有节点')} />}
      />
    </Section>
  )
}
