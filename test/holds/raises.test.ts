import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { withOptions } from '#test/relay/serve.ts'
import { consumed } from '#test/relay/caller-dialects.ts'
import { startMeteredApp } from './metered-upstream.ts'
import { holdLock } from '#test/support/held-lock.ts'

const model = 'm-raised'
const { app, upstream } = await startMeteredApp([{ models: model }], {
  ModelRatio: `{"${model}":1}`,
  CompletionRatio: `{"${model}":1}`,
  PreConsumedQuota: '100',
})

const bodyOf = (words: number) => ({
  model,
  stream: true,
  messages: [{ role: 'user', content: `go on [${words}/2]` }],
})

/** Keeps a user's row, so that nothing can be reserved or settled for it before it is let go. */
const keepRow = (userId: number) => holdLock(app.pool, 'select 1 from users where id = $1 for update', [userId])

const holdsOf = async (userId: number) =>
  (await app.pool.query("select 1 from holds where user_id = $1 and status = 'open'", [userId])).rowCount

async function startStream(words: number, quota = 1_000_000) {
  const user = await app.make.user({ quota })
  const token = await app.make.token(user)
  const gone = new AbortController()
  const reply = await app.relay(token, '/v1/chat/completions', bodyOf(words), { signal: gone.signal })
  expect(reply.status).toBe(200)
  return { user, token, gone, reply }
}

test('a stream whose raise is late waits for it, and is then served in full', async () => {
  const user = await app.make.user({ quota: 1_000_000 })
  const token = await app.make.token(user)
  const pending = app.relay(token, '/v1/chat/completions', bodyOf(3000))
  await expect.poll(() => holdsOf(user.id)).toBe(1)
  await using letGo = await keepRow(user.id)
  const reply = await pending
  const reader = reply.text()
  await pause(300)
  await letGo()
  const text = await reader
  expect(text).toContain('"finish_reason":"stop"')
  expect((await consumed(app)).at(-1)).toMatchObject({ completion_tokens: 3000 })
  await expect.poll(() => holdsOf(user.id)).toBe(0)
})

test('a caller who hangs up while a raise is under way pays what was delivered, and no hold stays open', async () => {
  const goOn = upstream.stopStreams()
  const { user, gone, reply } = await startStream(20_000)
  await using letGo = await keepRow(user.id)
  goOn()
  await reply.body?.getReader().read()
  await pause(200)
  gone.abort()
  await pause(100)
  await letGo()
  await expect.poll(() => holdsOf(user.id)).toBe(0)
  const row = (await consumed(app)).at(-1)
  expect(row).toMatchObject({ user_id: user.id, other: { end: 'hung-up' } })
  expect(row?.quota).toBeLessThan(20_000)
})

test('whether a stream is cut and charged does not depend on logging', async () => {
  await withOptions(app, { LogConsumeEnabled: 'false' }, async () => {
    const { user, reply } = await startStream(5000, 400)
    expect(await reply.text()).toContain('"finish_reason":"length"')
    const { rows } = await app.pool.query<{ quota: number; used: number }>(
      'select quota::int, used_quota::int as used from users where id = $1',
      [user.id],
    )
    expect(rows[0]?.used).toBeGreaterThan(200)
    expect(rows[0]?.quota).toBe(400 - (rows[0]?.used ?? 0))
    expect(rows[0]?.quota).toBeGreaterThanOrEqual(-2)
    // The ledger of this file is compared with the log.
    await app.pool.query(`insert into logs (user_id, type, content, username, token_id, model_name, quota, channel_id)
      select user_id, 2, '', '', token_id, model_name, quota, channel_id from usage_hourly where user_id = ${user.id}`)
  })
})

test('a more expensive second attempt raises the hold of the first, and the stream raises it further', async () => {
  await app.make.channel({ models: 'm-second', baseUrl: app.upstream.withDirectives('status=500'), priority: 10 })
  await app.make.channel({
    models: 'm-second',
    baseUrl: upstream.url,
    modelMapping: '{"m-second":"m-dear"}',
  })
  await app.services.channels.reload()
  const expensive = {
    ModelRatio: '{"m-second":1,"m-dear":5}',
    CompletionRatio: '{"m-second":1,"m-dear":1}',
    RetryTimes: '2',
  }
  await withOptions(app, expensive, async () => {
    const user = await app.make.user({ quota: 20_000 })
    const token = await app.make.token(user)
    const reply = await app.relay(token, '/v1/chat/completions', { ...bodyOf(2000), model: 'm-second' })
    expect(await reply.text()).toContain('"finish_reason":"stop"')
    expect((await consumed(app)).at(-1)).toMatchObject({ completion_tokens: 2000 })
    expect(await holdsOf(user.id)).toBe(0)
  })
})
