import { expect, test } from 'vitest'
import { columnWidths, moveColumn, orderColumns, untouched, visibleColumns } from './layout.ts'

const columns = [
  { id: 'id', width: 80 },
  { id: 'name', fixed: true, grow: true },
  { id: 'model' },
  { id: 'note', hidden: true },
]
const ids = (list: { id: string }[]) => list.map(({ id }) => id)

test('columns stand as written until the reader moves them', () => {
  expect(ids(orderColumns(columns, untouched))).toEqual(['id', 'name', 'model', 'note'])
  const moved = moveColumn(columns, untouched, { id: 'model', by: -1 })
  expect(ids(orderColumns(columns, moved))).toEqual(['id', 'model', 'name', 'note'])
})

test('a column that is new since the order was stored keeps its written place', () => {
  const layout = { ...untouched, order: ['model', 'id', 'note'] }
  expect(ids(orderColumns(columns, layout))).toEqual(['model', 'name', 'id', 'note'])
})

test('a column that no longer exists is forgotten', () => {
  expect(ids(orderColumns(columns, { ...untouched, order: ['gone', 'note'] }))).toEqual(['id', 'name', 'model', 'note'])
})

test('a fixed column cannot be hidden, a hidden one can be shown', () => {
  const layout = { ...untouched, shown: { name: false, note: true, id: false } }
  expect(ids(visibleColumns(columns, layout))).toEqual(['name', 'model', 'note'])
})

test('moving past an end changes nothing', () => {
  expect(moveColumn(columns, untouched, { id: 'id', by: -1 })).toBe(untouched)
})

test('exactly one column takes the room that is left, never one the reader has sized', () => {
  const layout = { ...untouched, widths: { name: 300 } }
  expect(columnWidths(columns, layout).filter(({ grows }) => grows)).toEqual([{ id: 'id', width: 80, grows: true }])
})
