import { beforeEach, describe, expect, it } from 'vitest'
import { Log } from '#db/entities/log.ts'
import { readInTime } from '#features/logs/timed-query.ts'
import { sha256 } from '#features/secrets/service.ts'
import { jobLockClass } from '#jobs/runner.ts'
import { codeOf, type Person } from '#test/support/console-app.ts'
import { startWithPeople } from './people.ts'
import { holdLock } from '#test/support/held-lock.ts'
import { untilSomebodyWaits } from '#test/support/processes.ts'

const { app, admin, anna, bert } = await startWithPeople()
beforeEach(async () => {
  await app.sql('truncate logs, usage_hourly, channels, tokens')
})

const own = async (person: Person) => (await app.trpc(person)).user.logs
const all = async () => (await app.trpc(admin)).admin.logs

const log = (fields: Partial<Log>) =>
  app.em().insert(Log, { userId: anna.id, username: 'anna', type: 2, modelName: 'gpt-4o', ...fields })

const contents = (page: { items: { content: string }[] }) => page.items.map(({ content }) => content)

describe('a user', () => {
  it('sees the own rows, newest first, numbered from one', async () => {
    await log({ content: 'first' })
    await log({ content: 'not yours', userId: bert.id })
    await log({ content: 'second' })
    const page = await (await own(anna)).list({})
    expect(page).toMatchObject({ total: 2, isCapped: false, nextCursor: null, page: 1, pageSize: 10 })
    expect(page.items.map(({ id, content }) => [id, content])).toEqual([
      [1, 'second'],
      [2, 'first'],
    ])
    expect((await (await own(anna)).list({ page: 2, pageSize: 1 })).items).toMatchObject([{ id: 2, content: 'first' }])
    expect(await codeOf((await app.trpc(null)).user.logs.list({}))).toBe('session.required')
  })

  it('does not learn through which channels a call went or what they failed with', async () => {
    const [channel] = await app.sql(
      `insert into channels (type, name, key_encrypted) values (1, 'hidden channel', '') returning id`,
    )
    const channelId = Number(channel?.['id'])
    const other = { model_ratio: 1, admin_info: { use_channel: ['7'] } }
    await log({ channelId, other, requestId: 'r1' })
    const failed = { ...other, error_code: 'x', channel_id: 7, channel_name: 'hidden channel', channel_type: 1 }
    await log({ channelId, type: 6, other: failed, requestId: 'r2' })
    const logs = await own(anna)
    const seen = [await logs.list({}), await logs.search({ keyword: '6' }), await logs.get({ requestId: 'r2' })]
    expect(JSON.stringify(seen)).not.toMatch(/hidden channel|use_channel|channel_type/)
    expect((await logs.get({ requestId: 'r2' })).other).toEqual({ model_ratio: 1, error_code: 'x' })
    const [first] = (await (await all()).list({ type: 2 })).items
    expect(first).toMatchObject({ channelName: 'hidden channel', other })
  })

  it('finds rows by key, type and request, never those of others', async () => {
    const token = (userId: number, key: string) =>
      app.sql(
        `insert into tokens (user_id, name, key_hash, key_encrypted, key_mask) values ($1, 't', $2, '', '') returning id`,
        [userId, sha256(key)],
      )
    const [mine] = await token(anna.id, 'mine')
    await token(bert.id, 'his')
    await log({ tokenId: Number(mine?.['id']), content: 'with mine', requestId: 'r1' })
    await log({ type: 4, content: 'gift' })
    const logs = await own(anna)
    expect(contents(await logs.byKey({ key: 'sk-mine' }))).toEqual(['with mine'])
    expect(contents(await logs.byKey({ key: 'mine' }))).toEqual(['with mine'])
    expect(await codeOf(logs.byKey({ key: 'sk-his' }))).toBe('log.key_unknown')
    expect(contents({ items: await logs.search({ keyword: '4' }) })).toEqual(['gift'])
    expect(await logs.search({ keyword: 'gift' })).toEqual([])
    expect(await logs.get({ requestId: 'r1' })).toMatchObject({ content: 'with mine' })
    expect(await codeOf((await own(bert)).get({ requestId: 'r1' }))).toBe('not_found')
  })
})

