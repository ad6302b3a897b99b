import { expect, test } from 'vitest'
import { createRecentNames } from './recent-names.ts'

test('of all names that are given the latest thousand are known', () => {
  const names = createRecentNames()
  for (let count = 0; count < 3000; count += 1) names.add(`name-${count}`)
  const known = Array.from({ length: 3000 }, (_, count) => count).filter((count) => names.has(`name-${count}`))
  expect([known.length, known[0], known.at(-1)]).toEqual([1000, 2000, 2999])
})

test('an empty name is none', () => {
  const names = createRecentNames()
  names.add('')
  expect(names.has('')).toBe(false)
})
