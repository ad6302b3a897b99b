import { ChannelCell, Code, UserCell } from '../../components/cells/names.tsx'
import { None } from '../../components/cells/numbers.tsx'
import { Time } from '../../components/cells/time.tsx'
import { csvMilliseconds, csvQuota } from '../../components/data-table/csv-amounts.ts'
import type { Column } from '../../components/data-table/types.ts'
import { t } from '../../i18n/t.ts'
import { formatTime } from '../../lib/format.ts'
import { costOf, durationOf, Progress, TaskCost, TaskDuration, TaskState } from './cells.tsx'
import { stateOf } from './words.ts'

/** What rows of both kinds have. */
export type TaskRow = {
  id: number
  userId: number
  username: string
  channelId: number
  channelName: string
  submittedAt: Date | null
  finishedAt: Date | null
  status: string
  progress: string
  failReason: string
  quota: number
}

export const timeAndState = <Row extends TaskRow>(): Column<Row>[] => [
  {
    id: 'time',
    title: t('提交时间'),
    cell: (task) => <Time value={task.submittedAt} exact />,
    csv: (task) => task.submittedAt && formatTime(task.submittedAt),
    width: 152,
    card: 'fact',
  },
  {
    id: 'status',
    title: t('状态'),
    cell: (task) => <TaskState task={task} />,
    csv: (task) => t(stateOf(task.status).words),
    width: 98,
    card: 'fact',
  },
]

export const whoAndWhere = <Row extends TaskRow>(isAdmin: boolean): Column<Row>[] =>
  isAdmin
    ? [
        {
          id: 'user',
          title: t('用户'),
          cell: (task) => <UserCell user={{ id: task.userId, username: task.username || `#${task.userId}` }} />,
          csv: (task) => task.username,
          width: 96,
        },
        {
          id: 'channel',
          title: t('所用渠道'),
          cell: (task) => <ChannelCell channel={{ id: task.channelId, name: task.channelName }} />,
          csv: (task) => `#${task.channelId} ${task.channelName}`,
          width: 140,
        },
      ]
    : []

export const figures = <Row extends TaskRow>(): Column<Row>[] => [
  {
    id: 'progress',
    title: t('进度'),
    cell: (task) => <Progress task={task} />,
    csv: (task) => task.progress,
    width: 78,
    align: 'end',
  },
  {
    id: 'duration',
    title: t('用时'),
    cell: (task) => <TaskDuration task={task} />,
    ...csvMilliseconds((task: Row) => durationOf(task)),
    width: 74,
    align: 'end',
  },
  {
    id: 'cost',
    title: t('费用'),
    cell: (task) => <TaskCost task={task} />,
    ...csvQuota<Row>(costOf),
    width: 94,
    align: 'end',
    card: 'fact',
  },
]

export const endAndReason = <Row extends TaskRow>(): Column<Row>[] => [
  {
    id: 'finished',
    title: t('完成时间'),
    cell: (task) => <Time value={task.finishedAt} exact />,
    csv: (task) => task.finishedAt && formatTime(task.finishedAt),
    width: 152,
    hidden: true,
  },
  {
    id: 'reason',
    title: t('失败原因'),
    cell: (task) => (task.failReason ? <span data-tip={task.failReason}>{task.failReason}</span> : <None />),
    csv: (task) => task.failReason,
    width: 180,
    hidden: true,
  },
]

export const idColumn = <Row,>(idOf: (row: Row) => string): Column<Row> => ({
  id: 'id',
  title: t('任务 ID'),
  cell: (row) => <Code>{idOf(row)}</Code>,
  csv: idOf,
  width: 164,
})
