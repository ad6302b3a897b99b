import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Log } from '#db/entities/log.ts'
import { FailuresHourly } from '#db/entities/failures-hourly.ts'
import { codeOf, type Person } from '#test/support/console-app.ts'
import { long } from '#test/support/long.ts'
import { startWithPeople } from './people.ts'

const { app, admin, anna, bert, addHour, addFailures } = await startWithPeople()
beforeEach(async () => {
  await app.sql('truncate logs, usage_hourly, failures_hourly, failures_by_group, options')
  await app.services.options.reload()
})

const own = async (person: Person) => (await app.trpc(person)).user.stats
const all = async () => (await app.trpc(admin)).admin.stats

const time = (day: number, hour: number, minute = 0) => new Date(Date.UTC(2026, 2, day, hour, minute))

const failuresOf = (hour: Date, fields: Partial<FailuresHourly>) =>
  app.em().insert(FailuresHourly, {
    hour,
    userId: anna.id,
    modelName: 'gpt-4o',
    channelId: 1,
    tokenId: 1,
    group: 'default',
    ...fields,
  })

describe('the overview', () => {
  it('compares a time with the equally long one before it', async () => {
    await addHour(time(2, 5), { quota: 4, count: 2, promptTokens: 100 })
    await addHour(time(3, 5), {
      quota: 30,
      count: 4,
      promptTokens: 200,
      completionTokens: 50,
      cachedTokens: 50,
      useTimeMs: 8000,
      firstTokenMs: 900,
      firstTokenCount: 3,
    })
    await addHour(time(3, 6), { userId: bert.id, quota: 1000 })
    const range = { start: time(3, 0), end: time(3, 23, 59) }
    expect(await (await own(anna)).overview(range)).toEqual({
      from: time(3, 0),
      until: time(3, 23, 59),
      current: {
        quota: 30,
        calls: 4,
        promptTokens: 200,
        completionTokens: 50,
        cachedTokens: 50,
        cachedShare: 0.25,
        firstTokenMs: 300,
        useTimeMs: 2000,
        errors: 0,
        failedAttempts: 0,
      },
      previous: {
        quota: 4,
        calls: 2,
        promptTokens: 100,
        completionTokens: 0,
        cachedTokens: 0,
        cachedShare: 0,
        firstTokenMs: null,
        useTimeMs: 0,
        errors: 0,
        failedAttempts: 0,
      },
    })
    const stats = await all()
    expect((await stats.overview(range)).current.quota).toBe(1030)
    expect((await stats.overview({ ...range, username: 'bert' })).current.quota).toBe(1000)
    expect((await stats.overview({ ...range, username: 'nobody' })).current.quota).toBe(0)
    expect((await stats.overview({ ...range, channelId: 2 })).current.quota).toBe(0)
  })

  it('shows administrators what calls cost, of whole hours and of rows, and nobody else', async () => {
    await addHour(time(3, 5), { quota: 30, cost: 7, costedQuota: 20 })
    await addHour(time(3, 5), { userId: bert.id, quota: 5, cost: 1, costedQuota: 5 })
    const call = { userId: anna.id, type: 2, createdAt: time(3, 6, 10), channelId: 1, modelName: 'gpt-4o' }
    await app.em().insert(Log, { ...call, quota: 100, cost: 40 })
    await app.em().insert(Log, { ...call, quota: 1000, cost: null })
    const range = { start: time(3, 5), end: time(3, 6, 30) }
    expect((await (await all()).overview(range)).current).toMatchObject({ quota: 1135, cost: 48, costedQuota: 125 })
    for (const person of [anna, admin]) {
      const stats = await own(person)
      const reported = JSON.stringify([
        await stats.overview(range),
        await stats.series({ ...range, interval: 'hour', timeZone: 'UTC' }),
        await stats.usage(range),
      ])
      expect(reported).not.toMatch(/cost/i)
    }
  })

  it('counts failed calls, and failed attempts apart from them, whether or not failures are logged', async () => {
    await app.setOptions({ LogErrorEnabled: 'false' })
    await failuresOf(time(3, 1), { calls: 1, attempts: 3 })
    await failuresOf(time(3, 1), { userId: bert.id, attempts: 1 })
    const range = { start: time(3, 0), end: time(3, 23) }
    expect((await (await own(anna)).overview(range)).current).toMatchObject({ errors: 1, failedAttempts: 3 })
    expect((await (await all()).overview(range)).current).toMatchObject({ errors: 1, failedAttempts: 4 })
  })

  it('gives the very figures of the log under the same filters, broken hours included', async () => {
    const call = async (createdAt: Date, quota: number, isPurged = false) => {
      const at = new Date(Math.floor(createdAt.getTime() / 3_600_000) * 3_600_000)
      await app.sql(
        `insert into usage_hourly as t (hour, user_id, model_name, channel_id, token_id, "group", count, quota, prompt_tokens, cached_tokens, first_token_ms, first_token_count)
         values ($1, $2, 'gpt-4o', 1, 1, 'default', 1, $3, 100, 40, 250, 1)
         on conflict (hour, user_id, model_name, channel_id, token_id, "group") do update set count = t.count + 1, quota = t.quota + excluded.quota,
           prompt_tokens = t.prompt_tokens + 100, cached_tokens = t.cached_tokens + 40, first_token_ms = t.first_token_ms + 250, first_token_count = t.first_token_count + 1`,
        [at, anna.id, quota],
      )
      if (isPurged) return
      await app.em().insert(Log, {
        userId: anna.id,
        type: 2,
        modelName: 'gpt-4o',
        channelId: 1,
        tokenId: 1,
        group: 'default',
        quota,
        createdAt,
        promptTokens: 100,
        other: { cache_tokens: 40, frt: 250 },
      })
    }
    await call(time(3, 1, 10), 1)
    await call(time(3, 1, 50), 10)
    await call(time(3, 2, 30), 100, true)
    await call(time(3, 4, 5), 1000)
    await call(time(3, 4, 40), 10_000)
    // The hours do not count tests of channels, nor do their rows.
    const test = { userId: anna.id, type: 2, modelName: 'gpt-4o', channelId: 1, promptTokens: 5, completionTokens: 3 }
    await app.em().insert(Log, { ...test, createdAt: time(3, 4, 10), other: { test_quota: 9 } })
    const range = { start: time(3, 1, 30), end: time(3, 4, 30) }
    for (const { stats, logs } of [(await app.trpc(anna)).user, (await app.trpc(admin)).admin]) {
      const { current } = await stats.overview(range)
      expect(current).toMatchObject({ quota: 1110, calls: 3, promptTokens: 300, cachedTokens: 120, firstTokenMs: 250 })
      expect(await logs.stat(range)).toMatchObject({ quota: current.quota, calls: current.calls })
    }
  })

  it('counts the failures of broken hours by their rows, as the log lists them', async () => {
    const failed = async (createdAt: Date) => {
      const call = { userId: anna.id, modelName: 'gpt-4o', channelId: 1, tokenId: 1, group: 'default' }
      await addFailures(createdAt, { calls: 1, attempts: 2 })
      await app.em().insert(Log, { ...call, type: 6, createdAt, other: { admin_info: { attempts: [{}, {}] } } })
    }
    for (const at of [time(3, 1, 10), time(3, 1, 50), time(3, 2, 30), time(3, 4, 5), time(3, 4, 40)]) await failed(at)
    const range = { start: time(3, 1, 30), end: time(3, 4, 30) }
    for (const { stats, logs } of [(await app.trpc(anna)).user, (await app.trpc(admin)).admin]) {
      expect((await logs.list({ ...range, type: 6 })).total).toBe(3)
      expect((await logs.stat(range)).failures).toEqual({ calls: 3, attempts: 6 })
      expect((await stats.overview(range)).current).toMatchObject({ errors: 3, failedAttempts: 6 })
    }
    const ofChannel = await (await app.trpc(admin)).admin.logs.stat({ ...range, channelId: 1 })
    expect(ofChannel.failures, 'of a channel, hours count whole').toEqual({ calls: 5, attempts: 10 })
    await app.setOptions({ LogErrorEnabled: 'false' })
    expect((await (await all()).overview(range)).current.errors, 'not logged, hours count whole').toBe(5)
  })

  it('never looks back further than a year', async () => {
    const { from, until } = await (await own(anna)).overview({ start: new Date(0), end: time(3, 0) })
    expect(until.getTime() - from.getTime()).toBe(366 * 86_400_000)
  })

  it('of everybody is for administrators', async () => {
    const range = { start: time(3, 0), end: time(3, 1) }
    const { stats } = (await app.trpc(anna)).admin
    const refusals = await Promise.all(
      [stats.overview(range), stats.series(range), stats.live({}), stats.usage(range)].map(codeOf),
    )
    expect(new Set(refusals)).toEqual(new Set(['session.role_insufficient']))
    expect(await codeOf((await app.trpc(null)).user.stats.overview(range))).toBe('session.required')
  })
})

