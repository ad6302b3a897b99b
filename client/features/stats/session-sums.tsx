import { Box, Button, Flex, HStack, Heading, Skeleton, Table, Text } from '@chakra-ui/react'
import { logType } from '#core/statuses.ts'
import { useState } from 'react'
import { Link } from 'wouter'
import { Count, Money } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { formatPercent } from '../../lib/format.ts'
import { keepsRows } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import { type StatsInput, useLogLink } from './use-stats.ts'

type By = 'session' | 'agent' | 'project'

const namesOfBy = (): Record<By, string> => ({ session: t('会话'), agent: t('智能体'), project: t('项目') })

function useSums({ everyone, filters, range }: StatsInput, by: By, enabled: boolean) {
  const input = { by, ...filters, ...range }
  const all = trpc.admin.logs.sums.useQuery(input, { ...keepsRows, enabled: enabled && everyone })
  const own = trpc.user.logs.sums.useQuery(input, { ...keepsRows, enabled: enabled && !everyone })
  return everyone ? all : own
}

/** The others are asked for once they are looked at, or decide whether there is anything to show. */
function useAllSums(input: StatsInput, by: By) {
  const session = useSums(input, 'session', true)
  const isNone = session.data?.length === 0
  const agent = useSums(input, 'agent', by === 'agent' || isNone)
  const project = useSums(input, 'project', by === 'project' || isNone)
  const sums = { session, agent, project }
  const others = [agent, project]
  return {
    sums: sums[by],
    // What could not be fetched is not taken for nothing.
    isNone: isNone && others.every(({ data, error }) => !data?.length && !error),
    isKnown: session.data !== undefined || session.error !== null,
  }
}

/** What sessions, agents and projects cost in the period. Nothing is shown where no caller names any. */
export function SessionSums({ input }: { input: StatsInput }) {
  const [by, setBy] = useState<By>('session')
  const logLink = useLogLink(input)
  const { sums, isNone, isKnown } = useAllSums(input, by)
  const { data } = sums
  if (!isKnown || isNone) return null
  const names = namesOfBy()
  return (
    <Box layerStyle="panel" px="4" py="3" minW="0" opacity={sums.isPlaceholderData ? 0.5 : 1}>
      <Flex justify="space-between" wrap="wrap" gap="2" mb="2">
        <Heading as="h2" size="sm" fontWeight="normal">
          {t('按会话')}
        </Heading>
        <HStack gap="1" role="group" aria-label={t('合计方式')}>
          {(Object.keys(names) as By[]).map((id) => (
            <Button
              key={id}
              size="xs"
              variant={id === by ? 'subtle' : 'ghost'}
              aria-pressed={id === by}
              onClick={() => setBy(id)}
            >
              {names[id]}
            </Button>
          ))}
        </HStack>
      </Flex>
      {data === undefined ? (
        sums.error ? (
          <ErrorState error={sums.error} onRetry={() => void sums.refetch()} />
        ) : (
          <Skeleton h="24" />
        )
      ) : data.length === 0 ? (
        <Text color="fg.muted">{t('所选时间内没有')}</Text>
      ) : (
        <Table.ScrollArea maxH="80">
          <Table.Root size="sm" aria-label={names[by]}>
            <Table.Header>
              <Table.Row>
                <Table.ColumnHeader>{names[by]}</Table.ColumnHeader>
                <Table.ColumnHeader textAlign="end">{t('消费')}</Table.ColumnHeader>
                <Table.ColumnHeader textAlign="end">{t('调用次数')}</Table.ColumnHeader>
                <Table.ColumnHeader textAlign="end">{t('Token 数')}</Table.ColumnHeader>
                <Table.ColumnHeader textAlign="end">{t('缓存占比')}</Table.ColumnHeader>
                <Table.ColumnHeader>{t('最近调用')}</Table.ColumnHeader>
              </Table.Row>
            </Table.Header>
            <Table.Body>
              {data.map((sum) => (
                <Table.Row key={sum.name}>
                  <Table.Cell maxW="60" truncate title={sum.name}>
                    <Link href={logLink({ type: logType.consume, [by]: sum.name })}>{sum.name}</Link>
                  </Table.Cell>
                  <Table.Cell textAlign="end">
                    <Money quota={sum.quota} />
                  </Table.Cell>
                  <Table.Cell textAlign="end">
                    <Count value={sum.calls} />
                  </Table.Cell>
                  <Table.Cell textAlign="end">
                    <Count value={sum.promptTokens + sum.completionTokens} />
                  </Table.Cell>
                  <Table.Cell textAlign="end">
                    {sum.promptTokens === 0 ? '–' : formatPercent(sum.cachedTokens / sum.promptTokens)}
                  </Table.Cell>
                  <Table.Cell>
                    <Time value={sum.latest} />
                  </Table.Cell>
                </Table.Row>
              ))}
            </Table.Body>
          </Table.Root>
        </Table.ScrollArea>
      )}
    </Box>
  )
}
