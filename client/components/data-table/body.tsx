import { Skeleton } from '@chakra-ui/react'
import type { MouseEvent } from 'react'
import { t } from '../../i18n/t.ts'
import type { MenuAction } from '../action-menu.tsx'
import { ActionMenu } from '../action-menu.tsx'
import { Check } from '../check.tsx'
import type { Column, DataTableProps, RowId } from './types.ts'

type BodyProps<Row> = Pick<
  DataTableProps<Row>,
  'rowId' | 'rowLabel' | 'rowActions' | 'onOpen' | 'openRow' | 'isMuted'
> & {
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  /** Undefined where rows cannot be selected. */
  selected: ReadonlyMap<RowId, unknown> | undefined
  onSelect: (row: Row, selected: boolean) => void
  isStale: boolean
}

const interactive = 'a, button, input, select, textarea, label, [role=menu], [role=button]'

/** A click on a control, or the end of marking text, is not a click on the row. */
export const isPlainClick = (event: MouseEvent): boolean =>
  event.target instanceof Element &&
  !event.target.closest(interactive) &&
  event.currentTarget.contains(event.target) &&
  !window.getSelection()?.toString()

export function Body<Row>(props: BodyProps<Row>) {
  const { rows, columns, rowId, rowLabel, rowActions, onOpen, openRow, isMuted, selected, onSelect, isStale } = props
  return (
    <tbody>
      {rows.map((row, index) => {
        const id = rowId(row)
        const isSelected = selected?.has(id) ?? false
        return (
          <tr
            key={id}
            data-row={id}
            tabIndex={index === 0 ? 0 : -1}
            data-opens={onOpen ? '' : undefined}
            data-muted={isMuted?.(row) ? '' : undefined}
            data-picked={isSelected || openRow === id ? '' : undefined}
            aria-current={openRow === id ? 'true' : undefined}
            onClick={(event) => onOpen && isPlainClick(event) && onOpen(row)}
          >
            {selected && (
              <td data-tool="start">
                <Check
                  roomy
                  aria-label={t('选择 {name}', { name: rowLabel(row) })}
                  checked={isSelected}
                  disabled={isStale}
                  onChange={(checked) => onSelect(row, checked)}
                />
              </td>
            )}
            {columns.map((column) => (
              <td key={column.id} data-align={column.align}>
                {column.cell(row)}
              </td>
            ))}
            {rowActions && (
              <td data-tool="end">
                <RowMenu name={rowLabel(row)} actions={rowActions(row)} />
              </td>
            )}
          </tr>
        )
      })}
    </tbody>
  )
}

/** A row that nothing can be done with has no menu. */
export function RowMenu({ name, actions }: { name: string; actions: readonly MenuAction[] }) {
  return actions.length > 0 && <ActionMenu label={t('操作 {name}', { name })} actions={actions} />
}

const barWidths = ['60%', '80%', '45%', '70%', '55%']

type SkeletonBodyProps = { rows: number; columns: readonly { id: string }[]; before: boolean; after: boolean }

/** The table's final shape while its first rows come. */
export function SkeletonBody({ rows, columns, before, after }: SkeletonBodyProps) {
  return (
    <tbody aria-hidden>
      {Array.from({ length: rows }, (_, row) => (
        <tr key={row}>
          {before && <td data-tool="start" />}
          {columns.map((column, index) => (
            <td key={column.id}>
              <Skeleton h="3" w={barWidths[(row + index) % barWidths.length]} display="inline-block" />
            </td>
          ))}
          {after && <td data-tool="end" />}
        </tr>
      ))}
    </tbody>
  )
}