describe('filters', () => {
  it('narrow the list one by one and together', async () => {
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
    await log({ content: 'a', tokenName: 'home', group: 'vip', channelId: 3, createdAt: at(1) })
    await log({ content: 'b', modelName: 'gpt-4o-mini', createdAt: at(2), requestId: 'r-b' })
    await log({ content: 'c', type: 1, modelName: '', createdAt: at(3), userId: bert.id, username: 'bert' })
    const logs = await all()
    const found = async (filters: Parameters<typeof logs.list>[0]) => contents(await logs.list(filters))
    expect(await found({})).toEqual(['c', 'b', 'a'])
    expect(await found({ type: 2 })).toEqual(['b', 'a'])
    expect(await found({ tokenName: 'home' })).toEqual(['a'])
    expect(await found({ group: 'vip', channelId: 3 })).toEqual(['a'])
    expect(await found({ group: 'vip', channelId: 4 })).toEqual([])
    expect(await found({ username: 'bert' })).toEqual(['c'])
    expect(await found({ username: 'nobody' })).toEqual([])
    expect(await found({ userId: anna.id })).toEqual(['b', 'a'])
    expect(await found({ requestId: 'r-b' })).toEqual(['b'])
    expect(await found({ start: at(2) })).toEqual(['c', 'b'])
    expect(await found({ end: at(2) })).toEqual(['b', 'a'])
    expect(await found({ tokenName: "' or true --" })).toEqual([])
  })

  it('find the calls of a session, and what they cost together', async () => {
    await log({ content: 'a', quota: 5, other: { session: 'one' } })
    await log({ content: 'b', quota: 7, other: { session: 'one' } })
    await log({ content: 'c', quota: 9, other: { session: 'two' } })
    const logs = await all()
    expect(contents(await logs.list({ session: 'one' }))).toEqual(['b', 'a'])
    expect(await logs.stat({ session: 'one' })).toMatchObject({ quota: 12 })
    expect(await logs.stat({ session: 'none' })).toMatchObject({ quota: 0 })
  })

  it('take a model name as it is, and only % as a wildcard', async () => {
    await log({ content: 'a', modelName: 'gpt-4o' })
    await log({ content: 'b', modelName: 'gpt-4o-mini' })
    await log({ content: 'c', modelName: 'suno_music' })
    const logs = await all()
    const found = async (modelName: string) => contents(await logs.list({ modelName }))
    expect(await found('gpt-4o')).toEqual(['a'])
    expect(await found('gpt-4o%')).toEqual(['b', 'a'])
    expect(await found('%%%%mini%%%%')).toEqual(['b'])
    expect(await found('suno_music')).toEqual(['c'])
    expect(await found('gpt_4o%')).toEqual([])
    expect(await found('_'.repeat(100))).toEqual([])
    expect(await found('%nothing%')).toEqual([])
    expect(contents(await logs.list({ modelName: ['%mini', 'suno_music', 'gpt_4o'] }))).toEqual(['c', 'b'])
    expect(await codeOf(logs.list({ modelName: '%'.repeat(10_000) }))).toBe('BAD_REQUEST')
  })

  it('find nothing for what cannot be there, or say what is wrong, and never find everything', async () => {
    await log({ content: 'a', tokenName: 'home', group: 'vip', channelId: 3, requestId: 'r' })
    const logs = await all()
    const words = [
      'nobody',
      '%',
      '_',
      '\\',
      "' or 1=1 --",
      '\0',
      '🙂',
      '__proto__',
      '-1',
      'NaN',
      'null',
      'x'.repeat(255),
    ]
    const numbers = [-1, 0.5, 1e12, Number.NaN, 7]
    const nonsense: Record<string, readonly unknown[]> = {
      type: numbers,
      tokenName: words,
      tokenId: numbers,
      modelName: words.filter((word) => word !== '%'),
      group: words,
      requestId: words,
      outcome: ['perfect', ['perfect'], 1],
      username: words,
      userId: [-1, 0.5, 1e12, Number.NaN, 987_654],
      channelId: [-1, 0.5, 1e12, Number.NaN, 987_654],
      channelName: words,
      minMs: [-1, 0.5, 1e12, Number.NaN, 'slow', 2_000_000_000],
      maxMs: [-1, 0.5, 1e12, Number.NaN, 'slow'],
      minQuota: [-1, 0.5, Number.NaN, 'dear', 2_000_000_000],
      maxQuota: [-1, 0.5, Number.NaN, 'cheap'],
      start: ['yesterday', new Date(Number.NaN), new Date('2999-01-01')],
      end: ['yesterday', new Date(Number.NaN), new Date('1999-01-01')],
      cursor: words,
    }
    for (const [filter, values] of Object.entries(nonsense)) {
      for (const value of values) {
        const answer = await logs.list({ [filter]: value } as never).then(
          ({ items, total }) => [items.length, total],
          (error: { code?: string; cause?: { code?: string } }) => error.cause?.code ?? error.code,
        )
        const what = `${filter} ${String(value)}`
        if (typeof answer === 'string') expect(answer, what).toMatch(/^(BAD_REQUEST|input\.)/)
        else expect(answer, what).toEqual([0, 0])
      }
    }
  })

  it('of the search by keyword match a type or the beginning of a text, letter by letter', async () => {
    await log({ content: '100% off', type: 4 })
    await log({ content: '100 off', type: 4 })
    await log({ content: 'x', type: 1 })
    const logs = await all()
    const found = async (keyword: string) => contents({ items: await logs.search({ keyword }) })
    expect(await found('100')).toEqual(['100 off', '100% off'])
    expect(await found('100%')).toEqual(['100% off'])
    expect(await found('%')).toEqual([])
    expect(await found('1')).toEqual(['x', '100 off', '100% off'])
    expect(await codeOf((await app.trpc(anna)).admin.logs.search({ keyword: '1' }))).toBe('session.role_insufficient')
  })
})

