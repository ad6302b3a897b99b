import { expect, test } from 'vitest'
import { readUrl, writeUrl } from './url-state.ts'

const defaults = { page: 1, keyword: '', exact: false, types: [] as readonly string[] }

test('reads each parameter by the type of its default', () => {
  const search = new URLSearchParams('page=3&keyword=42&exact=true&types=1&types=5')
  expect(readUrl(search, defaults)).toEqual({ page: 3, keyword: '42', exact: true, types: ['1', '5'] })
})

test('an address that says nothing, or nonsense, means the defaults', () => {
  expect(readUrl(new URLSearchParams('page=abc'), defaults)).toEqual(defaults)
})

test('leaves defaults and removed values out of the address, and keeps what is not its own', () => {
  const search = new URLSearchParams('page=3&tab=visual&types=1')
  expect(writeUrl(search, defaults, { page: 1, types: [], keyword: 'a b' }).toString()).toBe('tab=visual&keyword=a+b')
})

test('what is written is read back', () => {
  const values = { page: 7, keyword: 'x&y=z', exact: true, types: ['a,b', 'c'] }
  expect(readUrl(writeUrl(new URLSearchParams(), defaults, values), defaults)).toEqual(values)
})
