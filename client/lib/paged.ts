import { useTableState, type Sort } from './table-state.ts'

type Options<Row> = { initial?: Sort; compare?: (one: Row, other: Row, by: string) => number }

/** A list that is here as a whole, shown a page at a time as if the server cut it. */
export function usePaged<Row>(rows: readonly Row[] | undefined, { initial, compare }: Options<Row> = {}) {
  const table = useTableState(initial)
  const { sort } = table
  const direction = sort?.order === 'asc' ? 1 : -1
  const all = sort && compare ? rows?.toSorted((one, other) => direction * compare(one, other, sort.by)) : rows
  const pages = Math.max(1, Math.ceil((all?.length ?? 0) / table.pageSize))
  const page = Math.min(table.page, pages)
  const pageOf = async (number: number, size: number) => ({
    items: (all ?? []).slice((number - 1) * size, number * size),
  })
  const data = all && { items: all.slice((page - 1) * table.pageSize, page * table.pageSize), total: all.length }
  return { data, pageOf, table: { ...table, page } }
}