describe('long lists', () => {
  const fill = (count: number) =>
    app.sql(`insert into logs (user_id, type, content) select $1, 2, n::text from generate_series(1, $2::int) n`, [
      anna.id,
      count,
    ])

  it('are counted up to a limit and paged no further, but a cursor leads through all of them', async () => {
    await fill(10_050)
    const logs = await all()
    const first = await logs.list({ pageSize: 100 })
    expect(first).toMatchObject({ total: 10_000, isCapped: true })
    expect((await logs.list({ page: 100, pageSize: 100 })).items[0]?.content).toBe('150')
    expect((await logs.list({ page: 101, pageSize: 100 })).items).toEqual([])
    expect((await logs.list({ page: 1_000_000, pageSize: 100 })).items).toEqual([])
    const mine = await own(anna)
    const page = await mine.list({ page: 100, pageSize: 100 })
    const next = await mine.list({ page: 101, pageSize: 100, cursor: page.nextCursor ?? '' })
    expect(next).toMatchObject({ items: { length: 50 }, nextCursor: null })
    expect(next.items[0]).toMatchObject({ content: '50', id: 10_001 })
  })

  it('are searched for the newest hundred of what many rows begin with, wherever those stand', async () => {
    const row = `insert into logs (user_id, type, content) select $1, 2, $2 || n from generate_series(1, $3::int) n`
    await app.sql(row, [anna.id, 'rare ', 101])
    await app.sql(row, [anna.id, 'often ', 3100])
    await app.sql(row, [anna.id, 'other ', 10_500])
    const found = async (keyword: string) => contents({ items: await (await all()).search({ keyword }) })
    const newest = (name: string, count: number) =>
      Array.from({ length: 100 }, (_, index) => `${name} ${count - index}`)
    expect(await found('rare')).toEqual(newest('rare', 101))
    expect(await found('often')).toEqual(newest('often', 3100))
    expect(await found('other')).toEqual(newest('other', 10_500))
  })

  it('refuse pages and cursors that make no sense', async () => {
    const logs = await own(anna)
    expect(await codeOf(logs.list({ pageSize: 1e9 }))).toBe('BAD_REQUEST')
    expect(await codeOf(logs.list({ page: -1 }))).toBe('BAD_REQUEST')
    expect(await codeOf(logs.list({ cursor: '17' }))).toBe('input.invalid')
  })
})

describe('a question that takes too long', () => {
  it('is given up and says so, and the connection answers the next one', async () => {
    const { pool } = app.services.database
    const slow = readInTime(pool, (query) => query('select pg_sleep(10)', []), 30)
    await expect(slow).rejects.toMatchObject({ code: 'query.too_slow' })
    expect(await readInTime(pool, (query) => query('select 1 as one', []))).toEqual([{ one: 1 }])
  })

  it('cannot write', async () => {
    await expect(readInTime(app.services.database.pool, (query) => query('delete from logs', []))).rejects.toThrow(
      /read-only/,
    )
  })
})

