import { SimpleGrid } from '@chakra-ui/react'
import type { RouterOutputs } from '#server/app-router.ts'
import { Count, Money, None } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { StatTile } from '../../components/stat-tile.tsx'
import { t } from '../../i18n/t.ts'
import { formatBytes, formatDuration, formatInteger } from '../../lib/format.ts'

type State = RouterOutputs['admin']['system']['state']
type Node = State['nodes'][number]
/** Processes of an earlier version answer and write their rows while an upgrade goes on: what they do not know of is missing. */
export type NodeState = Omit<Node, 'figures'> & { figures: Partial<Node['figures']> }
export type SystemState = Partial<Omit<State, 'nodes'>> & { nodes?: NodeState[] }

/** What is known of an answer that has not come yet is nothing. */
export function Tiles({ state }: { state: SystemState | undefined }) {
  const loading = state === undefined
  const alive = state?.nodes?.filter(({ alive: lives }) => lives) ?? []
  const sum = (name: 'callsUnderWay' | 'ledgerQueue') =>
    alive.reduce((total, { figures }) => total + (figures[name] ?? 0), 0)
  const slowest = Math.max(0, ...alive.map(({ figures }) => figures.loopDelayMs ?? 0))
  const gone = (state?.nodes?.length ?? 0) - alive.length
  return (
    <SimpleGrid columns={{ base: 2, md: 3, xl: 6 }} gap="3">
      <StatTile
        label={t('在线节点')}
        value={formatInteger(alive.length)}
        loading={loading}
        note={
          gone > 0
            ? t('{count} 个已退出', { count: gone })
            : t('事件循环最多延迟 {time}', { time: formatDuration(slowest) })
        }
      />
      <StatTile
        label={t('正在处理的请求')}
        value={formatInteger(sum('callsUnderWay'))}
        loading={loading}
        note={t('{count} 项等待入账', { count: formatInteger(sum('ledgerQueue')) })}
      />
      <StatTile
        label={t('冻结的额度')}
        value={<Money quota={state?.holds?.amount} />}
        loading={loading}
        note={<HoldsNote holds={state?.holds} />}
      />
      <StatTile
        label={t('节点租用的额度')}
        value={<Money quota={state?.leases?.amount} />}
        loading={loading}
        note={t('{count} 个租约', { count: formatInteger(state?.leases?.count ?? 0) })}
      />
      <StatTile
        label={t('数据库大小')}
        value={state?.database ? formatBytes(state.database.bytes) : <None />}
        loading={loading}
        note={loading || (state.database && `PostgreSQL ${state.database.version.split(' ')[0] ?? ''}`)}
      />
      <StatTile
        label={t('数据库连接')}
        value={<Count value={state?.database?.connections} />}
        loading={loading}
        note={
          loading || (state.database && t('最多 {count}', { count: formatInteger(state.database.mostConnections) }))
        }
      />
    </SimpleGrid>
  )
}

function HoldsNote({ holds }: { holds: SystemState['holds'] | undefined }) {
  if (!holds) return null
  if (holds.waiting > 0) return <>{t('其中 {count} 笔等待人工入账', { count: holds.waiting })}</>
  if (!holds.oldest) return <>{t('{count} 笔', { count: holds.count })}</>
  return (
    <>
      {t('{count} 笔', { count: formatInteger(holds.count) })} · {t('最早')} <Time value={holds.oldest} />
    </>
  )
}
