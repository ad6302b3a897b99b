import { SimpleGrid, Stack } from '@chakra-ui/react'
import { RotateCw } from 'lucide-react'
import { IconButton } from '../../components/icon-button.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { ErrorState, StaleNotice } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { trpc } from '../../lib/trpc.ts'
import { Jobs } from './jobs.tsx'
import { LogGrowth } from './log-growth.tsx'
import { Nodes } from './nodes.tsx'
import { SlowStatements, StatementCosts } from './statements.tsx'
import { type SystemState, Tiles } from './tiles.tsx'

const refreshMs = 5000

/** How the installation is doing, for whoever runs it. */
export function Page() {
  const state = trpc.admin.system.state.useQuery(undefined, { refetchInterval: refreshMs })
  const data: SystemState | undefined = state.data
  const refresh = () => void state.refetch()
  return (
    <Frame
      title={t('运行状态')}
      description={t('各节点、定时任务、冻结和租用的额度与数据库的当前情况，每 5 秒更新。')}
      extra={<IconButton icon={RotateCw} label={t('刷新')} variant="outline" onClick={refresh} />}
    >
      {state.error && !data ? (
        <ErrorState error={state.error} onRetry={refresh} />
      ) : (
        <Stack gap="6">
          {state.error && <StaleNotice error={state.error} onRetry={refresh} />}
          <Tiles state={data} />
          <Nodes nodes={state}>
            <SimpleGrid columns={{ base: 1, xl: 2 }} gap="6" alignItems="start">
              <Jobs />
              <LogGrowth logs={data?.logs} />
            </SimpleGrid>
            <SlowStatements statements={data?.slowStatements} />
            {data?.statementCosts && <StatementCosts costs={data.statementCosts} />}
          </Nodes>
        </Stack>
      )}
    </Frame>
  )
}