describe('sums', () => {
  const hour = (date: Date) => new Date(Math.floor(date.getTime() / 3_600_000) * 3_600_000)
  /** A call as the ledger keeps it: a row and its part of the hour. */
  const spend = async (quota: number, createdAt: Date, fields: Partial<Log> = {}) => {
    const row = { userId: anna.id, modelName: 'gpt-4o', channelId: 1, tokenId: 1, group: 'default', ...fields }
    await log({ ...row, quota, createdAt, promptTokens: 30, completionTokens: 4 })
    await app.sql(
      `insert into usage_hourly as t (hour, user_id, model_name, channel_id, token_id, "group", count, quota) values ($1, $2, $3, $4, $5, $6, 1, $7)
       on conflict (hour, user_id, model_name, channel_id, token_id, "group") do update set count = t.count + 1, quota = t.quota + excluded.quota`,
      [hour(createdAt), row.userId, row.modelName, row.channelId, row.tokenId, row.group, quota],
    )
  }
  const time = (hours: number, minutes: number) => new Date(Date.UTC(2026, 0, 1, hours, minutes))

  it('count exactly the time asked for, whole hours and broken ones', async () => {
    await spend(1, time(1, 10))
    await spend(10, time(1, 50))
    await spend(100, time(2, 30))
    await spend(1000, time(4, 5))
    await spend(10_000, time(4, 55), { userId: bert.id })
    const logs = await all()
    const quota = async (filters: Parameters<typeof logs.stat>[0]) => (await logs.stat(filters)).quota
    expect(await quota({})).toBe(11_111)
    expect(await quota({ start: time(1, 30) })).toBe(11_110)
    expect(await quota({ start: time(1, 30), end: time(4, 30) })).toBe(1110)
    expect(await quota({ start: time(1, 0), end: time(1, 20) })).toBe(1)
    expect(await quota({ start: time(1, 40), end: time(2, 10) })).toBe(10)
    expect(await quota({ start: time(2, 0), end: time(4, 0) })).toBe(100)
    expect(await quota({ username: 'bert' })).toBe(10_000)
    expect(await quota({ username: 'nobody' })).toBe(0)
    expect(await quota({ channelId: 2 })).toBe(0)
    expect((await (await own(anna)).stat({})).quota).toBe(1111)
  })

  it('come from the hours alone where whole hours were purged from the log', async () => {
    await spend(5, time(1, 10))
    await app.sql('truncate logs')
    expect(await (await all()).stat({ type: 1 })).toMatchObject({ quota: 5, rpm: 0, tpm: 0 })
  })

  it('tell calls and tokens of the last minute', async () => {
    // However long the test takes, these are no older than a minute.
    for (const tokenName of ['', 'home']) await spend(1, new Date(Date.now() + 3_600_000), { tokenName })
    await spend(1, new Date(Date.now() - 90_000))
    await log({ type: 6 })
    expect(await (await own(anna)).stat({})).toMatchObject({ rpm: 2, tpm: 68 })
    expect(await (await own(anna)).stat({ tokenName: 'home' })).toMatchObject({ quota: 1, rpm: 1, tpm: 34 })
    expect(await (await own(bert)).stat({})).toMatchObject({ quota: 0, rpm: 0, tpm: 0 })
  })
})

describe('one row', () => {
  it('of a request is the one that charged it', async () => {
    await log({ requestId: 'r', type: 2, content: 'charge' })
    await log({ requestId: 'r', type: 6, content: 'attempt' })
    const logs = await all()
    const row = await logs.get({ requestId: 'r' })
    expect(row.content).toBe('charge')
    expect(await logs.get({ id: row.id + 1 })).toMatchObject({ content: 'attempt' })
    expect(await codeOf(logs.get({ id: 1_000_000 }))).toBe('not_found')
  })
})

