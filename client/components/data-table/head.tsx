import { VisuallyHidden } from '@chakra-ui/react'
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react'
import type { FocusEvent, KeyboardEvent, PointerEvent } from 'react'
import { useState } from 'react'
import { t } from '../../i18n/t.ts'
import type { Sort } from '../../lib/table-state.ts'
import { Check } from '../check.tsx'
import { smallestWidth } from './layout.ts'
import type { Column } from './types.ts'

type HeadProps<Row> = {
  columns: readonly Column<Row>[]
  widths: readonly { id: string; width: number }[]
  sort: Sort | undefined
  onSort: ((sort: Sort | undefined) => void) | undefined
  onResize: (id: string, width: number) => void
  /** Undefined where rows cannot be selected. */
  selected: boolean | 'some' | undefined
  onSelectAll: (selected: boolean) => void
  /** Nothing can be ticked before there are rows, nor while they are those of another page or other filters. */
  isSettled: boolean
  hasActions: boolean
}

export function Head<Row>(props: HeadProps<Row>) {
  const { columns, widths, sort, onSort, onResize, selected, onSelectAll, isSettled, hasActions } = props
  const [reached, setReached] = useState<string>()
  // The columns' edges are one stop of the tab key, and the arrows go from one to the next.
  const stop = columns.some(({ id }) => id === reached) ? reached : columns[0]?.id
  return (
    <thead>
      <tr>
        {selected !== undefined && (
          <th data-tool="start" scope="col">
            <Check
              roomy
              aria-label={t('选择本页全部')}
              checked={selected}
              disabled={!isSettled}
              onChange={onSelectAll}
            />
          </th>
        )}
        {columns.map((column) => (
          <HeadCell
            key={column.id}
            column={column}
            width={widths.find(({ id }) => id === column.id)?.width ?? smallestWidth}
            isStop={column.id === stop}
            onReach={setReached}
            sort={sort}
            onSort={onSort}
            onResize={onResize}
          />
        ))}
        {hasActions && (
          <th data-tool="end" scope="col">
            <VisuallyHidden>{t('操作')}</VisuallyHidden>
          </th>
        )}
      </tr>
    </thead>
  )
}

const nextSort = (by: string, sort: Sort | undefined): Sort | undefined => {
  if (sort?.by !== by) return { by, order: 'desc' }
  return sort.order === 'desc' ? { by, order: 'asc' } : undefined
}

const spokenOrder = (order: Sort['order'] | undefined) =>
  order === undefined ? undefined : order === 'asc' ? 'ascending' : 'descending'

type HeadCellProps<Row> = Pick<HeadProps<Row>, 'sort' | 'onSort' | 'onResize'> & {
  column: Column<Row>
  width: number
  isStop: boolean
  onReach: (id: string) => void
}

function HeadCell<Row>({ column, width, isStop, onReach, sort, onSort, onResize }: HeadCellProps<Row>) {
  const order = sort?.by === column.id ? sort.order : undefined
  const Arrow = order === undefined ? ChevronsUpDown : order === 'asc' ? ArrowUp : ArrowDown
  return (
    <th scope="col" data-align={column.align} aria-sort={spokenOrder(order)}>
      {column.sortable && onSort ? (
        <button type="button" data-sort="" onClick={() => onSort(nextSort(column.id, sort))}>
          <span>{column.title}</span>
          <Arrow size={12} aria-hidden style={{ opacity: order ? 1 : 0.5 }} />
        </button>
      ) : (
        column.title
      )}
      <Resizer
        title={column.title}
        width={width}
        isStop={isStop}
        onReach={() => onReach(column.id)}
        onResize={(next) => onResize(column.id, next)}
      />
    </th>
  )
}

type ResizerProps = {
  title: string
  width: number
  isStop: boolean
  onReach: () => void
  onResize: (width: number) => void
}

const cellOf = (element: Element) => element.closest('th')

/** The edge of the column before or behind, however the reader has ordered them. */
function neighbourOf(handle: Element, by: -1 | 1): HTMLElement | undefined {
  const handles = [...(handle.closest('tr')?.querySelectorAll<HTMLElement>('[role=separator]') ?? [])]
  return handles[handles.findIndex((other) => other === handle) + by]
}

/** Dragged with the pointer; with the keyboard left and right move it, up and down go to those of the other columns. */
function Resizer({ title, width, isStop, onReach, onResize }: ResizerProps) {
  // The column that takes the room that is left is wider than it was set to be.
  const [measured, setMeasured] = useState<number>()
  const resize = (next: number) => {
    setMeasured(undefined)
    onResize(Math.max(smallestWidth, Math.round(next)))
  }
  const reach = (event: FocusEvent<HTMLSpanElement>) => {
    setMeasured(cellOf(event.currentTarget)?.offsetWidth)
    onReach()
  }
  const drag = (event: PointerEvent<HTMLSpanElement>) => {
    const handle = event.currentTarget
    const start = event.clientX - (cellOf(handle)?.offsetWidth ?? 0)
    handle.setPointerCapture(event.pointerId)
    handle.onpointermove = (move) => resize(move.clientX - start)
    handle.onpointerup = () => {
      handle.onpointermove = null
    }
  }
  const press = (event: KeyboardEvent<HTMLSpanElement>) => {
    const handle = event.currentTarget
    const by = { ArrowRight: 16, ArrowLeft: -16 }[event.key]
    const next = { ArrowUp: -1 as const, ArrowDown: 1 as const }[event.key]
    if (by === undefined && next === undefined) return
    event.preventDefault()
    event.stopPropagation()
    if (next !== undefined) neighbourOf(handle, next)?.focus()
    if (by !== undefined) resize((cellOf(handle)?.offsetWidth ?? width) + by)
  }
  return (
    <span
      role="separator"
      tabIndex={isStop ? 0 : -1}
      aria-orientation="vertical"
      aria-label={t('调整「{title}」列宽', { title })}
      data-tip={t('左右键调整宽度，上下键换一列')}
      aria-valuenow={measured ?? width}
      aria-valuemin={smallestWidth}
      onFocus={reach}
      onPointerDown={drag}
      onKeyDown={press}
      onClick={(event) => event.stopPropagation()}
    />
  )
}
