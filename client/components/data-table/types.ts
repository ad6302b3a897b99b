import type { ReactNode } from 'react'
import type { Paging, Sort } from '../../lib/table-state.ts'
import type { MenuAction } from '../action-menu.tsx'

/** A column of the CSV file. */
export type CsvColumn<Row> = {
  title: string
  csv: (row: Row) => string | number | boolean | null | undefined
  csvUnit?: () => string
}

export type Column<Row> = {
  id: string
  title: string
  cell: (row: Row) => ReactNode
  /** What the CSV file says; without it the column is not exported. */
  csv?: CsvColumn<Row>['csv']
  /** What its numbers are of, behind the title in the CSV file; on the screen each value says so. Empty: nothing. */
  csvUnit?: () => string
  /** Instead of `csv` where a cell shows several figures: the file has a column for each. */
  csvColumns?: readonly CsvColumn<Row>[]
  /** The server can order by `id`. */
  sortable?: boolean
  /** Pixels until the reader drags it; 140 by default. */
  width?: number
  /** Takes the room that is left. */
  grow?: boolean
  align?: 'end'
  /** In the column chooser, but not ticked at first. */
  hidden?: boolean
  /** May not be hidden: what names the row. */
  fixed?: boolean
  /** On phones: the card's heading, or one of its facts. A card with more than three facts is no card. */
  card?: 'title' | 'fact'
  /** Whether a card has the fact: what says nothing about a row leaves its room to the next. */
  cardIf?: (row: Row) => boolean
}

export type TableData<Row> = {
  items: readonly Row[]
  /** Unknown where counting would cost too much; the pager then only knows next and previous. */
  total?: number
  /** There are more than `total`, which is as far as was counted. */
  isCapped?: boolean
}

/** What the table needs of `useQuery`'s result, which may be given as it is. */
export type TableQuery<Row> = {
  data: TableData<Row> | undefined
  error: unknown
  isFetching: boolean
  isPlaceholderData?: boolean
  refetch: () => unknown
}

export type RowId = string | number

/** `rows` are those of the chosen that were on a page; all that match may be chosen without having been shown. */
export type Selection<Row> = { ids: RowId[]; rows: Row[]; clear: () => void }

type Bulk<Row> = {
  /** What the rows answer to, apart from page and order: with another question nothing is selected any more. */
  filters: unknown
  /** Buttons over the table while rows are selected. */
  actions: (selection: Selection<Row>) => ReactNode
  /** Everything that the filters let through, so that it can be chosen at once; offered when a whole page is ticked. */
  matchingIds?: (() => Promise<readonly RowId[]>) | undefined
}

export type DataTableProps<Row> = {
  /** Names what is remembered of the columns: `table:<id>` in local storage. */
  id: string
  /** Read out as the table's name. */
  label: string
  columns: readonly Column<Row>[]
  rowId: (row: Row) => RowId
  /** Names a row for its controls, e.g. the token's name. */
  rowLabel: (row: Row) => string
  query: TableQuery<Row>
  paging?: Paging
  sort?: Sort | undefined
  onSort?: (sort: Sort | undefined) => void
  /** Shown after a truly empty answer: an `EmptyState`. */
  empty: ReactNode
  /** What could not be fetched, where nothing of it is there. */
  failureTitle?: string | undefined
  rowActions?: (row: Row) => readonly MenuAction[]
  onOpen?: (row: Row) => void
  /** The row that the detail panel shows. */
  openRow?: RowId | undefined
  /** What is done with several rows at once; without it rows have no tick box. */
  bulk?: Bulk<Row> | undefined
  /** Greyed rows: disabled, used up. */
  isMuted?: (row: Row) => boolean
  /** The file's name without ending; without it there is no export. */
  csvName?: string
  /** One page of the whole list, so that more than the shown rows can be exported: in an order that does not change meanwhile. */
  csvPage?: (page: number, pageSize: number) => Promise<TableData<Row>>
  /** Rows fetched at once for the file; 100 by default. */
  csvPageSize?: number
  /** Left of the table's own buttons: a `FilterBar`. */
  toolbar?: ReactNode
}
