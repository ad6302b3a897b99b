import { expect, it } from 'vitest'
import { pageSizes } from './page-sizes.ts'
import { pageInput } from './paging.ts'

it('a list has 10 rows a page, or 20, 50 or 100 where its reader chooses so, and no more', () => {
  expect(pageInput.parse({})).toEqual({ page: 1, pageSize: 10 })
  expect(pageSizes).toEqual([10, 20, 50, 100])
  expect(pageInput.safeParse({ pageSize: 101 }).success).toBe(false)
})
