import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { long } from '#test/support/long.ts'
import { consumed, eventually } from '#test/relay/caller-dialects.ts'
import { startMeteredApp } from './metered-upstream.ts'
import { holdLock } from '#test/support/held-lock.ts'

const names = ['m-unlimited', 'm-smaller', 'm-ending', 'm-failing', 'm-broken']
const ones = JSON.stringify(Object.fromEntries(names.map((name) => [name, 1])))
const { app, upstream } = await startMeteredApp([{ models: names.join(',') }], {
  ModelRatio: ones,
  CompletionRatio: ones,
  PreConsumedQuota: '100',
})

const bodyOf = (model: string, words: number) => ({
  model,
  stream: true,
  messages: [{ role: 'user', content: `go on [${words}/2]` }],
})

const leftOf = async (tokenId: number) =>
  (
    await app.pool.query<{ quota: number; remain: number; used: number }>(
      `select u.quota::int, t.remain_quota::int as remain, t.used_quota::int as used
       from tokens t join users u on u.id = t.user_id where t.id = $1`,
      [tokenId],
    )
  ).rows[0]

const untilFree = (userId: number) =>
  eventually(
    async () =>
      (await app.pool.query("select 1 from holds where user_id = $1 and status = 'open'", [userId])).rowCount ?? 0,
    (count) => count === 0,
  )

const lastRow = async (userId: number) => (await consumed(app)).filter((row) => row.user_id === userId).at(-1)

test('an unlimited token is cut by the balance alone, and only counts what it used', async () => {
  const user = await app.make.user({ quota: 400 })
  const token = await app.make.token(user, { unlimited: true, remainQuota: 0 })
  const text = await (await app.relay(token, '/v1/chat/completions', bodyOf('m-unlimited', 5000))).text()
  expect(text).toContain('"finish_reason":"length"')
  const left = await leftOf(token.id)
  expect(left?.quota).toBeGreaterThanOrEqual(-2)
  expect(left?.quota).toBeLessThan(150)
  expect(left).toMatchObject({ remain: 0, used: 400 - (left?.quota ?? 0) })
})

test('of balance and token quota the smaller one cuts, and both are charged alike', async () => {
  for (const { quota, remainQuota } of [
    { quota: 10_000, remainQuota: 400 },
    { quota: 400, remainQuota: 10_000 },
  ]) {
    const user = await app.make.user({ quota })
    const token = await app.make.token(user, { unlimited: false, remainQuota })
    const text = await (await app.relay(token, '/v1/chat/completions', bodyOf('m-smaller', 5000))).text()
    expect(text).toContain('"finish_reason":"length"')
    await untilFree(user.id)
    const charged = (await lastRow(user.id))?.quota ?? 0
    expect(charged).toBeGreaterThan(250)
    expect(charged).toBeLessThanOrEqual(402)
    expect(await leftOf(token.id)).toEqual({ quota: quota - charged, remain: remainQuota - charged, used: charged })
  }
})

test('a stream that ends while its hold is being raised is charged once, and nothing stays set aside', async () => {
  const { user, token, reading, goOn } = await startedStream('m-ending', 80)
  await using unlock = await holdLock(app.pool, 'select 1 from users where id = $1 for update', [user.id])
  goOn()
  await pause(300)
  await unlock()
  expect(await reading).toContain('"finish_reason":"stop"')
  expect(await untilFree(user.id)).toBe(0)
  const row = await lastRow(user.id)
  expect(row?.completion_tokens).toBe(80)
  expect((await leftOf(token.id))?.quota).toBe(100_000 - (row?.quota ?? 0))
})

/** Nothing can be reserved any more; what was reserved can still be settled. */
async function failReserves(): Promise<() => Promise<unknown>> {
  const { rows } = await app.pool.query<{ name: string }>(
    "select oid::regprocedure::text as name from pg_proc where proname = 'ledger_reserve'",
  )
  const name = rows[0]?.name ?? ''
  await app.pool.query(`alter function ${name} rename to ledger_reserve_away`)
  const away = name.replace('ledger_reserve', 'ledger_reserve_away')
  return () => app.pool.query(`alter function ${away} rename to ledger_reserve`)
}

/** A stream that has begun, and goes on only with `goOn`. */
async function startedStream(model: string, words: number) {
  const goOn = upstream.stopStreams()
  const user = await app.make.user({ quota: 100_000 })
  const token = await app.make.token(user)
  const pending = app.relay(token, '/v1/chat/completions', bodyOf(model, words))
  await expect
    .poll(async () => (await app.pool.query('select 1 from holds where user_id = $1', [user.id])).rowCount)
    .toBe(1)
  return { user, token, reading: pending.then((reply) => reply.text()), goOn }
}

test('a stream whose raise the database fails waits for the database, and is then served in full', async () => {
  const { user, reading, goOn } = await startedStream('m-failing', 3000)
  const restore = await failReserves()
  goOn()
  await pause(500)
  await restore()
  expect(await reading).toContain('"finish_reason":"stop"')
  await untilFree(user.id)
  expect(await lastRow(user.id)).toMatchObject({ completion_tokens: 3000 })
})

test.runIf(long)(
  'where the database does not come back, the stream ends with an error, charged for its part',
  async () => {
    const { user, token, reading, goOn } = await startedStream('m-broken', 3000)
    const restore = await failReserves()
    goOn()
    const text = await reading.finally(restore)
    expect(text).toContain('"error"')
    expect(await untilFree(user.id)).toBe(0)
    const row = await lastRow(user.id)
    expect(row?.quota).toBeLessThan(3000)
    expect((await leftOf(token.id))?.quota).toBe(100_000 - (row?.quota ?? 0))
  },
)