describe('the series', () => {
  it('names the ten models that cost most and adds up the rest', async () => {
    for (let index = 1; index <= 12; index += 1) {
      await addHour(time(3, 1), { modelName: `model-${index}`, quota: index * 100 })
    }
    await addHour(time(3, 2), { modelName: 'model-1', quota: 5 })
    const { models, points } = await (await all()).series({ start: time(3, 0), end: time(3, 5) })
    expect(models).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map((index) => `model-${index}`))
    const rest = points.map((point) => ({ ...point, models: point.models.filter(({ model }) => model === null) }))
    expect(rest).toMatchObject([
      { time: time(3, 1), models: [{ quota: 300, calls: 2 }] },
      { time: time(3, 2), models: [{ quota: 5, calls: 1 }] },
    ])
    expect(points.map(({ models: here }) => here.length)).toEqual([11, 1])
    expect((await (await own(bert)).series({ start: time(3, 0), end: time(3, 5) })).points).toEqual([])
  })

  it('gathers hours into days and weeks of the reader', async () => {
    await addHour(time(3, 15))
    await addHour(time(3, 17))
    await addHour(time(9, 1))
    const stats = await own(anna)
    const range = { start: time(1, 0), end: time(20, 0) }
    const times = async (input: { interval: 'hour' | 'day' | 'week'; timeZone?: string }) =>
      (await stats.series({ ...range, ...input })).points.map((point) => [
        point.time.toISOString(),
        point.models.map(({ quota }) => quota),
      ])
    // Half an hour off, a zone cannot split the hours that were added up.
    expect(await times({ interval: 'hour', timeZone: 'Asia/Kolkata' })).toEqual([
      ['2026-03-03T15:00:00.000Z', [10]],
      ['2026-03-03T17:00:00.000Z', [10]],
      ['2026-03-09T01:00:00.000Z', [10]],
    ])
    expect(await times({ interval: 'day' })).toEqual([
      ['2026-03-03T00:00:00.000Z', [20]],
      ['2026-03-09T00:00:00.000Z', [10]],
    ])
    expect(await times({ interval: 'day', timeZone: 'Asia/Shanghai' })).toEqual([
      ['2026-03-02T16:00:00.000Z', [10]],
      ['2026-03-03T16:00:00.000Z', [10]],
      ['2026-03-08T16:00:00.000Z', [10]],
    ])
    expect(await times({ interval: 'week' })).toEqual([
      ['2026-03-02T00:00:00.000Z', [20]],
      ['2026-03-09T00:00:00.000Z', [10]],
    ])
    expect(await codeOf(stats.series({ ...range, timeZone: "'; --" }))).toBe('BAD_REQUEST')
  })

  it('begins days by the name of the zone that the database knows, and in UTC where it knows none', async () => {
    const zones = vi.spyOn(app.services.database, 'zones').mockResolvedValue(new Set(['UTC', 'Europe/Kiev']))
    onTestFinished(() => zones.mockRestore())
    await addHour(time(3, 23))
    const days = async (timeZone: string) =>
      (await (await own(anna)).series({ start: time(1, 0), end: time(9, 0), interval: 'day', timeZone })).points
    expect(await days('Europe/Kyiv')).toMatchObject([{ time: time(3, 22) }])
    expect(await days('Asia/Tokyo')).toMatchObject([{ time: time(3, 0) }])
  })
})

