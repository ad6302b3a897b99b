import { expect, test } from 'vitest'
import { fetchAll } from './fetch-all.ts'

test('a row stands once in the file, however many new ones come to the list while it is fetched', async () => {
  let list = [5, 4, 3, 2, 1]
  const fetchPage = async (page: number, pageSize: number) => {
    const items = list.slice((page - 1) * pageSize, page * pageSize).map((id) => ({ id }))
    list = [(list[0] ?? 0) + 1, ...list]
    return { items, total: list.length }
  }
  const { parts, count } = await fetchAll({
    fetchPage,
    pageSize: 2,
    columns: [{ id: 'id', title: 'ID', cell: ({ id }) => id, csv: ({ id }) => id }],
    rowId: ({ id }) => id,
    signal: new AbortController().signal,
    onProgress: () => {},
  })
  expect(parts.join('').trim().split('\r\n').slice(1)).toEqual(['5', '4', '3', '2', '1'])
  expect(count).toBe(5)
})
