import type { SystemStyleObject } from '@chakra-ui/react'
import { Box, Button, Flex, HStack, Text, chakra } from '@chakra-ui/react'
import { Rows2, Rows3, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { t } from '../../i18n/t.ts'
import { type Store, useStore } from '../../lib/store.ts'
import { createStoredJson } from '../../lib/stored.ts'
import { useIsPhone } from '../../lib/use-media.ts'
import { IconButton } from '../icon-button.tsx'
import { notify } from '../notify.ts'
import { ErrorState, StaleNotice } from '../states.tsx'
import { Body, SkeletonBody } from './body.tsx'
import { Cards, SkeletonCards } from './cards.tsx'
import { ColumnChooser } from './column-chooser.tsx'
import { ExportButton } from './export-button.tsx'
import { Head } from './head.tsx'
import type { ColumnLayout } from './layout.ts'
import { columnWidths, untouched, visibleColumns } from './layout.ts'
import { Pager } from './pager.tsx'
import { PastEnd } from './past-end.tsx'
import { tableStyle } from './style.ts'
import type { DataTableProps, RowId, Selection, TableQuery } from './types.ts'
import { UnreadablePlace } from './unreadable-place.tsx'
import { useRowKeys } from './use-row-keys.ts'
import { useSelection } from './use-selection.ts'

const Table = chakra('table')
const toolWidth = 44
const isDense = createStoredJson<boolean>('table-dense', false)

const layouts = new Map<string, Store<ColumnLayout>>()

const layoutOf = (id: string): Store<ColumnLayout> => {
  const known = layouts.get(id) ?? createStoredJson<ColumnLayout>(`table:${id}`, untouched)
  layouts.set(id, known)
  return known
}

/** A server's list: paged, ordered, selectable, exportable; cards on phones. See `DataTableProps`. */
export function DataTable<Row>(given: DataTableProps<Row>) {
  const query = useEarlierRows(given.query)
  const props = { ...given, query }
  const { paging, empty, bulk, rowId } = props
  const phone = useIsPhone()
  const rows = query.data?.items ?? []
  const { selected, select, selectIds, selection, state } = useSelection(rows, rowId, bulk?.filters ?? null)
  const isStale = query.isPlaceholderData === true && (query.isFetching || given.query.data === undefined)
  const failed = query.error !== null && query.error !== undefined
  const bar = bulk && selection.ids.length > 0 && (
    <BulkBar selection={selection} phone={phone}>
      {bulk.matchingIds && !isStale && state === true && selection.ids.length < (query.data?.total ?? 0) && (
        <SelectMatching total={query.data?.total ?? 0} matchingIds={bulk.matchingIds} onSelect={selectIds} />
      )}
      {bulk.actions(selection)}
    </BulkBar>
  )
  const shared = { ...props, rows, selected: bulk ? selected : undefined, select, state, isStale }
  return (
    <Flex direction="column" gap="3" minH="0" flex="0 1 auto">
      <Tools {...props} rows={rows} phone={phone} />
      <UnreadablePlace {...props} />
      {failed && query.data !== undefined && <StaleNotice error={query.error} onRetry={query.refetch} />}
      {failed && query.data === undefined ? (
        <Panel>
          <ErrorState error={query.error} title={props.failureTitle} onRetry={() => void query.refetch()} />
        </Panel>
      ) : query.data !== undefined && rows.length === 0 ? (
        <Panel>{paging && isPastEnd(props) ? <PastEnd paging={paging} total={query.data.total} /> : empty}</Panel>
      ) : phone ? (
        <>
          <CardList {...shared} />
          {bar}
        </>
      ) : (
        <Flex direction="column" position="relative" minH="0" flex="0 1 auto" css={barAside}>
          {bar}
          <WideTable {...shared} />
        </Flex>
      )}
      {paging && rows.length > 0 && <Pager paging={paging} data={query.data} />}
    </Flex>
  )
}

/** Rows that stood there while others were asked for stay, as they were then, where those do not come. */
function useEarlierRows<Row>(query: TableQuery<Row>): TableQuery<Row> {
  const earlier = useRef<TableQuery<Row>['data']>(undefined)
  useEffect(() => {
    if (query.data !== undefined) earlier.current = query.isPlaceholderData ? query.data : undefined
  }, [query.data, query.isPlaceholderData])
  const failed = query.error !== null && query.error !== undefined
  if (!failed || query.data !== undefined || earlier.current === undefined) return query
  return { ...query, data: earlier.current, isPlaceholderData: true }
}

/** Where nothing fits at all, that is what is said. */
const isPastEnd = <Row,>({ query, paging }: DataTableProps<Row>): boolean =>
  paging !== undefined && paging.page > 1 && query.data?.total !== 0

function Panel({ children }: { children: ReactNode }) {
  return <Box layerStyle="panel">{children}</Box>
}

type Prepared<Row> = DataTableProps<Row> & {
  rows: readonly Row[]
  selected: ReadonlyMap<RowId, unknown> | undefined
  select: (rows: readonly Row[], on: boolean) => void
  state: boolean | 'some'
  isStale: boolean
}

function CardList<Row>(props: Prepared<Row>) {
  const { query, paging, select } = props
  if (query.data === undefined) return <SkeletonCards count={Math.min(paging?.pageSize ?? 5, 5)} />
  return <Cards {...props} onSelect={(row, on) => select([row], on)} />
}

function WideTable<Row>(props: Prepared<Row>) {
  const { id, label, columns, query, rows, sort, onSort, rowActions, paging, onOpen, openRow } = props
  const { selected, select, state, isStale } = props
  const stored = layoutOf(id)
  const layout = useStore(stored)
  const dense = useStore(isDense)
  const shown = useMemo(() => visibleColumns(columns, layout), [columns, layout])
  const widths = columnWidths(shown, layout)
  const tools = (selected ? toolWidth : 0) + (rowActions ? toolWidth : 0)
  const table = useRef<HTMLTableElement>(null)
  const open = useCallback(
    (index: number) => {
      const row = rows[index]
      if (row !== undefined) onOpen?.(row)
    },
    [rows, onOpen],
  )
  const toggle = (index: number) => {
    const row = rows[index]
    if (row !== undefined && selected && !isStale) select([row], !selected.has(props.rowId(row)))
  }
  useRowKeys({ table, onOpen: onOpen && open, onSelect: selected && toggle, isOpen: openRow !== undefined })
  const resize = (column: string, width: number) =>
    stored.set({ ...layout, widths: { ...layout.widths, [column]: width } })
  return (
    <Box
      layerStyle="panel"
      overflow="auto"
      minH={rows.length > 4 ? '60' : undefined}
      flex="0 1 auto"
      aria-busy={query.isFetching}
      tabIndex={-1}
    >
      <Table
        ref={table}
        aria-label={label}
        css={tableStyle}
        data-stale={isStale ? '' : undefined}
        style={{
          minWidth: widths.reduce((sum, column) => sum + column.width, tools),
          ['--row-height' as string]: dense ? '32px' : '40px',
        }}
      >
        <colgroup>
          {selected && <col style={{ width: toolWidth }} />}
          {widths.map((column) => (
            <col key={column.id} style={column.grows ? undefined : { width: column.width }} />
          ))}
          {rowActions && <col style={{ width: toolWidth }} />}
        </colgroup>
        <Head
          columns={shown}
          widths={widths}
          sort={sort}
          onSort={onSort}
          onResize={resize}
          selected={selected && state}
          onSelectAll={(on) => select(rows, on)}
          isSettled={rows.length > 0 && !isStale}
          hasActions={rowActions !== undefined}
        />
        {query.data === undefined ? (
          <SkeletonBody
            rows={Math.min(paging?.pageSize ?? 5, 10)}
            columns={shown}
            before={selected !== undefined}
            after={rowActions !== undefined}
          />
        ) : (
          <Body {...props} columns={shown} onSelect={(row, on) => select([row], on)} />
        )}
      </Table>
    </Box>
  )
}

function Tools<Row>(props: DataTableProps<Row> & { rows: readonly Row[]; phone: boolean }) {
  const { id, columns, toolbar, csvName, csvPage, csvPageSize, rows, rowId, phone } = props
  const stored = layoutOf(id)
  const layout = useStore(stored)
  const dense = useStore(isDense)
  return (
    <Flex gap="2" align="flex-start" justify="space-between" flexShrink="0">
      <Box flex="1" minW="0">
        {toolbar}
      </Box>
      <HStack gap="0.5" flexShrink="0">
        {csvName && (
          <ExportButton
            name={csvName}
            columns={visibleColumns(columns, layout)}
            rows={rows}
            rowId={rowId}
            csvPage={csvPage}
            csvPageSize={csvPageSize}
          />
        )}
        {!phone && (
          <>
            <IconButton
              icon={dense ? Rows2 : Rows3}
              label={dense ? t('宽松行高') : t('紧凑行高')}
              onClick={() => isDense.set(!dense)}
            />
            <ColumnChooser columns={columns} layout={layout} onChange={stored.set} />
          </>
        )}
      </HStack>
    </Flex>
  )
}

/** Whoever goes through the titles with the keyboard sees them. */
const barAside: SystemStyleObject = { '&:has(thead :focus-visible:not(input)) > [role=toolbar]': { opacity: '0' } }

/** Over the titles of the columns, beside the tick box of them all; on phones at the lower edge. No row gives way to it. */
const barPlaces = {
  wide: { position: 'absolute', top: '1px', right: '1px', left: `${toolWidth + 1}px`, h: '35px', zIndex: '4' },
  phone: { position: 'sticky', bottom: '2', zIndex: '1', flexWrap: 'wrap', py: '2', boxShadow: 'lg' },
} as const

type BulkBarProps<Row> = { selection: Selection<Row>; phone: boolean; children: ReactNode }

function BulkBar<Row>({ selection, phone, children }: BulkBarProps<Row>) {
  return (
    <HStack
      role="toolbar"
      aria-label={t('批量操作')}
      gap="2"
      px="2"
      borderRadius="l2"
      bg="accent.subtle"
      flexShrink="0"
      overflowX="auto"
      scrollbarWidth="none"
      whiteSpace="nowrap"
      {...barPlaces[phone ? 'phone' : 'wide']}
    >
      <Text textStyle="sm" fontWeight="medium" me="2" role="status">
        {t('已选择 {count} 项', { count: selection.ids.length })}
      </Text>
      {children}
      <Box ms="auto">
        <IconButton size="xs" icon={X} label={t('清除选择')} onClick={selection.clear} />
      </Box>
    </HStack>
  )
}

type SelectMatchingProps = {
  total: number
  matchingIds: () => Promise<readonly RowId[]>
  onSelect: (ids: readonly RowId[]) => void
}

/** The page is ticked; what it is a page of may be meant. */
function SelectMatching({ total, matchingIds, onSelect }: SelectMatchingProps) {
  const [asking, setAsking] = useState(false)
  const choose = async () => {
    setAsking(true)
    try {
      onSelect(await matchingIds())
    } catch (error) {
      notify.error(error, t('没有选择更多'))
    } finally {
      setAsking(false)
    }
  }
  return (
    <Button size="xs" variant="ghost" colorPalette="accent" loading={asking} onClick={() => void choose()}>
      {t('选择符合条件的全部 {count} 项', { count: total })}
    </Button>
  )
}
