/** What the reader changed about a table's columns. */
export type ColumnLayout = {
  order: readonly string[]
  /** Only columns whose state differs from how the table was written. */
  shown: Readonly<Record<string, boolean>>
  widths: Readonly<Record<string, number>>
}

type LayoutColumn = { id: string; hidden?: boolean; fixed?: boolean; width?: number; grow?: boolean }

export const untouched: ColumnLayout = { order: [], shown: {}, widths: {} }

const defaultWidth = 140
export const smallestWidth = 64

/** All columns in the reader's order; columns that are new since then keep the place they were written at. */
export function orderColumns<Column extends LayoutColumn>(columns: readonly Column[], layout: ColumnLayout): Column[] {
  const known = layout.order.flatMap((id) => columns.find((column) => column.id === id) ?? [])
  const ordered = [...known]
  columns.forEach((column, index) => {
    if (!ordered.includes(column)) ordered.splice(Math.min(index, ordered.length), 0, column)
  })
  return ordered
}

export const isShown = (column: LayoutColumn, layout: ColumnLayout): boolean =>
  column.fixed === true || (layout.shown[column.id] ?? column.hidden !== true)

export const visibleColumns = <Column extends LayoutColumn>(
  columns: readonly Column[],
  layout: ColumnLayout,
): Column[] => orderColumns(columns, layout).filter((column) => isShown(column, layout))

export function moveColumn(columns: readonly LayoutColumn[], layout: ColumnLayout, move: { id: string; by: number }) {
  const order = orderColumns(columns, layout).map((column) => column.id)
  const from = order.indexOf(move.id)
  const to = from + move.by
  if (from < 0 || to < 0 || to >= order.length) return layout
  order.splice(to, 0, ...order.splice(from, 1))
  return { ...layout, order }
}

/** The width of each column, with one left to take what remains. */
export function columnWidths(columns: readonly LayoutColumn[], layout: ColumnLayout) {
  const free = columns.filter((column) => layout.widths[column.id] === undefined)
  const growing = free.find((column) => column.grow) ?? free.at(0) ?? columns.at(-1)
  return columns.map((column) => {
    const width = Math.max(layout.widths[column.id] ?? column.width ?? defaultWidth, smallestWidth)
    return { id: column.id, width, grows: column === growing }
  })
}
