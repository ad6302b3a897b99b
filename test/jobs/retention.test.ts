import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { removeExpired } from '#features/retention/service.ts'
import { startApp } from '#test/support/app.ts'

const app = await startApp()
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(() =>
  app.pool.query(
    'truncate options, sessions, oauth_states, sign_in_challenges, one_time_codes, upstream_objects, channel_probes, channel_drifts, notification_counts, logs, grants, holds, usage_hourly',
  ),
)

const clean = () => removeExpired(app.services, new AbortController().signal)
const idsOf = async (table: string, id = 'id') =>
  (await app.pool.query<{ id: string }>(`select ${id}::text as id from ${table} order by 1`)).rows.map((row) => row.id)

describe('what has expired', () => {
  it('goes, and what is still good stays', async () => {
    const { id: channel } = await app.make.channel()
    const insert = (text: string, values: unknown[] = []) => app.pool.query(text, values)
    await insert(
      `insert into sessions (id_hash, expires_at) values ('old', now() - interval '1 second'), ('new', now() + interval '1 minute')`,
    )
    await insert(`insert into oauth_states (state_hash, session_hash, origin, expires_at) values
      ('old', 's', 'x', now() - interval '1 second'), ('new', 's', 'x', now() + interval '1 minute')`)
    await insert(`insert into sign_in_challenges (session_hash, purpose, expires_at) values
      ('old', 'p', now() - interval '1 second'), ('new', 'p', now() + interval '1 minute')`)
    await insert(`insert into one_time_codes (purpose, subject, code_hash, expires_at) values
      ('email', 'old', 'x', now() - interval '25 hours'), ('email', 'new', 'x', now() - interval '1 hour')`)
    await insert(`insert into upstream_objects (id, user_id, channel_id, key_hmac, created_at) values
      ('old', 1, 1, 'x', now() - interval '31 days'), ('new', 1, 1, 'x', now() - interval '29 days')`)
    await insert(
      `insert into channel_probes (channel_id, model, success, duration_ms, created_at) values
        ($1, 'old', true, 1, now() - interval '31 days'), ($1, 'new', true, 1, now() - interval '29 days'), ($1 + 1000, 'gone', true, 1, now())`,
      [channel],
    )
    await insert('insert into channel_drifts (channel_id) values ($1), ($1 + 1000)', [channel])
    await insert(
      `insert into notification_counts (user_id, type, window_at) values (1, 'old', now() - interval '11 minutes'), (1, 'new', now())`,
    )
    expect(await clean()).toEqual({ rows: 9, logs: 0 })
    expect(await idsOf('sessions', 'id_hash')).toEqual(['new'])
    expect(await idsOf('oauth_states', 'state_hash')).toEqual(['new'])
    expect(await idsOf('sign_in_challenges', 'session_hash')).toEqual(['new'])
    expect(await idsOf('one_time_codes', 'subject')).toEqual(['new'])
    expect(await idsOf('upstream_objects')).toEqual(['new'])
    expect(await idsOf('channel_probes', 'model')).toEqual(['new'])
    expect(await idsOf('channel_drifts', 'channel_id')).toEqual([String(channel)])
    expect(await idsOf('notification_counts', 'type')).toEqual(['new'])
  })

  it('goes in portions, however much there is', async () => {
    await app.pool.query(
      `insert into sessions (id_hash, expires_at) select 's' || n, now() - interval '1 day' from generate_series(1, 12001) n`,
    )
    expect(await clean()).toEqual({ rows: 12_001, logs: 0 })
    expect(await idsOf('sessions', 'id_hash')).toEqual([])
  })

  it('goes in portions of stored responses too, each for good', async () => {
    await app.pool.query(
      `insert into local_responses (id, user_id, item_ids, bytes, sealed) select 'r' || n, 0, '{}', 1, '' from generate_series(1, 7000) n`,
    )
    const holder = await app.pool.connect()
    try {
      await holder.query(`begin; select 1 from local_responses where id = 'r7000' for update`)
      const cleaned = clean()
      await expect.poll(async () => (await idsOf('local_responses')).length).toBe(2000)
      await holder.query('commit')
      expect(await cleaned).toEqual({ rows: 7000, logs: 0 })
    } finally {
      holder.release()
    }
  })
})

