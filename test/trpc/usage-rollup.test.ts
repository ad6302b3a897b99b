import { beforeEach, describe, expect, test } from 'vitest'
import { Log } from '#db/entities/log.ts'
import { logType, type LogType } from '#core/statuses.ts'
import { clearLogs } from '#features/logs/clear.ts'
import { rollUpUsage } from '#features/logs/rollup.ts'
import { channelMargins } from '#features/prices/buying.ts'
import { startWithPeople } from './people.ts'

const { app, admin, anna, bert, addHour, addFailures } = await startWithPeople()
beforeEach(() =>
  app.sql(
    `truncate logs, usage_hourly, usage_by_model, usage_by_hour, usage_totals, usage_by_channel, failures_hourly, failures_by_group,
       token_name_hours, log_hours, usage_rollup`,
  ),
)

const hourMs = 3_600_000
const now = Date.now()
const hoursAgo = (hours: number) => new Date((Math.floor(now / hourMs) - hours) * hourMs)

test('hours that are over are added up once, and every figure stays what it was', async () => {
  // An hour that has just ended is left for two minutes.
  for (const [index, hours] of [2, 3, 3, 30, 30, 700, 715, 718, 721, 800].entries()) {
    await addHour(hoursAgo(hours), {
      userId: index % 2 ? anna.id : bert.id,
      modelName: `model-${index % 3}`,
      group: index % 4 ? 'default' : 'vip',
      channelId: index % 2,
      tokenId: index,
      quota: 10 ** index,
      count: index + 1,
      promptTokens: 100,
      completionTokens: 7,
      cachedTokens: 3,
      useTimeMs: 1000,
      firstTokenMs: 200,
      firstTokenCount: 1,
      cost: 1000 + index,
      costedQuota: 10 ** index,
    })
    const failures = { calls: index + 1, attempts: 2 * index + 1 }
    await addFailures(hoursAgo(hours), {
      modelName: `model-${index % 3}`,
      group: index % 4 ? 'default' : 'vip',
      ...failures,
    })
  }
  const { stats } = (await app.trpc(admin)).admin
  // The hour may turn while all of it is looked at.
  const range = { start: hoursAgo(900), end: hoursAgo(-1) }
  const look = () =>
    Promise.all([
      stats.series(range),
      stats.overview(range),
      stats.overview({ ...range, modelName: 'model-1' }),
      stats.overview({ ...range, group: 'vip' }),
      stats.series({ ...range, interval: 'day', timeZone: 'Asia/Kolkata' }),
      stats.series({ ...range, interval: 'day' }),
      stats.series({ ...range, modelName: 'model-1%', username: 'anna' }),
      stats.series({ ...range, channelId: 1, interval: 'week' }),
      stats.usage(range),
      channelMargins(app.services, { channelIds: [0, 1] }),
    ])
  const callsOf = ({ points }: Awaited<ReturnType<typeof stats.series>>) =>
    points.flatMap(({ models }) => models).reduce((sum, { calls }) => sum + calls, 0)
  const before = await look()
  const errorsOf = ({ errors }: Awaited<ReturnType<typeof stats.series>>) =>
    errors.reduce((sum, { count }) => sum + count, 0)
  expect([callsOf(before[0]), errorsOf(before[0])]).toEqual([55, 55])
  await rollUpUsage(app.services)
  const underWay = await rollUpUsage(app.services)
  expect(await app.sql('select sum(quota)::text as quota from usage_by_model')).toEqual([{ quota: '1111111111' }])
  expect(await app.sql('select sum(calls)::int as calls from failures_by_group')).toEqual([{ calls: 55 }])
  expect(await look()).toEqual(before)
  // The hour that is under way counts beside them.
  await addHour(underWay, { modelName: 'model-1', count: 1 })
  await addFailures(underWay, { modelName: 'model-1', calls: 1, attempts: 1 })
  const [after] = await look()
  expect([callsOf(after), errorsOf(after)]).toEqual([56, 56])
})

test('hours that a process of the version before added up by group alone are added up over all groups too', async () => {
  await addHour(hoursAgo(5), { quota: 7 })
  await addHour(hoursAgo(4), { quota: 30 })
  await addFailures(hoursAgo(4), { modelName: 'model-1', calls: 2, attempts: 3 })
  await rollUpUsage(app.services)
  await app.sql('delete from usage_by_hour where hour >= $1', [hoursAgo(4)])
  await app.sql('delete from failures_by_group')
  await app.sql('update usage_rollup set until = $1', [hoursAgo(2)])
  await rollUpUsage(app.services)
  expect(await app.sql('select quota::int from usage_by_hour order by hour')).toEqual([{ quota: 7 }, { quota: 30 }])
  expect(await app.sql('select calls::int, attempts::int from failures_by_group')).toEqual([{ calls: 2, attempts: 3 }])
})

