import { SimpleGrid } from '@chakra-ui/react'
import type { RouterOutputs } from '#server/app-router.ts'
import { Money } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { StatTile } from '../../components/stat-tile.tsx'
import { t } from '../../i18n/t.ts'
import { formatBytes, formatDuration, formatInteger } from '../../lib/format.ts'

export type SystemState = RouterOutputs['admin']['system']['state']

/** What is known of an answer that has not come yet is nothing. */
export function Tiles({ state }: { state: SystemState | undefined }) {
  const loading = state === undefined
  const alive = state?.nodes.filter(({ alive: lives }) => lives) ?? []
  const sum = (read: (node: SystemState['nodes'][number]) => number) =>
    alive.reduce((total, node) => total + read(node), 0)
  const slowest = Math.max(0, ...alive.map(({ figures }) => figures.loopDelayMs))
  const gone = (state?.nodes.length ?? 0) - alive.length
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
        value={formatInteger(sum(({ figures }) => figures.callsUnderWay))}
        loading={loading}
        note={t('{count} 项等待入账', { count: formatInteger(sum(({ figures }) => figures.ledgerQueue)) })}
      />
      <StatTile
        label={t('冻结的额度')}
        value={<Money quota={state?.holds.amount} />}
        loading={loading}
        note={<HoldsNote holds={state?.holds} />}
      />
      <StatTile
        label={t('节点租用的额度')}
        value={<Money quota={state?.leases.amount} />}
        loading={loading}
        note={t('{count} 个租约', { count: formatInteger(state?.leases.count ?? 0) })}
      />
      <StatTile
        label={t('数据库大小')}
        value={formatBytes(state?.database.bytes ?? 0)}
        loading={loading}
        note={state && `PostgreSQL ${state.database.version.split(' ')[0] ?? ''}`}
      />
      <StatTile
        label={t('数据库连接')}
        value={formatInteger(state?.database.connections ?? 0)}
        loading={loading}
        note={t('最多 {count}', { count: formatInteger(state?.database.mostConnections ?? 0) })}
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
