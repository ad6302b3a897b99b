import { useSearchParams } from 'wouter'
import { t } from '../../i18n/t.ts'
import { UnreadableNotice } from '../unreadable-notice.tsx'
import type { DataTableProps } from './types.ts'

type UnreadablePlaceProps<Row> = Pick<DataTableProps<Row>, 'columns' | 'paging' | 'onSort'>

/** An order or a page in the address that there cannot be is not passed over silently. */
export function UnreadablePlace<Row>({ columns, paging, onSort }: UnreadablePlaceProps<Row>) {
  const [search] = useSearchParams()
  const [order, page] = [search.get('sort'), search.get('page')]
  const isOrder = order === null || columns.some(({ id, sortable }) => sortable === true && id === order)
  const isPage = page === null || /^[1-9]\d*$/.test(page)
  const names = [onSort && !isOrder && t('排序'), paging && !isPage && t('页码')].filter(Boolean).join(', ')
  if (names === '') return null
  const drop = () => (onSort ? onSort(undefined) : paging?.setPage(1))
  return (
    <UnreadableNotice onClear={drop}>{t('地址中有无法识别的内容，已按默认显示：{names}', { names })}</UnreadableNotice>
  )
}