test('rows and sums of a time are the same once its hours are added up, also of rows that came out of order', async () => {
  const time = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
  /** A call as the ledger keeps it: a row and its part of the hour. */
  const spend = async (quota: number, createdAt: Date, fields: { modelName?: string; content: string }) => {
    const row = { userId: anna.id, username: 'anna', type: 2, modelName: 'gpt-4o', channelId: 1, tokenId: 1, ...fields }
    await app.em().insert(Log, { ...row, quota, createdAt, group: 'default' })
    await app.sql(
      `insert into usage_hourly as t (hour, user_id, model_name, channel_id, token_id, "group", count, quota)
       values (date_trunc('hour', $1::timestamptz), $2, $3, 1, 1, 'default', 1, $4)
       on conflict (hour, user_id, model_name, channel_id, token_id, "group")
         do update set count = t.count + 1, quota = t.quota + excluded.quota`,
      [createdAt, row.userId, row.modelName, quota],
    )
  }
  for (const [index, minute] of [70, 50, 190, 10, 71, 185, 180, 0, 119, 240].entries()) {
    await spend(10 ** index, time(minute), { modelName: index % 2 ? 'gpt-4o' : 'o3', content: String(minute) })
  }
  const { logs } = (await app.trpc(admin)).admin
  const contents = (page: { items: { content: string }[] }) => page.items.map(({ content }) => content)
  const ranges = [0, 10, 60, 71, 185, 300].flatMap((from) =>
    [0, 30, 120, 200].map((length) => ({ start: time(from), end: time(from + length) })),
  )
  const look = async () => {
    const seen: unknown[] = []
    for (const range of [...ranges, { start: time(71) }, { end: time(71) }, {}]) {
      const found = await logs.list({ ...range, modelName: ['o%', 'none%'] })
      seen.push([contents(await logs.list(range)), contents(found), (await logs.stat(range)).quota])
    }
    return seen
  }
  const before = await look()
  const until = await rollUpUsage(app.services)
  expect(until.getTime()).toBeLessThanOrEqual(Date.now())
  expect(await look()).toEqual(before)
  await rollUpUsage(app.services)
  expect(await look()).toEqual(before)
  // What is logged from now on is found beside it.
  await spend(3, new Date(), { content: 'now' })
  expect((await logs.stat({})).quota).toBe(1_111_111_111 + 3)
  expect(contents(await logs.list({ start: time(240) }))).toEqual(['now', '240'])
})

test('the totals of a token name are those of its rows, before and after its hours are added up and once some are cleared', async () => {
  const time = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
  const log = (minute: number, fields: { type: LogType; quota?: number; tokenName?: string; other?: object }) =>
    app.em().insert(Log, { userId: anna.id, modelName: 'o3', createdAt: time(minute), tokenName: 'shared', ...fields })
  const attempts = (count: number) => ({ admin_info: { attempts: Array.from({ length: count }, () => ({})) } })
  for (const [index, minute] of [5, 70, 190, 119, 10, 60, 240].entries()) {
    await log(minute, { type: logType.consume, quota: 10 ** index, other: attempts(index % 3) })
    await log(minute + 1, { type: logType.error, other: attempts(2) })
    await log(minute, { type: logType.consume, quota: 10 ** index, tokenName: 'other' })
  }
  await log(70, { type: logType.consume, quota: 5, other: { test_quota: 5 } })
  await log(70, { type: logType.manage, quota: 5 })
  const { logs } = (await app.trpc(admin)).admin
  const ranges = [0, 10, 60, 71, 185, 300].flatMap((from) =>
    [0, 30, 120, 200].map((length) => ({ start: time(from), end: time(from + length) })),
  )
  const look = () =>
    Promise.all(
      [...ranges, { start: time(71) }, { end: time(71) }, {}].flatMap((range) =>
        ['shared', ['shared', 'other'], 'nobody'].map((tokenName) => logs.stat({ ...range, tokenName })),
      ),
    )
  const before = await look()
  const all = { tokenName: 'shared' }
  expect(await logs.stat(all)).toMatchObject({ quota: 1_111_111, calls: 7, failures: { calls: 7, attempts: 16 } })
  await rollUpUsage(app.services)
  expect(await look()).toEqual(before)
  await log((Date.now() - time(0).getTime()) / 60_000, { type: logType.consume, quota: 3 })
  expect(await logs.stat(all)).toMatchObject({ quota: 1_111_114, calls: 8 })
  // What the sums do not know is still counted row by row.
  expect(await logs.stat({ ...all, minQuota: 1000 })).toMatchObject({ quota: 1_111_000, calls: 4 })
  expect(await logs.stat({ ...all, userId: bert.id })).toMatchObject({ quota: 0, calls: 0 })
  await logs.clear({ before: time(120) })
  expect(await logs.stat(all)).toMatchObject({ quota: 1_000_103, calls: 3 })
})

