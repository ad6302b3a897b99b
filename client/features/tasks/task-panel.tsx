import { HStack, Skeleton, Stack, Text } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { ChannelCell, Code, UserCell } from '../../components/cells/names.tsx'
import { Time } from '../../components/cells/time.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { DetailPanel } from '../../components/detail-panel.tsx'
import type { Fact } from '../../components/facts.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { Progress, TaskCost, TaskDuration, TaskState } from './cells.tsx'
import type { TaskRow } from './common-columns.tsx'

type TaskPanelProps = {
  openId: string | undefined
  task: (TaskRow & { requestId: string; startedAt: Date | null }) | undefined
  /** The upstream's number. */
  taskId: string
  title: ReactNode
  /** What only this kind of task has, beside the common facts. */
  facts: readonly Fact[]
  error: unknown
  onRetry: () => void
  onClose: () => void
  onPrevious: (() => void) | undefined
  onNext: (() => void) | undefined
  children: ReactNode
}

/** One task, whatever it makes: how it stands, what came of it, what it cost and whose it is. */
export function TaskPanel({ openId, task, taskId, title, facts, error, onRetry, children, ...panel }: TaskPanelProps) {
  return (
    <DetailPanel
      {...panel}
      openId={openId}
      label={t('任务详情')}
      title={task ? title : t('任务详情')}
      subtitle={task && <Time value={task.submittedAt} exact />}
    >
      {task ? (
        <Stack gap="7">
          <Stack gap="4">
            <Facts
              facts={[
                { label: t('状态'), value: <TaskState task={task} /> },
                { label: t('进度'), value: <Progress task={task} />, hidden: task.status === 'FAILURE' },
                { label: t('失败原因'), value: task.failReason, hidden: task.failReason === '' },
                ...facts,
              ]}
            />
            {task.status === 'FAILURE' && task.quota > 0 && (
              <Text textStyle="sm" color="fg.muted">
                {t('任务失败，费用已退回。')}
              </Text>
            )}
          </Stack>
          {children}
          <Origin task={task} taskId={taskId} />
        </Stack>
      ) : error ? (
        <ErrorState error={error} onRetry={onRetry} />
      ) : (
        <Stack gap="4" aria-busy>
          <Skeleton h="40" />
          <Skeleton h="24" />
        </Stack>
      )}
    </DetailPanel>
  )
}

function Origin({ task, taskId }: { task: NonNullable<TaskPanelProps['task']>; taskId: string }) {
  const { isAdmin } = useSession()
  return (
    <Section title={t('来源')}>
      <Facts
        facts={[
          { label: t('提交时间'), value: <Time value={task.submittedAt} exact /> },
          { label: t('开始执行'), value: <Time value={task.startedAt} exact />, hidden: task.startedAt === null },
          { label: t('完成时间'), value: <Time value={task.finishedAt} exact />, hidden: task.finishedAt === null },
          { label: t('用时'), value: <TaskDuration task={task} />, hidden: task.finishedAt === null },
          { label: t('费用'), value: <TaskCost task={task} /> },
          {
            label: t('用户'),
            value: <UserCell user={{ id: task.userId, username: `${task.username} (#${task.userId})` }} />,
            hidden: !isAdmin,
          },
          {
            label: t('所用渠道'),
            value: <ChannelCell channel={{ id: task.channelId, name: task.channelName }} />,
            hidden: !isAdmin || task.channelId === 0,
          },
          {
            label: t('任务 ID'),
            value: (
              <HStack gap="1">
                <Code>{taskId}</Code>
                <CopyButton size="2xs" text={taskId} label={t('复制任务 ID')} />
              </HStack>
            ),
            hidden: taskId === '',
          },
          {
            label: t('请求 ID'),
            value: (
              <Link href={`/app/logs/api-usage?range=&request=${encodeURIComponent(task.requestId)}`}>
                <Code>{task.requestId}</Code>
              </Link>
            ),
            hidden: task.requestId === '',
          },
        ]}
      />
    </Section>
  )
}