describe('failures over time', () => {
  it('are gathered like the calls', async () => {
    await failuresOf(time(3, 15), { calls: 1, attempts: 1 })
    await failuresOf(time(3, 17), { calls: 1, attempts: 5 })
    await failuresOf(time(3, 17), { userId: bert.id, calls: 1 })
    await failuresOf(time(3, 18), { attempts: 2 })
    const input = { start: time(3, 0), end: time(4, 0), interval: 'day', timeZone: 'Asia/Shanghai' } as const
    // In Shanghai the fourth begins at 16:00 of the third.
    expect((await (await own(anna)).series(input)).errors).toEqual([
      { time: time(2, 16), count: 1 },
      { time: time(3, 16), count: 1 },
    ])
    expect((await (await all()).series(input)).errors).toEqual([
      { time: time(2, 16), count: 1 },
      { time: time(3, 16), count: 2 },
    ])
    const hours = await (await own(anna)).series({ ...input, interval: 'hour', timeZone: 'Asia/Kolkata' })
    expect(hours.errors.map((point) => point.time)).toEqual([time(3, 15), time(3, 17)])
  })
})

describe('the present pace', () => {
  it('is what the last minute brought', async () => {
    // However long the test takes, what is dated an hour ahead is no older than a minute.
    const call = (userId: number, secondsFromNow: number) =>
      app.em().insert(Log, {
        userId,
        type: 2,
        promptTokens: 10,
        completionTokens: 5,
        createdAt: new Date(Date.now() + secondsFromNow * 1000),
      })
    await call(anna.id, 3600)
    await call(anna.id, -70)
    await call(bert.id, 3600)
    expect(await (await own(anna)).live({})).toEqual({ rpm: 1, tpm: 15 })
    expect(await (await all()).live({})).toEqual({ rpm: 2, tpm: 30 })
    expect(await (await all()).live({ username: 'nobody' })).toEqual({ rpm: 0, tpm: 0 })
  })
})

