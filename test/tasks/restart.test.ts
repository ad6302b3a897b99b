import { expect, test } from 'vitest'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import { type App, startApp } from '#test/support/app.ts'
import {
  balanceOf,
  call,
  drawingChannel,
  drawingsOf,
  type Holder,
  holder,
  imagine,
  imagined,
  tasksOf,
  musicChannel,
  poll,
  refundsOf,
} from './world.ts'
import { holdLock } from '#test/support/held-lock.ts'
import { json, startScriptedUpstream } from '#test/support/scripted-upstream.ts'

test('another process goes on asking after what one has begun, and two that ask at once pay back once', async () => {
  await using first = await startApp()
  await drawingChannel(first)
  await musicChannel(first)
  const by = await holder(first)
  const failing = await imagined(first, by, 'a [[job=failure]]')
  const good = await imagined(first, by, 'b')
  const { json } = await call(first, by, 'POST /suno/submit/music', { prompt: 'c [[job=failure]]' })
  await poll(first)
  expect((await balanceOf(first, by)).quota).toBe(9_850_000)

  await using second = await startApp({ on: first })
  await using third = await startApp({ on: first })
  await Promise.all([poll(second), poll(third), poll(second), poll(third)])
  const tasks = new Map((await drawingsOf(second, by)).map((task) => [task.mj_id, task.status]))
  expect([tasks.get(failing), tasks.get(good)]).toEqual(['FAILURE', 'SUCCESS'])
  expect((await tasksOf(second, by))[0]).toMatchObject({ task_id: json['data'], status: 'FAILURE' })
  expect(await refundsOf(second, by)).toEqual([50_000, 50_000])
  expect((await balanceOf(second, by)).quota).toBe(9_950_000)
  expect(await second.violations()).toEqual([])
})

test('the periodic job asks after every task', async () => {
  await using app = await startApp()
  await drawingChannel(app)
  await musicChannel(app)
  const by = await holder(app)
  await imagined(app, by, 'a [[polls=1]]')
  await call(app, by, 'POST /suno/submit/music', { prompt: 'b [[polls=1]]' })
  const { finished } = await app.services.jobs.run('task-polling')
  expect(await finished).toEqual({
    failed: false,
    report: { text: '已查询 {drawings} 个绘图任务和 {jobs} 个音乐任务', params: { drawings: 1, jobs: 1 } },
  })
  expect((await drawingsOf(app, by))[0]).toMatchObject({ status: 'SUCCESS' })
  expect((await tasksOf(app, by))[0]).toMatchObject({ status: 'SUCCESS' })
})

test('a task whose process died before it was charged is not paid back, and one that died right after is', async () => {
  await using app = await startApp()
  await drawingChannel(app)
  const by = await holder(app)
  const uncharged = await imagined(app, by, 'a [[job=failure,polls=1]]')
  const charged = await imagined(app, by, 'b [[job=failure,polls=1]]')
  const undecided = await imagined(app, by, 'c [[job=failure,polls=1]]')
  const lost = await imagined(app, by, 'd [[job=failure,polls=1]]')
  const lostLongAgo = await imagined(app, by, 'e [[job=failure,polls=1]]')
  const chargedLongAgo = await imagined(app, by, 'f [[job=failure,polls=1]]')
  const rows = new Map((await drawingsOf(app, by)).map((task) => [task.mj_id, String(task['request_id'])]))
  await app.pool.query('update drawing_tasks set charge_pending = true where user_id = $1', [by.user.id])
  const hold = 'insert into holds (id, user_id, amount, node_id, status, released_at) values ($1, $2, 0, 1, $3, now())'
  await app.pool.query(hold, [rows.get(uncharged), by.user.id, 'released'])
  await app.pool.query(hold, [rows.get(undecided), by.user.id, 'open'])
  for (const name of [lost, lostLongAgo, chargedLongAgo])
    await app.pool.query('delete from settled_calls where id = $1', [rows.get(name)])
  for (const name of [lost, lostLongAgo])
    await app.pool.query('delete from logs where request_id = $1', [rows.get(name)])
  await app.pool.query(
    "update drawing_tasks set submitted_at = now() - interval '55 minutes' where request_id = any ($1::text[])",
    [[lostLongAgo, chargedLongAgo].map((name) => rows.get(name))],
  )
  // As processes leave it that have run for long.
  await app.pool.query(
    "update installation_facts set value = extract(epoch from now() - interval '1 hour')::text where name = 'settled_calls_since'",
  )
  await poll(app)
  const tasks = new Map((await drawingsOf(app, by)).map((task) => [task.mj_id, task]))
  expect(tasks.get(uncharged)).toMatchObject({ status: 'FAILURE', quota: '0' })
  for (const name of [lost, lostLongAgo]) expect(tasks.get(name)).toMatchObject({ status: 'FAILURE', quota: '0' })
  expect(tasks.get(chargedLongAgo)).toMatchObject({ status: 'FAILURE', quota: '50000' })
  expect(tasks.get(charged)).toMatchObject({ status: 'FAILURE', quota: '50000' })
  expect(tasks.get(undecided)).toMatchObject({ progress: '0%', charge_pending: true })
  expect(await refundsOf(app, by)).toEqual([50_000, 50_000])
  await app.pool.query('delete from holds where id = $1', [rows.get(undecided)])
  await poll(app)
  expect(await refundsOf(app, by)).toEqual([50_000, 50_000, 50_000])
})

