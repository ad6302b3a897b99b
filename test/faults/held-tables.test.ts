import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { briefLockWait } from '#db/brief-locks.ts'
import { createHotPool } from '#db/hot-pool.ts'
import { connect, type Database, upgradeSchema } from '#db/orm.ts'
import { clearLogs } from '#features/logs/clear.ts'
import { ensureLogPartitions } from '#features/logs/partitions.ts'
import { createDatabase, type TestDatabase } from '#test/support/database.ts'

let own: TestDatabase
let database: Database
/** Of somebody who has begun a transaction and does not end it. */
let holder: pg.Client
/** Gives up only on who does not go out of its way; how long calls themselves wait is a test of its own. */
let call: pg.Client
const signal = AbortSignal.timeout(600_000)

beforeAll(async () => {
  own = await createDatabase()
  database = await connect(own.connection, 2)
  holder = new pg.Client(own.connection)
  call = new pg.Client({ ...own.connection, lock_timeout: 60_000 })
  await Promise.all([holder.connect(), call.connect()])
})
afterAll(async () => {
  await Promise.all([holder.end(), call.end(), database.close()])
  await own[Symbol.asyncDispose]()
})

/** Somebody waits for the lock of the table. */
const isWaitedFor = async (table: string): Promise<void> => {
  // Other databases of the server give their tables the same numbers.
  const waiting = `select 1 from pg_locks join pg_database d on d.oid = database
    where relation = $1::regclass and not granted and datname = current_database()`
  await expect.poll(async () => (await call.query(waiting, [table])).rows.length).toBeGreaterThan(0)
}

const monthAhead = async (): Promise<string> => {
  const { rows } = await call.query<{ name: string }>(
    `select 'logs_' || to_char(now() at time zone 'utc' + interval '3 months', 'YYYY_MM') as name`,
  )
  return rows[0]?.name ?? ''
}
const exists = async (name: string): Promise<boolean> =>
  (await call.query('select to_regclass($1) is not null as made', [name])).rows[0].made
const charge = () => call.query(`insert into logs (user_id, type) values (1, 2)`)

test('who waits for the lock of a whole table goes out of the way sooner than a call gives up', async () => {
  const calls = createHotPool(own.connection, () => {}, 1)
  const { rows } = await calls.query("select setting::int as ms from pg_settings where name = 'lock_timeout'")
  await calls.end()
  expect(Number.parseInt(briefLockWait, 10)).toBeLessThan(rows[0]?.ms)
})

test('while somebody reads the log for long, the table of a coming month is made later, and calls are charged all the while', async () => {
  const name = await monthAhead()
  await call.query(`drop table ${name}`)
  await holder.query('begin; select 1 from logs limit 1')
  const made = ensureLogPartitions({ database }, { signal })
  await isWaitedFor('logs')
  await charge()
  // A start does not wait for what is not needed yet.
  await upgradeSchema(database)
  await charge()
  expect(await exists(name)).toBe(false)
  await holder.query('commit')
  expect(name).toBe(`logs_${(await made).replace('-', '_')}`)
  expect(await exists(name)).toBe(true)
})

test('an upgrade that waits for a table keeps no other one from those who serve, nor this one, and says what it waits for', async () => {
  const reports: [string, object][] = []
  await call.query(`alter table channels drop column proxy_encrypted; drop index usage_by_hour_model_name_hour_index;
    delete from mikro_orm_migrations where name in ('0200-channel-proxies', '0213-usage-by-hour-models')`)
  await call.query(`insert into channels (type, name, key_encrypted) values (1, 'served', '')`)
  await holder.query('begin; lock table usage_by_hour in row exclusive mode')
  const upgraded = upgradeSchema(database, (message, facts) => reports.push([message, facts]))
  await isWaitedFor('usage_by_hour')
  await call.query('update channels set used_quota = used_quota + 1')
  await call.query(`insert into usage_by_hour (hour, model_name) values (now(), 'gpt-4o')`)
  expect(await exists('usage_by_hour_model_name_hour_index')).toBe(false)
  // It has been tried more than once by then.
  await expect.poll(() => reports.length).toBe(3)
  await isWaitedFor('usage_by_hour')
  await holder.query('commit')
  await upgraded
  const index = { migration: '0213-usage-by-hour-models' }
  expect(reports).toEqual([
    ['bringing the database up to date', { migration: '0200-channel-proxies' }],
    ['bringing the database up to date', index],
    [expect.stringContaining('a table that the migration needs is in use'), index],
  ])
  expect(await exists('usage_by_hour_model_name_hour_index')).toBe(true)
  const { rows } = await call.query('select proxy_encrypted from channels')
  expect(rows).toEqual([{ proxy_encrypted: '' }])
})

test('while somebody reads the log for long, old months are cleared, and calls are charged all the while', async () => {
  await call.query(
    `create table logs_2026_01 partition of logs for values from ('2026-01-01 00:00:00+00') to ('2026-02-01 00:00:00+00')`,
  )
  await call.query(`insert into logs (user_id, type, created_at) values (1, 2, '2026-01-15')`)
  await holder.query('begin; select 1 from logs limit 1')
  const ambient = { now: () => new Date(), newId: () => '', random: Math.random }
  let isCleared = false
  const cleared = clearLogs({ database, ambient }, { before: new Date('2026-02-01') }).finally(() => (isCleared = true))
  while (!isCleared) await charge()
  expect(await cleared).toEqual({ count: 1 })
  // Its table was not to be had.
  expect(await exists('logs_2026_01')).toBe(true)
  await holder.query('commit')
})

test('a month whose sums of names take their time to go keeps nobody from the log meanwhile', async () => {
  await call.query(
    `create table logs_2026_02 partition of logs for values from ('2026-02-01 00:00:00+00') to ('2026-03-01 00:00:00+00');
    insert into token_name_hours (token_name, hour) values ('named', '2026-02-15 00:00:00+00')`,
  )
  await holder.query(`begin; select 1 from token_name_hours for update`)
  const ambient = { now: () => new Date(), newId: () => '', random: Math.random }
  const cleared = clearLogs({ database, ambient }, { before: new Date('2026-03-01') })
  const waiting = `select exists (select 1 from pg_locks held where held.pid = w.pid and held.relation = 'logs'::regclass
      and held.mode = 'AccessExclusiveLock') as "keepsLog"
    from pg_locks w join pg_stat_activity using (pid) where not w.granted and datname = current_database()`
  await expect.poll(async () => (await call.query(waiting)).rows).toEqual([{ keepsLog: false }])
  await charge()
  await holder.query('commit')
  await cleared
  // Not row by row, as where its lock was not to be had.
  expect(await exists('logs_2026_02')).toBe(false)
})

test('a month that has rows before it has a table keeps the product from nothing, and the other months get theirs', async () => {
  const name = await monthAhead()
  const { rows } = await call.query<{ now: string }>(
    `select 'logs_' || to_char(now() at time zone 'utc', 'YYYY_MM') as now`,
  )
  const month = rows[0]?.now ?? ''
  await call.query(`drop table ${month}; drop table ${name}`)
  await charge()
  await upgradeSchema(database)
  expect([await exists(month), await exists(name)]).toEqual([false, true])
  await charge()
})
