import { Skeleton } from '@chakra-ui/react'
import { Server } from 'lucide-react'
import type { ReactNode } from 'react'
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
import { useLastCount } from '../../lib/last-count.ts'
import { createStoredJson } from '../../lib/stored.ts'
import type { NodeState, SystemState } from './tiles.tsx'

type Figures = NodeState['figures']

type Query = {
  data: SystemState | undefined
  error: unknown
  isFetching: boolean
  refetch: () => unknown
}

const roleWords = (): Record<string, string> => ({ all: t('全部'), console: t('控制台'), relay: t('中继') })

/** A turn of the event loop that is later than this is felt by callers. */
const lateMs = 100
const nearlyFull = 0.1

/** Nothing where the process did not say it. */
const figure =
  <Name extends keyof Figures>(name: Name, show: (value: NonNullable<Figures[Name]>) => ReactNode) =>
  ({ figures }: NodeState): ReactNode => {
    const value = figures[name]
    return value === undefined || value === null ? <None /> : show(value)
  }

export const nodeColumns = (): Column<NodeState>[] => [
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
    cell: figure('callsUnderWay', (value) => <Count value={value} />),
  },
  {
    id: 'queue',
    title: t('等待入账'),
    width: 100,
    align: 'end',
    cell: figure('ledgerQueue', (value) => <Count value={value} />),
  },
  {
    id: 'delay',
    title: t('事件循环延迟'),
    width: 130,
    align: 'end',
    card: 'fact',
    cell: figure('loopDelayMs', (value) => (
      <Duration milliseconds={value} tone={value > lateMs ? 'warning' : undefined} />
    )),
  },
  { id: 'memory', title: t('内存'), width: 80, align: 'end', cell: figure('memoryBytes', formatBytes) },
  {
    id: 'bodies',
    title: t('请求体内存'),
    hidden: true,
    width: 110,
    align: 'end',
    cell: figure('bodyBytes', formatBytes),
  },
  {
    id: 'connections',
    title: t('数据库连接'),
    width: 145,
    align: 'end',
    cell: figure('connections', ({ waiting, open, idle }) =>
      waiting > 0 ? (
        <Status tone="warning">{t('{count} 个在等待', { count: waiting })}</Status>
      ) : (
        `${open - idle} / ${open}`
      ),
    ),
  },
  {
    id: 'cooldowns',
    title: t('熔断'),
    width: 105,
    align: 'end',
    cell: figure('cooldowns', (value) => <Count value={value} />),
  },
  { id: 'disk', title: t('磁盘剩余'), width: 90, align: 'end', cell: figure('disk', (disk) => <Disk {...disk} />) },
]

function Disk({ freeBytes, totalBytes }: NonNullable<Figures['disk']>) {
  const text = formatBytes(freeBytes)
  return freeBytes < totalBytes * nearlyFull ? <Status tone="bad">{text}</Status> : <>{text}</>
}

const lastCount = createStoredJson<number | null>('system-nodes', null)

/** `children` stand below: where nobody knows yet how many rows there will be, once these are there. */
export function Nodes({ nodes, children }: { nodes: Query; children: ReactNode }) {
  const known = useLastCount(lastCount, nodes.data?.nodes?.length)
  const rows = known ?? 1
  return (
    <>
      <Section title={t('运行中的节点')}>
        {nodes.data ? (
          <DataTable
            id="nodes"
            label={t('节点')}
            columns={nodeColumns()}
            rowId={({ id }) => id}
            rowLabel={({ host, pid }) => `${host}:${pid}`}
            query={{ ...nodes, data: { items: nodes.data.nodes ?? [] } }}
            isMuted={({ alive }) => !alive}
            empty={<EmptyState icon={Server} title={t('没有节点')} />}
          />
        ) : (
          // The bar above the table, its head and its rows.
          <Skeleton h={{ base: `${rows * 133}px`, sm: `${82 + rows * 40}px` }} borderRadius="l3" aria-busy />
        )}
      </Section>
      {(nodes.data !== undefined || known !== null) && children}
    </>
  )
}