describe('logs', () => {
  const plant = () =>
    app.pool.query(
      `insert into logs (user_id, type, content, created_at) values
        (1, 2, 'a year', now() - interval '365 days'), (1, 2, 'old', now() - interval '31 days'), (1, 2, 'new', now() - interval '29 days')`,
    )

  it('stay for ever unless root says for how many days', async () => {
    await plant()
    expect(await clean()).toEqual({ rows: 0, logs: 0 })
    expect(await idsOf('logs', 'content')).toHaveLength(3)
  })

  it('go when they are older than root wants, while sums, grants and open holds stay', async () => {
    await plant()
    await app.pool.query(
      `insert into grants (kind, key, user_id, amount, created_at) values ('test', 'k', 1, 5, now() - interval '400 days')`,
    )
    await app.pool.query(
      `insert into holds (id, user_id, node_id, created_at) values ('open', 1, 1, now() - interval '400 days')`,
    )
    await app.pool.query(
      `insert into usage_hourly (hour, user_id, model_name, channel_id, token_id, "group", quota) values (now() - interval '400 days', 1, 'm', 1, 1, 'g', 7)`,
    )
    await app.make.option('LogRetentionDays', '30')
    await app.services.options.reload()
    expect(await clean()).toEqual({ rows: 2, logs: 2 })
    expect(await idsOf('logs', 'content')).toEqual(['new'])
    for (const [table, id] of [
      ['grants', 'key'],
      ['holds', 'id'],
      ['usage_hourly', 'model_name'],
    ] as const) {
      expect(await idsOf(table, id), table).toHaveLength(1)
    }
  })

  it.each([
    ['30', ['young', 'unfinished']],
    ['120', ['old', 'young', 'unfinished']],
    ['0', ['ancient', 'old', 'young', 'unfinished']],
  ])('take drawings and music that have ended with them, not before 90 days: %s', async (days, left) => {
    await app.pool.query(`truncate drawing_tasks, music_tasks;
      create temporary table ended as select * from (values ('ancient', '100%', 200), ('old', '100%', 100), ('young', '100%', 80), ('unfinished', '10%', 200))
        as t(name, progress, days);
      insert into drawing_tasks (user_id, action, mj_id, progress, submitted_at)
        select 1, 'IMAGINE', name, progress, now() - make_interval(days => days) from ended;
      insert into music_tasks (user_id, action, task_id, progress, submitted_at)
        select 1, 'MUSIC', name, progress, now() - make_interval(days => days) from ended;
      drop table ended`)
    await app.make.option('LogRetentionDays', days)
    await app.services.options.reload()
    await clean()
    expect(await idsOf('drawing_tasks', 'mj_id')).toEqual(left.toSorted())
    expect(await idsOf('music_tasks', 'task_id')).toEqual(left.toSorted())
  })

  it('take charges of tasks with them, but for those still to be made', async () => {
    await app.pool.query(`truncate drawing_tasks, music_tasks, task_charges;
      insert into drawing_tasks (id, user_id, action, progress, submitted_at) values
        (1, 1, 'IMAGINE', '100%', now() - interval '100 days'), (2, 1, 'IMAGINE', '100%', now()), (4, 1, 'IMAGINE', '10%', now());
      insert into music_tasks (id, user_id, action, task_id, progress, submitted_at) values (3, 1, 'MUSIC', '9', '100%', now());
      insert into holds (id, user_id, node_id, status) values
        ('held', 1, 1, 'open'), ('given back', 1, 1, 'released'), ('given up', 1, 1, 'void');
      insert into task_charges (request_id, kind, task_id, "row") values ('old drawing', 'drawing', 1, '{}'),
        ('drawing', 'drawing', 2, '{}'), ('song', 'music', 3, '{}'), ('gone song', 'music', 4, '{}'), ('gone drawing', 'drawing', 3, '{}'),
        ('held', 'drawing', 9, '{}'), ('given back', 'music', 9, '{}'), ('given up', 'drawing', 9, '{}')`)
    await app.make.option('LogRetentionDays', '30')
    await app.services.options.reload()
    await clean()
    expect(await idsOf('task_charges', 'request_id')).toEqual(['drawing', 'given back', 'held', 'song'])
  })

  it('are left by a run that is ended', async () => {
    await app.make.option('LogRetentionDays', '30')
    await app.services.options.reload()
    await app.pool.query(
      `insert into logs (user_id, type, created_at) select n, 2, now() - interval '31 days' from generate_series(1, 12001) n`,
    )
    const holder = await app.pool.connect()
    const run = new AbortController()
    try {
      await holder.query(`begin; select 1 from logs where user_id = 7000 for update`)
      const cleaned = removeExpired(app.services, run.signal)
      await expect.poll(async () => (await idsOf('logs')).length).toBe(7001)
      run.abort(new Error('ended'))
      await holder.query('commit')
      await expect(cleaned).rejects.toThrow('ended')
      expect(await idsOf('logs')).toHaveLength(2001)
    } finally {
      holder.release()
    }
  })

  it('have a table for each of the next three months, made again where one is missing', async () => {
    const names = [0, 1, 2, 3].map((ahead) => {
      const now = new Date()
      const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1))
      return `logs_${month.toISOString().slice(0, 7).replace('-', '_')}`
    })
    await app.pool.query(`drop table if exists ${names[1]}, ${names[3]}`)
    const { finished } = await app.services.jobs.run('log-partitions')
    expect(await finished).toEqual({
      failed: false,
      report: { text: '日志分表已备至 {until}', params: { until: names[3]?.slice(5).replace('_', '-') } },
    })
    const { rows } = await app.pool.query<{ name: string }>(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'logs'::regclass`,
    )
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
  })
})
