import { Button } from '@chakra-ui/react'
import { KeyRound, Radio, RotateCw, ScrollText, Trash } from 'lucide-react'
import { useCallback, useMemo, useState } from 'react'
import { Link } from 'wouter'
import { ActionMenu } from '../../components/action-menu.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import type { TableQuery } from '../../components/data-table/types.ts'
import { neighbours } from '../../components/detail-panel.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState } from '../../components/states.tsx'
import { useLanguage } from '../../i18n/language.ts'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { useClearLogs } from './clear-logs.tsx'
import { logColumns } from './columns.tsx'
import { LogFilterBar } from './filters.tsx'
import { contentText, detailsOf } from './details.ts'
import { isCall } from './kinds.ts'
import { LogPanel } from './panel.tsx'
import { StatTags } from './stat-tags.tsx'
import type { LogRow } from './use-logs.ts'
import {
  isFiltered,
  logFilters,
  unreadableFilters,
  useLogExport,
  useLogFilters,
  useLogInput,
  useLogs,
  useOpenLog,
} from './use-logs.ts'

/** As the row names itself, so that what is read out is what is seen. */
function nameOf(log: LogRow): string {
  if (isCall(log.type)) return [log.modelName, detailsOf(log).upstream_model_name].filter(Boolean).join(' → ')
  return [log.modelName, contentText(log)].filter(Boolean).join(' ')
}

/** What stands in place of an answer while there is no question. */
const notAsked: TableQuery<LogRow> = {
  data: { items: [], total: 0 },
  isFetching: false,
  error: null,
  refetch: () => undefined,
}

export const Page = () => <LogsPage key={useLanguage()} />

/** Made again in another language: what it shows stands in the address. */
function LogsPage() {
  const { isAdmin } = useSession()
  const [values, setFilters] = useLogFilters()
  const [{ open }, setOpen] = useUrlState({ open: '' }, [], ['open'])
  const { input, refresh, question } = useLogInput(values)
  const unreadable = unreadableFilters(values, isAdmin)
  const [isLive, setLive] = useState(false)
  const isReadable = unreadable.length === 0
  const { query, table } = useLogs(input, { enabled: isReadable, isLive, question })
  const csvPage = useLogExport(input)
  const clear = useClearLogs()
  const rows = query.data?.items
  const { log, error, refetch } = useOpenLog(open, query)
  const columns = useMemo(() => logColumns(isAdmin), [isAdmin])
  const show = useCallback((row: LogRow) => setOpen({ open: row.key }), [setOpen])
  const step = (row: LogRow) => setOpen({ open: row.key }, { replace: true })

  return (
    <Frame
      title={t('使用日志')}
      fill
      extra={
        <>
          <StatTags input={input} question={question} isReadable={isReadable} />
          <IconButton
            icon={Radio}
            label={isLive ? t('停止实时更新') : t('实时更新')}
            variant={isLive ? 'subtle' : 'outline'}
            aria-pressed={isLive}
            onClick={() => setLive(!isLive)}
          />
          <IconButton
            icon={RotateCw}
            label={t('刷新')}
            variant="outline"
            loading={query.isFetching && query.data !== undefined}
            onClick={refresh}
          />
          {isAdmin && (
            <ActionMenu
              label={t('更多操作')}
              actions={[
                { id: 'clear', label: t('清理旧日志'), icon: Trash, danger: true, onSelect: () => void clear() },
              ]}
            />
          )}
        </>
      }
    >
      <DataTable
        id={isAdmin ? 'logs' : 'own-logs'}
        label={t('使用日志')}
        columns={columns}
        rowId={(row) => row.key}
        rowLabel={nameOf}
        query={isReadable ? query : notAsked}
        paging={table}
        sort={table.sort}
        onSort={table.setSort}
        {...(isReadable && { csvName: 'usage-logs' })}
        csvPage={csvPage}
        csvPageSize={1000}
        onOpen={show}
        openRow={open || undefined}
        toolbar={<LogFilterBar values={values} onChange={setFilters} unreadable={unreadable} />}
        empty={
          <Empty
            isReadable={isReadable}
            filtered={isFiltered(values)}
            onAll={() => setFilters({ ...logFilters, range: '' })}
          />
        }
      />
      <LogPanel
        openId={open || undefined}
        log={log}
        error={error}
        onRetry={refetch}
        onClose={() => setOpen({ open: '' })}
        {...neighbours(rows ?? [], (row) => row.key === open, step)}
        onRequest={(request) => setFilters({ ...logFilters, range: '', request })}
      />
    </Frame>
  )
}

type EmptyProps = { isReadable: boolean; filtered: boolean; onAll: () => void }

function Empty({ isReadable, filtered, onAll }: EmptyProps) {
  if (filtered || !isReadable) {
    return (
      <EmptyState
        icon={ScrollText}
        title={isReadable ? t('没有匹配的日志') : t('筛选条件无法识别，没有查询')}
        action={<Button onClick={onAll}>{t('清除筛选')}</Button>}
      />
    )
  }
  return (
    <EmptyState
      icon={ScrollText}
      title={t('这段时间没有日志')}
      description={t('用令牌调用模型后，每次调用的费用和用时会显示在这里。')}
      action={
        <Button asChild variant="solid">
          <Link href="/app/tokens">
            <KeyRound aria-hidden />
            {t('前往令牌')}
          </Link>
        </Button>
      }
    />
  )
}
