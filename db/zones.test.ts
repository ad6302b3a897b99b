import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { zonesOf } from './zones.ts'

test('the names of zones are read once, and anew after a failure', async () => {
  let asked = 0
  const query = async () => {
    asked += 1
    if (asked === 1) throw new Error('no database')
    return { rows: [{ name: 'Asia/Shanghai' }] }
  }
  const zones = zonesOf({ query } as unknown as Pool)
  await expect(zones()).rejects.toThrow('no database')
  expect(await Promise.all([zones(), zones()])).toEqual(Array(2).fill(new Set(['UTC', 'Asia/Shanghai'])))
  await zones()
  expect(asked).toBe(2)
})
