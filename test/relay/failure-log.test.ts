import type { Pool, QueryConfig } from 'pg'
import { expect, test } from 'vitest'
import { createFailureLog, type FailureRow } from '#relay/attempt/failure-log.ts'
import { startLedgerWorld } from '../support/ledger-world.ts'

const world = await startLedgerWorld()

const rowOf = (requestId: string, content = 'status code 500: no'): FailureRow => ({
  failed: 'call',
  logged: true,
  userId: 1,
  content,
  username: 'someone',
  tokenName: 'token',
  tokenId: 1,
  modelName: 'gpt-4o',
  useTimeMs: 12,
  isStream: false,
  channelId: 1,
  group: 'default',
  clientIp: '',
  requestId,
  other: { status_code: 500 },
})

const written = async (like: string): Promise<number> =>
  Number(
    (await world.pool.query('select count(*) as n from logs where type = 6 and request_id like $1', [like])).rows[0]?.n,
  )

/** A pool that counts its statements, and lets the first wait until it is asked to go on. */
function heldPool() {
  const statements: number[] = []
  let running = 0
  let most = 0
  let goOn = (): void => {}
  const first = new Promise<void>((resolve) => (goOn = resolve))
  const pool = {
    query: async (query: QueryConfig) => {
      statements.push(JSON.parse(String(query.values?.[0])).length)
      running += 1
      most = Math.max(most, running)
      if (statements.length === 1) await first
      try {
        return await world.hot.query(query)
      } finally {
        running -= 1
      }
    },
  } as unknown as Pool
  return { pool, statements, goOn: () => goOn(), most: () => most }
}

test('rows of failed attempts are written in batches, one at a time, and all of them before the process ends', async () => {
  const { pool, statements, goOn, most } = heldPool()
  const log = createFailureLog(pool, () => {})
  log.add(rowOf('many-first'))
  await expect.poll(() => statements.length).toBe(1)
  for (let row = 0; row < 1000; row += 1) log.add(rowOf(`many-${row}`))
  goOn()
  await log.flushed()
  expect(await written('many-%')).toBe(1001)
  expect(statements).toEqual([1, 200, 200, 200, 200, 200])
  expect(most()).toBe(1)
})

test('rows beyond the limit are dropped and counted while the database does not answer, and waiting rows are written afterwards', async () => {
  const { pool, statements, goOn } = heldPool()
  const dropped: number[] = []
  const log = createFailureLog(pool, (count) => dropped.push(count))
  log.add(rowOf('full-first'))
  await expect.poll(() => statements.length).toBe(1)
  for (let row = 0; row < 6000; row += 1) log.add(rowOf(`full-${row}`))
  await expect.poll(() => dropped).toEqual([1000])
  goOn()
  await log.flushed()
  expect(await written('full-%')).toBe(5001)
})

test('one row that cannot be written does not fail the others, and any characters can be written', async () => {
  const dropped: number[] = []
  const log = createFailureLog(world.hot, (count) => dropped.push(count))
  for (let row = 0; row < 50; row += 1)
    log.add(row === 20 ? { ...rowOf('odd-bad'), useTimeMs: 1e12 } : rowOf(`odd-${row}`, 'a\0b\ud800c'))
  await log.flushed()
  expect(await written('odd-%')).toBe(49)
  await expect.poll(() => dropped).toEqual([1])
})