const charge: Omit<ChargeRow, 'id' | 'userId' | 'tokenId'> = {
  channelId: 0,
  quota: 2000,
  counted: true,
  log: false,
  content: '',
  username: '',
  tokenName: '',
  modelName: 'gpt-4o',
  promptTokens: 1,
  completionTokens: 1,
  cachedTokens: 0,
  useTimeMs: 1,
  firstTokenMs: null,
  isStream: false,
  group: 'default',
  clientIp: '',
  other: {},
}

/** This process leases for the token then, and more than a job costs. */
async function leasedFor(app: App, { user, token }: Holder): Promise<void> {
  const payer = { userId: user.id, tokenId: token.id }
  const spend = async (): Promise<void> => {
    const id = app.services.ambient.newId(32)
    await app.services.ledger.reserve({ id, ...payer, amount: 2000 })
    await app.services.ledger.settle({ ...charge, id, ...payer }, 'go-on')
  }
  const leased = 'select 1 from leases where user_id = $1 and not closing and amount >= 100000'
  do await Promise.all(Array.from({ length: 60 }, spend))
  while ((await app.pool.query(leased, [user.id])).rowCount === 0)
}

test('a job of a token that is leased for is not decided before its charge is, and paid back when it fails', async () => {
  await using app = await startApp()
  await drawingChannel(app, { does: 'gate=taken' })
  const by = await holder(app)
  await leasedFor(app, by)
  const submitted = imagine(app, by, 'x [[job=failure,polls=1]]')
  await expect.poll(() => app.upstream.open).toBe(1)
  await using unlock = await holdLock(app.pool, 'select 1 from users where id = $1 for update', [by.user.id])
  app.upstream.openGate('taken')
  await expect.poll(() => drawingsOf(app, by)).toHaveLength(1)
  await poll(app)
  expect(await drawingsOf(app, by)).toMatchObject([{ progress: '0%', charge_pending: true, quota: '50000' }])
  await unlock()
  expect((await submitted).json).toMatchObject({ code: 1 })
  await poll(app)
  expect(await drawingsOf(app, by)).toMatchObject([{ status: 'FAILURE', quota: '50000' }])
  expect(await refundsOf(app, by)).toEqual([50_000])
})

/** Ended drawings whose process died before it charged them, 2000 each. */
async function leaveUncharged(app: App, { user, token }: Holder, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) {
    const id = app.services.ambient.newId(32)
    const row: ChargeRow = { ...charge, id, userId: user.id, tokenId: token.id }
    await app.pool.query(
      `with task as (insert into drawing_tasks (user_id, action, status, progress, request_id, quota, charge_pending)
         values ($2, 'IMAGINE', 'SUCCESS', '100%', $1, 2000, true) returning id),
       hold as (insert into holds (id, user_id, amount, node_id, status, released_at) values ($1, $2, 0, 1, 'released', now()))
       insert into task_charges (request_id, kind, task_id, "row") select $1, 'drawing', id, $3 from task`,
      [id, user.id, JSON.stringify(row)],
    )
  }
}

test('charges of a dead process that wait for a locked row are sent once, and keep no other task from its charge or its news', async () => {
  await using app = await startApp()
  await drawingChannel(app)
  const [locked, free] = [await holder(app), await holder(app)]
  await leaveUncharged(app, locked, 12)
  const isDone = async () => (await drawingsOf(app, free)).every(({ status }) => status === 'SUCCESS')
  await using unlock = await holdLock(app.pool, 'select 1 from users where id = $1 for update', [locked.user.id])
  await imagined(app, free, 'a [[polls=1]]')
  const first = poll(app)
  await expect.poll(isDone).toBe(true)
  await expect.poll(() => app.services.ledger.openCalls()).toBe(12)
  await imagined(app, free, 'b [[polls=1]]')
  await leaveUncharged(app, free, 1)
  const second = poll(app)
  await expect.poll(async () => (await isDone()) && (await usedBy(app, free))).toBe(102_000)
  expect(app.services.ledger.openCalls()).toBe(12)
  await unlock()
  await Promise.all([first, second])
  expect(await balanceOf(app, locked)).toMatchObject({ used: 24_000 })
  await poll(app)
  expect((await app.pool.query('select 1 from task_charges')).rowCount).toBe(0)
  expect((await app.pool.query('select 1 from drawing_tasks where charge_pending or quota = 0')).rowCount).toBe(0)
})

const usedBy = async (app: App, { user }: Holder): Promise<number> =>
  Number((await app.pool.query('select used_quota from users where id = $1', [user.id])).rows[0].used_quota)

