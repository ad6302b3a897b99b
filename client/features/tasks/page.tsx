import { Button, Stack } from '@chakra-ui/react'
import { ListTodo, RotateCw } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import { taskStatuses } from '#core/tasks/platforms.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { neighbours } from '../../components/detail-panel.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { useTableState } from '../../lib/table-state.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { Action, actionText } from './cells.tsx'
import { Clips } from './clips.tsx'
import { TaskFilterBar } from './filters.tsx'
import { inputOf, musicColumns } from './music-columns.tsx'
import { TaskPanel } from './task-panel.tsx'
import {
  isFiltered,
  type MusicTask,
  musicFilters,
  useMusicTasks,
  useOpenMusicTask,
  useTaskFilters,
} from './use-tasks.ts'
import { musicWords } from './words.ts'

export function Page() {
  const { isAdmin } = useSession()
  const [values, setFilters] = useTaskFilters(musicFilters)
  const [{ open }, setOpen] = useUrlState({ open: '' })
  const table = useTableState()
  const { query, refresh, csvPage } = useMusicTasks(values, table)
  const rows = query.data?.items
  const { task, error } = useOpenMusicTask(open, rows)
  const columns = useMemo(() => musicColumns(isAdmin), [isAdmin])
  const show = useCallback((row: MusicTask) => setOpen({ open: String(row.id) }), [setOpen])
  const step = (row: MusicTask) => setOpen({ open: String(row.id) }, { replace: true })
  return (
    <Frame
      title={t('任务日志')}
      fill
      extra={
        <IconButton
          icon={RotateCw}
          label={t('刷新')}
          variant="outline"
          loading={query.isFetching && query.data !== undefined}
          onClick={refresh}
        />
      }
    >
      <DataTable
        id={isAdmin ? 'jobs' : 'own-jobs'}
        label={t('任务日志')}
        columns={columns}
        rowId={(row) => row.id}
        rowLabel={(row) => `${actionText(row.action, musicWords)} ${inputOf(row).slice(0, 80)}`}
        query={query}
        paging={table}
        csvName="tasks"
        csvPage={csvPage}
        onOpen={show}
        openRow={task?.id}
        toolbar={<TaskFilterBar values={values} onChange={setFilters} actions={musicWords} statuses={taskStatuses} />}
        empty={<Empty filtered={isFiltered(values)} onAll={() => setFilters({ ...musicFilters, range: '' })} />}
      />
      <TaskPanel
        openId={open || undefined}
        task={task}
        taskId={task?.taskId ?? ''}
        title={task && <Action action={task.action} words={musicWords} />}
        facts={task ? [{ label: t('平台'), value: task.platform }] : []}
        error={error}
        onClose={() => setOpen({ open: '' })}
        {...neighbours(rows ?? [], (row) => String(row.id) === open, step)}
      >
        {task && <Details task={task} />}
      </TaskPanel>
    </Frame>
  )
}

function Details({ task }: { task: MusicTask }) {
  const input = inputOf(task)
  return (
    <Stack gap="5">
      {input !== '' && <CodeBlock title={t('提示词')} code={input} wrap />}
      <Clips task={task} />
      {task.data !== null && <CodeBlock title={t('上游返回的数据')} code={JSON.stringify(task.data, null, 2)} />}
    </Stack>
  )
}

function Empty({ filtered, onAll }: { filtered: boolean; onAll: () => void }) {
  if (filtered) {
    return (
      <EmptyState
        icon={ListTodo}
        title={t('没有匹配的任务')}
        action={<Button onClick={onAll}>{t('清除筛选')}</Button>}
      />
    )
  }
  return (
    <EmptyState
      icon={ListTodo}
      title={t('这段时间没有任务')}
      description={t('用令牌提交音乐等任务后，进度、结果和费用会显示在这里。')}
      action={<Button onClick={onAll}>{t('查看全部时间')}</Button>}
    />
  )
}
