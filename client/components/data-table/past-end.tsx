import { Button } from '@chakra-ui/react'
import { FileX } from 'lucide-react'
import { t } from '../../i18n/t.ts'
import { formatInteger } from '../../lib/format.ts'
import type { Paging } from '../../lib/table-state.ts'
import { EmptyState } from '../states.tsx'

/** A page that the list no longer reaches, as a link from yesterday may name it. */
export function PastEnd({ paging, total }: { paging: Paging; total: number | undefined }) {
  const last = total === undefined ? 1 : Math.max(1, Math.ceil(total / paging.pageSize))
  return (
    <EmptyState
      icon={FileX}
      title={t('没有第 {page} 页', { page: formatInteger(paging.page) })}
      description={
        total === undefined
          ? undefined
          : t('共 {total} 条，到第 {last} 页为止。', { total: formatInteger(total), last: formatInteger(last) })
      }
      action={<Button onClick={() => paging.setPage(last)}>{last === 1 ? t('返回第一页') : t('前往最后一页')}</Button>}
    />
  )
}