describe('hourly usage', () => {
  it('is one row for a model and an hour, whatever channels and tokens served it', async () => {
    await addHour(time(3, 1), { promptTokens: 7, completionTokens: 3 })
    await addHour(time(3, 1), { channelId: 2, tokenId: 2, group: 'vip' })
    await addHour(time(3, 2), { userId: bert.id })
    const range = { start: time(3, 1), end: time(3, 2) }
    expect(await (await own(anna)).usage(range)).toEqual([
      {
        id: 1,
        userId: anna.id,
        username: 'anna',
        modelName: 'gpt-4o',
        hour: time(3, 1),
        tokens: 10,
        count: 2,
        quota: 20,
      },
    ])
    expect(await (await all()).usage({ ...range, username: 'bert' })).toMatchObject([{ userId: bert.id, quota: 10 }])
    expect(await (await all()).usage({ ...range, username: 'nobody' })).toEqual([])
    expect(await (await all()).usage(range)).toMatchObject([
      { id: 0, userId: 0, username: '', count: 2 },
      { id: 0, userId: 0, username: '', count: 1 },
    ])
  })

  it('of a user covers a month at most', async () => {
    const stats = await own(anna)
    expect(await stats.usage({ start: time(1, 0), end: time(31, 0) })).toEqual([])
    expect(await codeOf(stats.usage({ start: time(1, 0), end: time(31, 0, 1) }))).toBe('stats.range_too_long')
  })
})

