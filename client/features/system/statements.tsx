import { HStack, Skeleton, Text } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { Count, Duration } from '../../components/cells/numbers.tsx'
import { Section } from '../../components/facts.tsx'
import { Status } from '../../components/status.tsx'
import { t } from '../../i18n/t.ts'
import { Line, Lines } from './lines.tsx'
import type { SystemState } from './tiles.tsx'

type Costs = NonNullable<SystemState['statementCosts']>

function Statement({ statement, children }: { statement: string; children: ReactNode }) {
  return (
    <Line>
      <HStack gap="3" textStyle="xs" color="fg.muted" wrap="wrap">
        {children}
      </HStack>
      <Text htmlTranslate="no" fontFamily="mono" textStyle="xs" overflowWrap="anywhere">
        {statement}
      </Text>
    </Line>
  )
}

/** What the database has been busy with for over a second. */
export function SlowStatements({ statements }: { statements: SystemState['slowStatements'] }) {
  return (
    <Section title={t('正在执行的慢查询')}>
      {!statements ? (
        <Skeleton h="12" />
      ) : statements.length === 0 ? (
        <Text textStyle="sm" color="fg.muted">
          {t('没有超过 1 秒的查询')}
        </Text>
      ) : (
        <Lines>
          {statements.map(({ pid, seconds, locked, statement }) => (
            <Statement key={pid} statement={statement}>
              <Duration milliseconds={seconds * 1000} tone="warning" />
              {locked && <Status tone="bad">{t('等待锁')}</Status>}
              <span>{`PID ${pid}`}</span>
            </Statement>
          ))}
        </Lines>
      )}
    </Section>
  )
}

/** Where the database's time went, for installations with `pg_stat_statements`. */
export function StatementCosts({ costs }: { costs: Costs }) {
  return (
    <Section title={t('耗时最多的查询')}>
      <Lines>
        {costs.map(({ statement, calls, meanMs, totalMs }) => (
          <Statement key={statement} statement={statement}>
            <span>
              {t('共')} <Duration milliseconds={totalMs} />
            </span>
            <span>
              {t('平均')} <Duration milliseconds={meanMs} />
            </span>
            <span>
              {t('调用次数')} <Count value={calls} />
            </span>
          </Statement>
        ))}
      </Lines>
    </Section>
  )
}
