import { Button } from '@chakra-ui/react'
import { Download, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { t } from '../../i18n/t.ts'
import { IconButton } from '../icon-button.tsx'
import { notify } from '../notify.ts'
import { saveFile, toCsv } from './csv.ts'
import type { Column, DataTableProps, TableData } from './types.ts'

type ExportButtonProps<Row> = Pick<DataTableProps<Row>, 'csvPage'> & {
  name: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
}

const pageSize = 100
/** A spreadsheet holds about a million rows; a browser's memory is the nearer limit. */
const mostRows = 100_000

type Progress = { done: number; total: number | undefined }
type Fetching<Row> = {
  fetchPage: (page: number, pageSize: number) => Promise<TableData<Row>>
  signal: AbortSignal
  onProgress: (progress: Progress) => void
}

async function fetchAll<Row>({ fetchPage, signal, onProgress }: Fetching<Row>): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 1; rows.length < mostRows && !signal.aborted; page += 1) {
    const { items, total } = await fetchPage(page, pageSize)
    rows.push(...items)
    onProgress({ done: rows.length, total })
    if (items.length < pageSize) break
  }
  return rows
}

/** Saves the whole list where the page can fetch it, else the rows that are shown. */
export function ExportButton<Row>({ name, columns, rows, csvPage }: ExportButtonProps<Row>) {
  const [progress, setProgress] = useState<Progress>()
  const cancel = useRef<AbortController>(undefined)
  useEffect(() => () => cancel.current?.abort(), [])

  const run = async () => {
    const controller = new AbortController()
    cancel.current = controller
    setProgress({ done: 0, total: undefined })
    try {
      const all = csvPage
        ? await fetchAll({ fetchPage: csvPage, signal: controller.signal, onProgress: setProgress })
        : rows
      if (controller.signal.aborted) return
      saveFile(`${name}.csv`, toCsv(columns, all))
      notify.success(t('已导出 {count} 行', { count: all.length }))
    } catch (error) {
      notify.error(error, t('导出失败，没有保存文件'))
    } finally {
      setProgress(undefined)
    }
  }

  if (!progress) return <IconButton icon={Download} label={t('导出 CSV')} onClick={() => void run()} />
  return (
    <Button
      variant="ghost"
      onClick={() => {
        cancel.current?.abort()
        setProgress(undefined)
      }}
    >
      <X aria-hidden />
      {t('取消导出')} {progress.done}
      {progress.total !== undefined && ` / ${progress.total}`}
    </Button>
  )
}
