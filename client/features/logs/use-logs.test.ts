import { expect, test } from 'vitest'
import { fetchAll } from '../../components/data-table/fetch-all.ts'
import { logFilters, type LogFilterValues, rowsOfFile, unreadableFilters } from './use-logs.ts'

const unreadable = (values: Partial<LogFilterValues>, isAdmin = true) =>
  unreadableFilters({ ...logFilters, ...values } as LogFilterValues, isAdmin)

test('filters that cannot be read are named one by one', () => {
  expect(unreadable({})).toEqual([])
  expect(unreadable({ type: ['2'], outcome: ['failed'], time: '1..3', cost: '', range: '30d' })).toEqual([])
  expect(unreadable({ type: ['2', 'two'] })).toEqual(['type'])
  expect(unreadable({ outcome: ['maybe'] })).toEqual(['outcome'])
  expect(unreadable({ time: 'fast' })).toEqual(['time'])
  expect(unreadable({ cost: 'x' })).toEqual(['cost'])
  expect(unreadable({ range: 'lately' })).toEqual(['range'])
})

test('a channel or user in the address of somebody who has no such filter is named, not left out', () => {
  const values = { user: ['root'], channel: ['word'] }
  expect(unreadable(values)).toEqual([])
  expect(unreadable(values, false)).toEqual(['user', 'channel'])
})

test('rows of one request stand in the file each, also where a page ends between them', async () => {
  type Log = Parameters<typeof rowsOfFile>[0][number]
  const log = (fields: Partial<Log>) => ({ requestId: '', createdAt: new Date(0), ...fields }) as Log
  const pages = [[log({ requestId: 'a' }), log({})], [log({}), log({})], [log({ requestId: 'a' })]]
  for (const isAdmin of [false, true]) {
    const all = pages.map((page, index) => page.map((row, place) => ({ ...row, id: index * 2 + place })))
    const { count } = await fetchAll({
      fetchPage: async (page) => ({ items: rowsOfFile(all[page - 1] ?? [], { page, isAdmin }) }),
      pageSize: 2,
      columns: [],
      rowId: ({ key }) => key,
      signal: new AbortController().signal,
      onProgress: () => {},
    })
    expect(count).toBe(5)
  }
})
