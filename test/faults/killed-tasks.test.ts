import { expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'
import { ledgerViolations } from '#test/support/ledger-invariant.ts'
import { holdLock } from '#test/support/held-lock.ts'
import { startProduct, until, untilSomebodyWaits } from '#test/support/processes.ts'
import { drawingModels, poll } from '#test/tasks/world.ts'
import { createWorld, type World } from './world.ts'

const submissions = [
  { path: '/mj/submit/imagine', body: { prompt: 'a' } },
  { path: '/suno/submit/music', body: { prompt: 'b [[job=failure,polls=1]]' } },
  { path: '/mj/submit/upload-discord-images', body: { base64Array: ['data:image/png;base64,AAAA'] } },
]

const storedTasks = `select action, status, quota::int, charge_pending as pending from drawing_tasks
  union all select action, status, quota::int, charge_pending from music_tasks order by 1`

/** Ends a product whose tasks are accepted and stored, and whose charges wait for the row of the user. */
async function killBeforeCharges(world: World): Promise<void> {
  const { pool, upstream, make } = world
  const user = await make.user({ quota: 10_000_000 })
  const token = await make.token(user)
  const baseUrl = upstream.withDirectives('gate=accepted')
  await make.channel({ type: 5, models: drawingModels, key: 'drawing-key', baseUrl })
  await make.channel({ type: 36, models: 'suno_music', key: 'music-key', baseUrl })
  await using product = await startProduct({ environment: { ...world.environment, WORKERS: '1' } })
  const headers = { 'content-type': 'application/json', authorization: `Bearer sk-${token.key}` }
  const answers = submissions.map(({ path, body }) =>
    fetch(product.url + path, { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => 'no answer'),
  )
  await until(() => upstream.open === submissions.length, { what: 'the upstream is not asked' })
  await using unlock = await holdLock(pool, 'select 1 from users where id = $1 for update', [user.id])
  upstream.openGate('accepted')
  await until(async () => (await pool.query(storedTasks)).rowCount === submissions.length, {
    what: 'no task is stored',
  })
  await untilSomebodyWaits(pool)
  await product.killAll()
  expect(await Promise.all(answers)).toEqual(submissions.map(() => 'no answer'))
  // Its charge would go through once the row is free: the database has to notice the loss before.
  const waiting = "from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  await pool.query(`select pg_terminate_backend(pid) ${waiting}`)
  await until(async () => (await pool.query(`select 1 ${waiting}`)).rowCount === 0, {
    what: 'the charge of the dead product is not over',
  })
  await unlock()
}

test('tasks whose process is killed before it charges them are charged once by whoever asks after them, and those that failed paid back once', async () => {
  await using world = await createWorld()
  const { pool } = world
  await killBeforeCharges(world)
  await using first = await startApp({ on: world })
  await using second = await startApp({ on: world })
  await until(async () => (await pool.query("select 1 from holds where status = 'open'")).rowCount === 0, {
    what: 'what the dead product has set aside is not given back',
  })
  const isUnderWay =
    "select 1 from drawing_tasks where progress <> '100%' union all select 1 from music_tasks where progress <> '100%'"
  await until(
    async () => {
      await Promise.all([poll(first), poll(second)])
      return (await pool.query(isUnderWay)).rowCount === 0
    },
    { what: 'the tasks do not end' },
  )
  expect((await pool.query(storedTasks)).rows).toEqual([
    { action: 'IMAGINE', status: 'SUCCESS', quota: 50_000, pending: false },
    { action: 'MUSIC', status: 'FAILURE', quota: 50_000, pending: false },
    { action: 'UPLOAD', status: 'SUCCESS', quota: 25_000, pending: false },
  ])
  expect((await pool.query('select quota::int, used_quota::int as used from users')).rows).toContainEqual({
    quota: 10_000_000 - 75_000,
    used: 125_000,
  })
  const { rows: charges } = await pool.query('select quota::int from logs where type = 2 order by 1')
  expect(charges.map(({ quota }) => quota)).toEqual([25_000, 50_000, 50_000])
  expect((await pool.query("select amount::int from grants where kind = 'refund'")).rows).toEqual([{ amount: 50_000 }])
  expect((await pool.query('select 1 from task_charges')).rowCount).toBe(0)
  expect(await ledgerViolations(pool)).toEqual([])
})
