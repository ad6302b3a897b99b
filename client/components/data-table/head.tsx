import { VisuallyHidden } from '@chakra-ui/react'
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react'
import type { KeyboardEvent, PointerEvent } from 'react'
import { t } from '../../i18n/t.ts'
import type { Sort } from '../../lib/table-state.ts'
import { Check } from '../check.tsx'
import { smallestWidth } from './layout.ts'
import type { Column } from './types.ts'

type HeadProps<Row> = {
  columns: readonly Column<Row>[]
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
  const { columns, sort, onSort, onResize, selected, onSelectAll, isSettled, hasActions } = props
  return (
    <thead>
      <tr>
        {selected !== undefined && (
          <th data-tool="start" scope="col">
            <Check aria-label={t('选择本页全部')} checked={selected} disabled={!isSettled} onChange={onSelectAll} />
          </th>
        )}
        {columns.map((column) => (
          <HeadCell key={column.id} column={column} sort={sort} onSort={onSort} onResize={onResize} />
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

type HeadCellProps<Row> = Pick<HeadProps<Row>, 'sort' | 'onSort' | 'onResize'> & { column: Column<Row> }

function HeadCell<Row>({ column, sort, onSort, onResize }: HeadCellProps<Row>) {
  const order = sort?.by === column.id ? sort.order : undefined
  const Arrow = order === undefined ? ChevronsUpDown : order === 'asc' ? ArrowUp : ArrowDown
  return (
    <th scope="col" data-align={column.align} aria-sort={spokenOrder(order)}>
      {column.sortable && onSort ? (
        <button type="button" data-sort="" onClick={() => onSort(nextSort(column.id, sort))}>
          {column.title}
          <Arrow size={12} aria-hidden style={{ opacity: order ? 1 : 0.5 }} />
        </button>
      ) : (
        column.title
      )}
      <Resizer title={column.title} onResize={(width) => onResize(column.id, width)} />
    </th>
  )
}

/** Dragged with the pointer, or moved with the arrow keys. */
function Resizer({ title, onResize }: { title: string; onResize: (width: number) => void }) {
  const cellOf = (element: Element) => element.closest('th')
  const drag = (event: PointerEvent<HTMLSpanElement>) => {
    const handle = event.currentTarget
    const start = event.clientX - (cellOf(handle)?.offsetWidth ?? 0)
    handle.setPointerCapture(event.pointerId)
    handle.onpointermove = (move) => onResize(Math.max(smallestWidth, Math.round(move.clientX - start)))
    handle.onpointerup = () => {
      handle.onpointermove = null
    }
  }
  const step = (event: KeyboardEvent<HTMLSpanElement>) => {
    const by = event.key === 'ArrowRight' ? 16 : event.key === 'ArrowLeft' ? -16 : 0
    const width = cellOf(event.currentTarget)?.offsetWidth
    if (by === 0 || width === undefined) return
    event.preventDefault()
    event.stopPropagation()
    onResize(Math.max(smallestWidth, width + by))
  }
  return (
    <span
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={t('调整「{title}」列宽', { title })}
      aria-valuenow={0}
      onPointerDown={drag}
      onKeyDown={step}
      onClick={(event) => event.stopPropagation()}
    />
  )
}