describe('clearing', () => {
  it('removes what is older, whole months at once, and leaves the rest', async () => {
    await app.sql(
      `create table logs_2024_01 partition of logs for values from ('2024-01-01 00:00+00') to ('2024-02-01 00:00+00')`,
    )
    for (const time of ['2024-01-05', '2024-01-31T23:00Z', '2024-02-03']) await log({ createdAt: new Date(time) })
    await log({ createdAt: new Date('2024-02-05T00:00:00Z'), content: 'stays' })
    const logs = await all()
    expect(await logs.clear({ before: new Date('2024-02-05T00:00:00Z') })).toEqual({ count: 3 })
    expect(contents(await logs.list({}))).toEqual(['stays'])
    expect(await app.sql(`select to_regclass('logs_2024_01') as name`)).toEqual([{ name: null }])
  })

  it('keeps the tables of coming months, and goes on until nothing is left', async () => {
    await app.sql(`insert into logs (user_id, type) select 1, 2 from generate_series(1, 6000)`)
    const month = `logs_${new Date().toISOString().slice(0, 7).replace('-', '_')}`
    const ofComingMonths = `select relname from pg_class where relname > '${month}' and relname < 'logs_3' order by 1`
    const before = await app.sql(ofComingMonths)
    expect(await (await all()).clear({ before: new Date('2100-01-01') })).toEqual({ count: 6000 })
    expect(await app.sql(ofComingMonths)).toEqual(before)
  })

  it('in the background reports how far it is, ends when it is asked to, and keeps what was not reached', async () => {
    const logs = await all()
    const ended = async () => {
      await expect.poll(async () => (await logs.clearing())?.running ?? null).toBeNull()
      return (await logs.clearing())?.last
    }
    await app.sql(`insert into logs (user_id, type) select 1, 2 from generate_series(1, 7000)`)
    await logs.startClearing({ before: new Date('2100-01-01') })
    expect(await ended()).toMatchObject({ text: '{count} 条日志已清理！', params: { count: 7000 }, failed: false })
    expect(await app.sql('select 1 from logs')).toEqual([])

    await app.sql(`insert into logs (user_id, type) select 1, 2 from generate_series(1, 20)`)
    await using unlock = await holdLock(app.services.database.pool, 'lock table logs in share mode')
    await logs.startClearing({ before: new Date('2100-01-01') })
    // Called off before it meets the lock it would end at once.
    await untilSomebodyWaits(app.services.database.pool)
    expect(await codeOf(logs.startClearing({ before: new Date() }))).toBe('job.running')
    await logs.cancelClearing()
    await expect.poll(async () => (await logs.clearing())?.running?.ending).toBe(true)
    await unlock()
    expect(await ended()).toBeDefined()
    expect(await codeOf(logs.cancelClearing())).toBe('job.not_running')
    expect(await codeOf(logs.startClearing({}))).toBe('log.time_required')
  })

  it('in the background is done for one of two orders placed at once, as that one says, and the other is refused', async () => {
    const logs = await all()
    for (let round = 0; round < 5; round += 1) {
      await app.sql('truncate logs')
      await app.sql(
        'insert into logs (user_id, type, created_at) select 1, 2, t::timestamptz from unnest($1::text[]) t',
        [['2026-01-01', '2026-02-01']],
      )
      // Neither is done before the other one is placed.
      await using unlock = await holdLock(app.services.database.pool, 'lock table logs in share mode')
      const before = ['2026-01-15', '2026-02-15']
      const placed = before.map((day) => logs.startClearing({ before: new Date(day) }).then(() => 'taken'))
      const codes = await Promise.all(placed.map((order) => order.catch(() => codeOf(order))))
      await unlock()
      expect(codes.toSorted()).toEqual(['job.running', 'taken'])
      await expect.poll(async () => (await logs.clearing())?.running ?? null).toBeNull()
      const left = await app.sql("select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day from logs")
      expect(left).toEqual(codes[0] === 'taken' ? [{ day: '2026-02-01' }] : [])
    }
  })

  it('in the background is no order any more once it was refused', async () => {
    const logs = await all()
    await log({ content: 'kept' })
    await using unlock = await holdLock(
      app.services.database.pool,
      `select pg_advisory_xact_lock($1, hashtext('log-clearing'))`,
      [jobLockClass],
    )
    expect(await codeOf(logs.startClearing({ before: new Date('2100-01-01') }))).toBe('job.running')
    await unlock()
    expect(await (await app.services.jobs.run('log-clearing')).finished).toMatchObject({ failed: false })
    expect(await app.sql('select content from logs')).toEqual([{ content: 'kept' }])
  })

  it('wants a time and an administrator', async () => {
    expect(await codeOf((await all()).clear({}))).toBe('log.time_required')
    expect(await codeOf((await app.trpc(anna)).admin.logs.clear({ before: new Date() }))).toBe(
      'session.role_insufficient',
    )
  })
})