test('a charge that was given up is forgotten as soon as the database allows, before its hold is', async () => {
  await using app = await startApp({ refusesAsUsual: ['callMs'] })
  await drawingChannel(app, { does: 'gate=taken' })
  const by = await holder(app)
  let isTaken = false
  const submit = async (): ReturnType<typeof imagine> => {
    const reply = await imagine(app, by, 'x')
    // A busy machine may have the product refuse to set aside: then nothing was asked for.
    return isTaken ? reply : submit()
  }
  const submitted = submit()
  await expect.poll(() => app.upstream.open).toBe(1)
  isTaken = true
  await app.pool
    .query(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
    create trigger refuse before delete on task_charges for each row execute function refuse()`)
  await using unlock = await holdLock(app.pool, 'select 1 from users where id = $1 for update', [by.user.id])
  app.upstream.openGate('taken')
  const { status, headers } = await submitted
  expect(status).toBe(503)
  expect((await app.pool.query('select 1 from task_charges')).rowCount).toBe(1)
  await app.pool.query('drop function refuse cascade')
  await expect.poll(async () => (await app.pool.query('select 1 from task_charges')).rowCount).toBe(0)
  const open = "select 1 from holds where id = $1 and status = 'open'"
  expect((await app.pool.query(open, [headers.get('x-request-id')])).rowCount).toBe(1)
  expect(await drawingsOf(app, by)).toMatchObject([{ charge_pending: false, quota: '0' }])
  await unlock()
  expect(await balanceOf(app, by)).toMatchObject({ quota: 10_000_000, used: 0 })
  expect(await app.violations()).toEqual([])
})

test('a caller who hangs up pays for the image that was taken, and finds it', async () => {
  await using app = await startApp()
  await drawingChannel(app, { does: 'gate=left' })
  const by = await holder(app)
  const gone = new AbortController()
  const call_ = app.relay(by.token, '/mj/submit/imagine', { prompt: 'x' }, { signal: gone.signal }).catch(() => null)
  await expect.poll(() => app.upstream.open).toBe(1)
  gone.abort()
  await call_
  app.upstream.openGate('left')
  await expect.poll(() => drawingsOf(app, by)).toHaveLength(1)
  await expect.poll(async () => (await balanceOf(app, by)).used).toBe(50_000)
  expect((await drawingsOf(app, by))[0]).toMatchObject({ quota: '50000' })
  expect(await app.violations()).toEqual([])
})

test('an image that cannot be stored is not charged', async () => {
  await using app = await startApp()
  await drawingChannel(app)
  await musicChannel(app)
  const by = await holder(app)
  await app.pool.query('alter table drawing_tasks add constraint never check (false) not valid')
  await app.pool.query('alter table music_tasks add constraint never check (false) not valid')
  expect(await imagine(app, by)).toMatchObject({
    status: 400,
    json: { description: 'insert_midjourney_task_failed', code: 4 },
  })
  expect(await call(app, by, 'POST /suno/submit/music', { prompt: 'x' })).toMatchObject({
    status: 500,
    json: { code: 'insert_task_failed' },
  })
  expect(await balanceOf(app, by)).toMatchObject({ quota: 10_000_000, used: 0 })
})

test('half a character and a NUL in a prompt are stored without them', async () => {
  await using app = await startApp()
  await drawingChannel(app)
  const by = await holder(app)
  expect((await imagine(app, by, 'a\0b\ud800c')).json).toMatchObject({ code: 1 })
  expect((await drawingsOf(app, by))[0]).toMatchObject({ prompt: 'ab\ufffdc' })
})

test('a report that nobody can write down keeps no other task of its channel from its news', async () => {
  await using app = await startApp()
  await using scripted = await startScriptedUpstream()
  const deep = '['.repeat(50_000) + ']'.repeat(50_000)
  const baseUrl = scripted.play((path) => {
    const taskId = scripted.received.at(-1)?.bytes.includes('deep') ? 'deep' : 'flat'
    if (path === '/mj/submit/imagine') return json({ code: 1, description: 'ok', result: taskId })
    if (path === '/suno/submit/MUSIC') return json({ code: 'success', data: taskId })
    const reports = (id: string, news: string, more: string) =>
      `[{"${id}":"deep","status":"SUCCESS","${more}":${deep}},{"${id}":"flat","status":"SUCCESS"${news}}]`
    return path.startsWith('/mj/')
      ? { steps: [reports('id', ',"progress":"100%"', 'buttons')] }
      : { steps: [`{"code":"success","data":${reports('task_id', '', 'data')}}`] }
  })
  await drawingChannel(app, { baseUrl })
  await musicChannel(app, { baseUrl })
  const by = await holder(app)
  for (const prompt of ['deep', 'flat']) {
    await imagined(app, by, prompt)
    expect((await call(app, by, 'POST /suno/submit/music', { prompt })).status).toBe(200)
  }
  await poll(app)
  const flat = { status: 'SUCCESS', progress: '100%' }
  expect(await drawingsOf(app, by)).toMatchObject([
    { mj_id: 'deep', progress: '0%' },
    { mj_id: 'flat', ...flat },
  ])
  expect(await tasksOf(app, by)).toMatchObject([
    { task_id: 'deep', progress: '0%' },
    { task_id: 'flat', ...flat },
  ])
})
