import { Button } from '@chakra-ui/react'
import { Download, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { t } from '../../i18n/t.ts'
import { formatInteger } from '../../lib/format.ts'
import { IconButton } from '../icon-button.tsx'
import { notify } from '../notify.ts'
import { saveFile, toCsv } from './csv.ts'
import type { Column, DataTableProps, TableData } from './types.ts'

type ExportButtonProps<Row> = Pick<DataTableProps<Row>, 'csvPage' | 'csvPageSize'> & {
  name: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
}

const usualPageSize = 100

type Progress = { done: number; total: number | undefined }
type Fetching<Row> = {
  fetchPage: (page: number, pageSize: number) => Promise<TableData<Row>>
  pageSize: number
  columns: readonly Column<Row>[]
  signal: AbortSignal
  onProgress: (progress: Progress) => void
}

/** Seconds after which the server wants to be asked again; undefined for any other failure. */
function pauseOf(error: unknown): number | undefined {
  const response = (error as { meta?: { response?: Response } }).meta?.response
  if (response?.status !== 429) return undefined
  return Math.max(1, Number(response.headers.get('retry-after')) || 5)
}

async function fetchPatiently<Row>(
  { fetchPage, pageSize, signal }: Fetching<Row>,
  page: number,
): Promise<TableData<Row>> {
  for (;;) {
    try {
      return await fetchPage(page, pageSize)
    } catch (error) {
      const seconds = pauseOf(error)
      if (seconds === undefined || signal.aborted) throw error
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
      signal.throwIfAborted()
    }
  }
}

/** Every row to the last, page by page as text, since a browser holds many more lines than objects. */
async function fetchAll<Row>(fetching: Fetching<Row>): Promise<{ parts: string[]; count: number }> {
  const { pageSize, columns, signal, onProgress } = fetching
  const parts: string[] = []
  let count = 0
  for (let page = 1; !signal.aborted; page += 1) {
    const { items, total } = await fetchPatiently(fetching, page)
    if (items.length > 0 || page === 1) parts.push(toCsv(columns, items, page === 1), '\r\n')
    count += items.length
    onProgress({ done: count, total })
    if (items.length < pageSize) break
  }
  return { parts, count }
}

/** Saves the whole list where the page can fetch it, else the rows that are shown. */
export function ExportButton<Row>({
  name,
  columns,
  rows,
  csvPage,
  csvPageSize = usualPageSize,
}: ExportButtonProps<Row>) {
  const [progress, setProgress] = useState<Progress>()
  const cancel = useRef<AbortController>(undefined)
  const last = useRef<Promise<void>>(Promise.resolve())
  useEffect(() => () => cancel.current?.abort(), [])

  const save = async (signal: AbortSignal) => {
    if (signal.aborted) return
    const onProgress = (made: Progress) => signal.aborted || setProgress(made)
    try {
      const { parts, count } = csvPage
        ? await fetchAll({ fetchPage: csvPage, pageSize: csvPageSize, columns, signal, onProgress })
        : { parts: [toCsv(columns, rows)], count: rows.length }
      if (signal.aborted) return
      saveFile(`${name}.csv`, parts)
      notify.success(t('已导出 {count} 行', { count }))
    } catch (error) {
      if (!signal.aborted) notify.error(error, t('导出失败，没有保存文件'))
    }
  }

  const run = () => {
    const controller = new AbortController()
    cancel.current = controller
    setProgress({ done: 0, total: undefined })
    // One after another: what a run that was called off still waits for is no page of the next.
    last.current = last.current
      .then(() => save(controller.signal))
      .then(() => {
        if (cancel.current === controller) setProgress(undefined)
      })
  }

  if (!progress) return <IconButton icon={Download} label={t('导出 CSV')} onClick={run} />
  return (
    <Button
      variant="ghost"
      onClick={() => {
        cancel.current?.abort()
        setProgress(undefined)
      }}
    >
      <X aria-hidden />
      {t('取消导出')} {formatInteger(progress.done)}
      {progress.total !== undefined && ` / ${formatInteger(progress.total)}`}
    </Button>
  )
}
