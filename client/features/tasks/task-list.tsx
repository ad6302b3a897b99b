import { Button } from '@chakra-ui/react'
import { type LucideIcon, RotateCw } from 'lucide-react'
import { type ReactNode, useCallback, useMemo } from 'react'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { neighbours } from '../../components/detail-panel.tsx'
import type { Fact } from '../../components/facts.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState } from '../../components/states.tsx'
import { type PlainText, t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { useTableState } from '../../lib/table-state.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { Action, actionText } from './cells.tsx'
import type { TaskRow } from './common-columns.tsx'
import { TaskFilterBar } from './filters.tsx'
import { TaskPanel } from './task-panel.tsx'
import { isFiltered, type OpenTask, type TaskFilterValues, type TaskList, useTaskFilters } from './use-tasks.ts'

type AnyTask = TaskRow & { action: string; mode?: string; requestId: string; startedAt: Date | null }

/** What a kind of task is called, and how it is shown. */
export type TaskKind<Task extends AnyTask> = {
  id: string
  title: string
  icon: LucideIcon
  filters: TaskFilterValues
  actions: Record<string, PlainText>
  statuses: readonly string[]
  columns: (isAdmin: boolean) => Column<Task>[]
  useList: (values: TaskFilterValues, table: ReturnType<typeof useTableState>) => TaskList<Task>
  useOpen: (open: string, list: TaskList<Task>['query']) => OpenTask<Task>
  promptOf: (task: Task) => string
  /** The upstream's number. */
  numberOf: (task: Task) => string
  facts: (task: Task) => readonly Fact[]
  details: (task: Task) => ReactNode
  empty: { title: string; filtered: string; description: string }
}

/** The list of tasks of a kind, and the one that is open. */
export function TaskPage<Task extends AnyTask>({ kind }: { kind: TaskKind<Task> }) {
  const { isAdmin } = useSession()
  const { filters, actions } = kind
  const [values, setFilters] = useTaskFilters(filters)
  const [{ open }, setOpen] = useUrlState({ open: '' }, [], ['open'])
  const table = useTableState()
  const { query, refresh, csvPage } = kind.useList(values, table)
  const rows = query.data?.items
  const { task, error, refetch } = kind.useOpen(open, query)
  const columns = useMemo(() => kind.columns(isAdmin), [kind, isAdmin])
  const show = useCallback((row: Task) => setOpen({ open: String(row.id) }), [setOpen])
  const step = (row: Task) => setOpen({ open: String(row.id) }, { replace: true })
  const all = () => setFilters({ ...filters, range: '' })
  return (
    <Frame
      title={kind.title}
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
        id={isAdmin ? kind.id : `own-${kind.id}`}
        label={kind.title}
        columns={columns}
        rowId={(row) => row.id}
        rowLabel={(row) => `${actionText(row.action, actions)} ${kind.promptOf(row).slice(0, 80)}`}
        query={query}
        paging={table}
        csvName={kind.id}
        csvPage={csvPage}
        onOpen={show}
        openRow={task?.id}
        toolbar={<TaskFilterBar values={values} onChange={setFilters} actions={actions} statuses={kind.statuses} />}
        empty={
          isFiltered(values) ? (
            <EmptyState
              icon={kind.icon}
              title={kind.empty.filtered}
              action={<Button onClick={all}>{t('清除筛选')}</Button>}
            />
          ) : (
            <EmptyState
              icon={kind.icon}
              title={kind.empty.title}
              description={kind.empty.description}
              action={<Button onClick={all}>{t('查看全部时间')}</Button>}
            />
          )
        }
      />
      <TaskPanel
        openId={open || undefined}
        task={task}
        taskId={task ? kind.numberOf(task) : ''}
        title={task && <Action action={task.action} words={actions} mode={task.mode} />}
        facts={task ? kind.facts(task) : []}
        error={error}
        onRetry={refetch}
        onClose={() => setOpen({ open: '' })}
        {...neighbours(rows ?? [], (row) => String(row.id) === open, step)}
      >
        {task && kind.details(task)}
      </TaskPanel>
    </Frame>
  )
}
