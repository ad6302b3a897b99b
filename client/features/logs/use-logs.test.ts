import { expect, test } from 'vitest'
import { logFilters, type LogFilterValues, unreadableFilters } from './use-logs.ts'

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
