import { useMemo } from 'react'
import { useTableState } from '../../../lib/table-state.ts'
import { trpc } from '../../../lib/trpc.ts'
import { rowsOf, tablesOf } from './rows.ts'

export function usePriceTables() {
  const options = trpc.admin.options.list.useQuery()
  return useMemo(() => (options.data ? tablesOf(options.data) : undefined), [options.data])
}

/** A list that is here already, a page at a time, searched by part of a name. */
export function usePaged<Row>(rows: readonly Row[] | undefined, found: (row: Row) => boolean) {
  const paging = useTableState()
  const all = rows?.filter(found)
  const pages = Math.max(1, Math.ceil((all?.length ?? 0) / paging.pageSize))
  const page = Math.min(paging.page, pages)
  const first = (page - 1) * paging.pageSize
  const data = all && { items: all.slice(first, first + paging.pageSize), total: all.length }
  return { data, all, paging: { ...paging, page } }
}

export function usePriceRows() {
  const tables = usePriceTables()
  return useMemo(() => (tables ? rowsOf(tables) : undefined), [tables])
}
