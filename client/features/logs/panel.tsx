import { Button, Skeleton, Stack, Text } from '@chakra-ui/react'
import { SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import { logType } from '#core/statuses.ts'
import { Code, ModelName } from '../../components/cells/names.tsx'
import { Money } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { DetailPanel } from '../../components/detail-panel.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { refusalCode } from '../../lib/errors.ts'
import { AttemptList } from './attempts.tsx'
import { CallPanel } from './call-panel.tsx'
import { contentText, detailsOf } from './details.ts'
import { isCall, kindOf } from './kinds.ts'
import { LogOrigin } from './origin.tsx'
import { StateCell } from './state.tsx'
import type { LogRow } from './use-logs.ts'

type LogPanelProps = {
  openId: string | undefined
  log: LogRow | undefined
  error: unknown
  onRetry: () => void
  onClose: () => void
  onPrevious: (() => void) | undefined
  onNext: (() => void) | undefined
  /** Shows every row of one request. */
  onRequest: (requestId: string) => void
}

const titleOf = (log: LogRow): ReactNode =>
  isCall(log.type) || log.type === logType.error ? <ModelName name={log.modelName} /> : t(kindOf(log.type).words)

/** One row of the log, drawn by what it is about. */
export function LogPanel({ openId, log, error, onRetry, onRequest, ...panel }: LogPanelProps) {
  return (
    <DetailPanel
      {...panel}
      openId={openId}
      label={t('日志详情')}
      printable={log !== undefined}
      title={log ? titleOf(log) : t('日志详情')}
      subtitle={log && <Time value={log.createdAt} exact />}
    >
      {log ? (
        <Body log={log} onRequest={onRequest} />
      ) : refusalCode(error) === 'not_found' ? (
        <EmptyState
          icon={SearchX}
          title={t('日志不存在')}
          description={t('它可能已被清理，或地址有误。')}
          action={<Button onClick={panel.onClose}>{t('返回日志')}</Button>}
        />
      ) : error ? (
        <ErrorState error={error} onRetry={onRetry} />
      ) : (
        <Stack gap="4" aria-busy>
          <Skeleton h="40" />
          <Skeleton h="24" />
          <Skeleton h="40" />
        </Stack>
      )}
    </DetailPanel>
  )
}

function Body({ log, onRequest }: { log: LogRow; onRequest: LogPanelProps['onRequest'] }) {
  if (isCall(log.type)) return <CallPanel log={log} />
  if (log.type === logType.error) return <ErrorPanel log={log} onRequest={onRequest} />
  return <EventPanel log={log} />
}

/** A call that no channel answered. */
function ErrorPanel({ log, onRequest }: { log: LogRow; onRequest: LogPanelProps['onRequest'] }) {
  const { error_type: type, error_code: code, status_code: status, attempts } = detailsOf(log)
  return (
    <Stack gap="7">
      <Stack gap="4">
        <Facts
          facts={[
            { label: t('状态'), value: <StateCell log={log} /> },
            { label: t('模型'), value: <ModelName name={log.modelName} /> },
            { label: t('HTTP 状态'), value: status, hidden: status === undefined },
            { label: t('错误类型'), value: <Code>{type}</Code>, hidden: !type },
            { label: t('错误代码'), value: <Code>{code}</Code>, hidden: code === undefined || code === '' },
          ]}
        />
        <CodeBlock title={t('上游的答复')} code={contentText(log)} wrap />
        <Text textStyle="sm" color="fg.muted">
          {t('失败的请求不收费。')}
        </Text>
        {log.requestId && (
          <Button alignSelf="flex-start" size="sm" onClick={() => onRequest(log.requestId)}>
            {t('查看这次请求的全部记录')}
          </Button>
        )}
      </Stack>
      {attempts.length > 0 && (
        <Section title={t('至此的尝试')}>
          <AttemptList attempts={attempts} />
        </Section>
      )}
      <LogOrigin log={log} />
    </Stack>
  )
}

/** Top-ups, gifts, check-ins and what administrators did: a text, and perhaps an amount. */
function EventPanel({ log }: { log: LogRow }) {
  return (
    <Stack gap="7">
      <Stack gap="4">
        <Text overflowWrap="anywhere" whiteSpace="pre-wrap">
          {contentText(log)}
        </Text>
        <Facts
          facts={[
            { label: t('类型'), value: <StateCell log={log} /> },
            { label: t('金额'), value: <Money quota={log.quota} digits={6} />, hidden: log.quota === 0 },
          ]}
        />
      </Stack>
      <LogOrigin log={log} />
    </Stack>
  )
}
