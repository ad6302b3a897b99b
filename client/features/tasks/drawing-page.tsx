import { Button, Link, Stack, Tag } from '@chakra-ui/react'
import { Brush, RotateCw } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import { drawingStatuses } from '#core/tasks/drawing.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { neighbours } from '../../components/detail-panel.tsx'
import { Section } from '../../components/facts.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { useTableState } from '../../lib/table-state.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { Action, actionText } from './cells.tsx'
import { drawingColumns, resultText } from './drawing-columns.tsx'
import { TaskFilterBar } from './filters.tsx'
import { ImageView } from './image.tsx'
import { TaskPanel } from './task-panel.tsx'
import { type Drawing, drawingFilters, isFiltered, useDrawings, useOpenDrawing, useTaskFilters } from './use-tasks.ts'
import { drawingWords } from './words.ts'

export function Page() {
  const { isAdmin } = useSession()
  const [values, setFilters] = useTaskFilters(drawingFilters)
  const [{ open }, setOpen] = useUrlState({ open: '' })
  const table = useTableState()
  const { query, refresh, csvPage } = useDrawings(values, table)
  const rows = query.data?.items
  const { task, error } = useOpenDrawing(open, rows)
  const columns = useMemo(() => drawingColumns(isAdmin), [isAdmin])
  const show = useCallback((row: Drawing) => setOpen({ open: String(row.id) }), [setOpen])
  const step = (row: Drawing) => setOpen({ open: String(row.id) }, { replace: true })
  return (
    <Frame
      title={t('绘图日志')}
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
        id={isAdmin ? 'drawings' : 'own-drawings'}
        label={t('绘图日志')}
        columns={columns}
        rowId={(row) => row.id}
        rowLabel={(row) => `${actionText(row.action, drawingWords)} ${row.prompt.slice(0, 80)}`}
        query={query}
        paging={table}
        csvName="drawings"
        csvPage={csvPage}
        onOpen={show}
        openRow={task?.id}
        toolbar={
          <TaskFilterBar values={values} onChange={setFilters} actions={drawingWords} statuses={drawingStatuses} />
        }
        empty={<Empty filtered={isFiltered(values)} onAll={() => setFilters({ ...drawingFilters, range: '' })} />}
      />
      <TaskPanel
        openId={open || undefined}
        task={task}
        taskId={task?.mjId ?? ''}
        title={task && <Action action={task.action} words={drawingWords} mode={task.mode} />}
        facts={
          task
            ? [
                { label: t('提交结果'), value: resultText(task.code) },
                {
                  label: t('上游说明'),
                  value: task.description,
                  hidden: task.description === '' || task.description === task.failReason,
                },
              ]
            : []
        }
        error={error}
        onClose={() => setOpen({ open: '' })}
        {...neighbours(rows ?? [], (row) => String(row.id) === open, step)}
      >
        {task && <Details task={task} />}
      </TaskPanel>
    </Frame>
  )
}

/** Labels of the buttons that the upstream offers for what follows. */
function labelsOf(buttons: unknown): string[] {
  if (!Array.isArray(buttons)) return []
  return buttons.flatMap((button: unknown) => {
    if (typeof button !== 'object' || button === null) return []
    const { label, emoji } = button as { label?: unknown; emoji?: unknown }
    const text = [emoji, label].filter((part) => typeof part === 'string' && part !== '').join(' ')
    return text === '' ? [] : [text]
  })
}

function Details({ task }: { task: Drawing }) {
  const labels = labelsOf(task.buttons)
  return (
    <Stack gap="5">
      <ImageView task={task} />
      {task.prompt !== '' && <CodeBlock title={t('提示词')} code={task.prompt} wrap />}
      {task.promptEn !== '' && task.promptEn !== task.prompt && (
        <CodeBlock title={t('英文提示词')} code={task.promptEn} wrap />
      )}
      {/^https?:/.test(task.videoUrl) && (
        <Link href={task.videoUrl} target="_blank" rel="noreferrer" textStyle="sm">
          {t('打开视频')}
        </Link>
      )}
      {labels.length > 0 && (
        <Section title={t('可用的后续操作')}>
          <Stack direction="row" wrap="wrap" gap="1.5">
            {labels.map((label, index) => (
              <Tag.Root key={`${label} ${index}`}>
                <Tag.Label>{label}</Tag.Label>
              </Tag.Root>
            ))}
          </Stack>
        </Section>
      )}
    </Stack>
  )
}

function Empty({ filtered, onAll }: { filtered: boolean; onAll: () => void }) {
  if (filtered) {
    return (
      <EmptyState icon={Brush} title={t('没有匹配的任务')} action={<Button onClick={onAll}>{t('清除筛选')}</Button>} />
    )
  }
  return (
    <EmptyState
      icon={Brush}
      title={t('这段时间没有绘图任务')}
      description={t('用令牌提交绘图后，进度、图片和费用会显示在这里。')}
      action={<Button onClick={onAll}>{t('查看全部时间')}</Button>}
    />
  )
}
