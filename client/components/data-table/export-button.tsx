import { Button } from '@chakra-ui/react'
import { Download, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { t } from '../../i18n/t.ts'
import { formatInteger } from '../../lib/format.ts'
import { IconButton } from '../icon-button.tsx'
import { notify } from '../notify.ts'
import { saveFile, toCsv } from './csv.ts'
import { fetchAll, type Progress } from './fetch-all.ts'
import type { Column, DataTableProps } from './types.ts'

type ExportButtonProps<Row> = Pick<DataTableProps<Row>, 'rowId' | 'csvPage' | 'csvPageSize'> & {
  name: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
}

const usualPageSize = 100

/** Saves the whole list where the page can fetch it, else the rows that are shown. */
export function ExportButton<Row>({
  name,
  columns,
  rows,
  rowId,
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
        ? await fetchAll({ fetchPage: csvPage, pageSize: csvPageSize, columns, rowId, signal, onProgress })
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