describe('figures of one range', () => {
  const many = long ? 1_000_000 : 20_000
  const spanMs = 40 * 86_400_000
  const begin = time(1, 0, 0).getTime()

  /** Calls of two people, five models and three channels over forty days, with their hours as the ledger keeps them. */
  async function seedCalls(): Promise<void> {
    const rows = `select to_timestamp($1::float8 / 1000 + (n::float8 / $2) * $3 / 1000) as created_at, n,
        case when n % 3 = 0 then ${bert.id} else ${anna.id} end as user_id, 'model-' || n % 5 as model_name, n % 3 + 1 as channel_id,
        (n::bigint * 7919) % 10007 as quota, n % 4001 as prompt_tokens, n % 311 as completion_tokens, n % 977 as cached_tokens,
        n % 9001 as use_time_ms from generate_series(1, $2::int) n`
    const values = [begin, many, spanMs]
    await app.sql(
      `insert into logs (created_at, user_id, username, type, model_name, channel_id, "group", quota, prompt_tokens, completion_tokens,
         use_time_ms, other)
       select created_at, user_id, case when user_id = ${bert.id} then 'bert' else 'anna' end, 2, model_name, channel_id, 'default', quota,
         prompt_tokens, completion_tokens, use_time_ms, jsonb_build_object('cache_tokens', cached_tokens) from (${rows}) calls`,
      values,
    )
    await app.sql(
      `insert into usage_hourly (hour, user_id, model_name, channel_id, token_id, "group", count, quota, prompt_tokens,
         completion_tokens, cached_tokens, use_time_ms)
       select date_trunc('hour', created_at, 'UTC'), user_id, model_name, channel_id, 0, 'default', count(*), sum(quota),
         sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens), sum(use_time_ms)
       from (${rows}) calls group by 1, 2, 3, 4`,
      values,
    )
  }

  it(
    `agree in ${many} calls: the log's total, the dashboard's tiles and bars, and the rows themselves`,
    { timeout: 600_000 },
    async () => {
      await seedCalls()
      const at = (share: number) => new Date(begin + Math.round(share * spanMs))
      const [stats, logs] = [await all(), (await app.trpc(admin)).admin.logs]
      const ranges = [
        { start: at(0), end: at(1) },
        { start: at(0.1003), end: at(0.9001) },
        { start: at(0.5), end: at(0.5004) },
      ]
      const filters = [{}, { username: 'bert' }, { modelName: 'model-2', channelId: 2 }, { modelName: 'model-9' }]
      for (const range of ranges) {
        for (const filter of filters) {
          const [rows] = await app.sql(
            `select count(*)::int as calls, coalesce(sum(quota), 0)::float8 as quota, coalesce(sum(prompt_tokens), 0)::float8 as "promptTokens",
             coalesce(sum(completion_tokens), 0)::float8 as "completionTokens", coalesce(sum((other->>'cache_tokens')::int), 0)::float8 as "cachedTokens"
           from logs where created_at between $1 and $2 and ($3 = '' or username = $3) and ($4 = '' or model_name = $4)
             and ($5 = 0 or channel_id = $5)`,
            [
              range.start,
              range.end,
              'username' in filter ? filter.username : '',
              'modelName' in filter ? filter.modelName : '',
              'channelId' in filter ? filter.channelId : 0,
            ],
          )
          const named = JSON.stringify([range, filter])
          expect(await logs.stat({ ...filter, ...range }), named).toMatchObject({
            quota: rows?.['quota'],
            calls: rows?.['calls'],
          })
          expect((await stats.overview({ ...filter, ...range })).current, named).toMatchObject(rows ?? {})
          expect((await logs.list({ ...filter, ...range })).total, named).toBe(
            Math.min(Number(rows?.['calls']), 10_000),
          )
        }
      }
      // Page after page to the end, beyond what is counted.
      const range = { start: at(0.2), end: at(0.2 + (long ? 0.012 : 0.55)), pageSize: 1000 }
      let [sum, calls, cursor]: [number, number, string | undefined] = [0, 0, undefined]
      do {
        const page: Awaited<ReturnType<typeof logs.list>> = await logs.list({ ...range, ...(cursor ? { cursor } : {}) })
        for (const { quota } of page.items) sum += quota
        calls += page.items.length
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
      expect(calls).toBeGreaterThan(10_000)
      expect((await stats.overview(range)).current).toMatchObject({ quota: sum, calls })
    },
  )
})
