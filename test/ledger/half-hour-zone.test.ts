import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createHotPool } from '#db/hot-pool.ts'
import { connect, type Database } from '#db/orm.ts'
import { rollUpUsage } from '#features/logs/rollup.ts'
import { createFailureLog } from '#relay/attempt/failure-log.ts'
import { createDatabase, type TestDatabase } from '#test/support/database.ts'

let own: TestDatabase
let database: Database
let hot: Pool

beforeAll(async () => {
  own = await createDatabase()
  const setting = await connect(own.connection, 1)
  await setting.pool.query(`alter database ${own.connection.database} set timezone = 'Asia/Kolkata'`)
  await setting.close()
  database = await connect(own.connection, 2)
  hot = createHotPool(own.connection, () => {}, 1)
})
beforeEach(() => hot.query('truncate logs, failures_hourly, log_hours, token_name_hours, usage_rollup'))
afterAll(async () => {
  await Promise.all([hot.end(), database.close()])
  await own[Symbol.asyncDispose]()
})

const minutesOf = async (times: string): Promise<unknown[]> =>
  (await hot.query(`select extract(minute from t at time zone 'utc')::int as minute from (${times}) s(t)`)).rows
const logAt = (time: string) =>
  hot.query(`insert into logs (user_id, type, token_name, quota, created_at) values (1, 2, 'shared', 7, $1)`, [time])

test('hours are those of UTC on a server whose own begin half an hour later', async () => {
  const failures = createFailureLog(hot, (_dropped, error) => {
    throw error
  })
  const row = { userId: 1, tokenId: 1, channelId: 1, useTimeMs: 1, isStream: false, other: {} }
  const texts = { content: '', username: '', tokenName: '', modelName: 'o3', group: '', clientIp: '', requestId: '' }
  failures.add({ ...row, ...texts, failed: 'call', logged: true })
  await failures.flushed()
  expect(await minutesOf('select hour from failures_hourly')).toEqual([{ minute: 0 }])
  await logAt('2026-01-05 10:15Z')
  await logAt('2026-01-05 10:45Z')
  expect((await rollUpUsage({ database })).getTime() % 3_600_000).toBe(0)
  expect(await minutesOf('select hour from log_hours')).toEqual([{ minute: 0 }])
})

test('an hour of which a version before has added up a half gets the rest, and those that follow are added up', async () => {
  for (const time of ['2026-01-05 10:15Z', '2026-01-05 10:45Z']) await logAt(time)
  await rollUpUsage({ database })
  await hot.query(`update token_name_hours set calls = 1, quota = 7`)
  await hot.query(`delete from log_hours`)
  await hot.query(`update usage_rollup set until = '2026-01-05 10:30Z'`)
  await logAt('2026-01-05 11:20Z')
  await rollUpUsage({ database })
  const { rows } = await hot.query('select calls::int, quota::int from token_name_hours order by hour')
  expect(rows).toEqual([
    { calls: 2, quota: 14 },
    { calls: 1, quota: 7 },
  ])
})