test('a clearing that ends early leaves the totals of a token name as its rows are, after a month and after a batch of rows', async () => {
  await app.sql(
    `create table logs_2024_01 partition of logs for values from ('2024-01-01 00:00+00') to ('2024-02-01 00:00+00')
       with (autovacuum_enabled = off)`,
  )
  // A vacuum under way keeps a month from being dropped.
  await app.sql('alter table logs_default set (autovacuum_enabled = off)')
  await app.sql(
    `insert into logs (user_id, type, model_name, token_name, quota, created_at)
     select $1, 2, 'o3', 'shared', 10, start + (n % 3) * interval '1 hour' from generate_series(1, 6000) n,
       unnest(array['2024-01-31T22:30:00Z', '2024-02-10T00:30:00Z']::timestamptz[]) start`,
    [anna.id],
  )
  await rollUpUsage(app.services)
  const { logs } = (await app.trpc(admin)).admin
  const before = new Date('2024-02-10T02:59:00Z')
  const rowsLeft = async () => (await app.sql('select count(*)::int as calls from logs'))[0]?.calls
  const seen: unknown[] = []
  const clearOne = async () => {
    const ended = new AbortController()
    const parts = { signal: ended.signal, progress: () => ended.abort() }
    await expect(clearLogs(app.services, { before }, parts)).rejects.toThrow()
    const calls = await rowsLeft()
    expect(await logs.stat({ tokenName: 'shared' })).toMatchObject({ calls, quota: 10 * Number(calls) })
    seen.push(calls)
  }
  await clearOne()
  await clearOne()
  expect(seen).toEqual([8000, 3000])
  await clearLogs(app.services, { before })
  expect(await logs.stat({ tokenName: 'shared' })).toMatchObject({ calls: 0, quota: 0 })
  expect(await app.sql(`select * from token_name_hours where hour < '2024-02-10T02:00:00Z'`)).toEqual([])
})

test('figures of the dashboard and of the log are those of one session, agent or project where that is asked for', async () => {
  const call = async (hours: number, session: string, row: { quota: number; type?: number; attempts?: number }) => {
    await app.em().insert(Log, {
      userId: anna.id,
      type: row.type ?? 2,
      modelName: session,
      quota: row.quota,
      createdAt: new Date(hoursAgo(hours).getTime() + 1_200_000),
      other: {
        session,
        agent: `${session}-agent`,
        project: 'shop',
        admin_info: { attempts: Array.from({ length: row.attempts ?? 1 }, () => ({})) },
      },
    })
  }
  await call(3, 'one', { quota: 10, attempts: 3 })
  await call(2, 'one', { quota: 20 })
  await call(2, 'two', { quota: 400 })
  await call(2, 'one', { quota: 0, type: 6, attempts: 2 })
  const range = { start: hoursAgo(5), end: hoursAgo(1) }
  for (const { stats, logs } of [(await app.trpc(anna)).user, (await app.trpc(admin)).admin]) {
    const all = await stats.overview({ ...range, project: 'shop' })
    expect(all.current).toMatchObject({ quota: 430, calls: 3 })
    for (const filter of [{ session: 'one' }, { agent: 'one-agent' }, { agent: ['one-agent'], project: 'shop' }]) {
      const { current } = await stats.overview({ ...range, ...filter })
      expect(current).toMatchObject({ quota: 30, calls: 2, errors: 1, failedAttempts: 4 })
      const { models, points, errors } = await stats.series({ ...range, ...filter })
      expect(models).toEqual(['one'])
      expect(points.map(({ time, models: [here] }) => [time, here?.quota, here?.calls])).toEqual([
        [hoursAgo(3), 10, 1],
        [hoursAgo(2), 20, 1],
      ])
      expect(errors).toEqual([{ time: hoursAgo(2), count: 1 }])
      expect(await logs.stat({ ...range, ...filter })).toMatchObject({
        quota: 30,
        calls: 2,
        failures: { calls: 1, attempts: 4 },
      })
    }
    expect((await stats.overview({ ...range, session: 'none' })).current).toMatchObject({ quota: 0, calls: 0 })
  }
})

describe('the wallet', () => {
  const personSince = async (days: number) => {
    const person = await app.person({ quota: 700 })
    await app.sql(`update users set created_at = now() - ${days} * interval '1 day' where id = ${person.id}`)
    return person
  }

  test('says what the balance lasts for at the pace of a week, plans left out', async () => {
    const person = await personSince(30)
    const hour = new Date(Date.now() - 86_400_000)
    await addHour(hour, { userId: person.id, quota: 800, planQuota: 100 })
    await addHour(new Date(Date.now() - 8 * 86_400_000), { userId: person.id, quota: 5000 })
    await addHour(hour, { userId: bert.id, quota: 5000 })
    const wallet = await (await app.trpc(person)).user.wallet.get()
    expect(wallet).toMatchObject({ quota: 700, dailyQuota: 100, paceDays: 7, daysLeft: 7, methods: [] })
  })

  test.each([
    [3, 200, 3],
    [0, 600, 1],
  ])('counts no days before the account was there: %i days old', async (age, dailyQuota, paceDays) => {
    const person = await personSince(age)
    await addHour(new Date(), { userId: person.id, quota: 600 })
    const wallet = await (await app.trpc(person)).user.wallet.get()
    expect(wallet.paceDays).toBe(paceDays)
    // To the seconds that the test takes.
    expect(wallet.dailyQuota).toBeCloseTo(dailyQuota, 0)
    expect(wallet.daysLeft).toBeCloseTo(700 / dailyQuota, 2)
  })
})
