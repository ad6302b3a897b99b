import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'
import type { TestToken } from '#test/support/factories.ts'
import { setOptions } from './serve.ts'
import { chat, closeWithoutViolations, consumed, rushAt, say, sayAgainIfBusy } from './caller-dialects.ts'
import { withinAnHour } from '#test/support/within-an-hour.ts'

// Two nodes on one database.
const model = 'gpt-4o'
const one = await startApp()
const other = await startApp({ on: one })
// 1 a token, 4 for those of the answer.
const prices = { ModelRatio: `{"${model}":1}`, GroupRatio: '{"default":1}', PreConsumedQuota: '100' }
await setOptions(one, prices)
await other.services.options.reload()
await one.make.channel({ models: model, baseUrl: one.upstream.withDirectives('usage=9:20,delay=30') })
await one.services.channels.reload()
await other.services.channels.reload()
beforeEach(() => one.upstream.clear())
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await closeWithoutViolations(one)
})

const rush = rushAt(one, other)

// 9 of the prompt by the cheap count and the answer's limit of 20 at 4 times the price are set aside; the provider reports
// the very same, so that a call which is over leaves no room for one more.
const charge = 9 + 20 * 4
const body = { ...chat.body(model, 'hello', false), max_tokens: 20 }

const stateOf = async (token: TestToken) => {
  const { rows } = await one.pool.query<{ quota: number; remain: number; used: number; holds: number }>(
    `select u.quota::int, t.remain_quota::int as remain, t.used_quota::int as used,
       (select count(*)::int from holds h where h.user_id = u.id and h.status = 'open') as holds
     from users u join tokens t on t.user_id = u.id where t.id = $1`,
    [token.id],
  )
  return rows[0]
}

test('a call under way sets aside its prompt and its limit', async () => {
  await one.make.channel({ models: 'slow', baseUrl: one.upstream.withDirectives('delay=600000') })
  await setOptions(one, { ModelRatio: `{"${model}":1,"slow":1}`, CompletionRatio: '{"slow":4}' })
  await one.services.channels.reload()
  const user = await one.make.user({ quota: 1_000_000 })
  const token = await one.make.token(user)
  const caller = new AbortController()
  const pending = say(one, chat, { token, body: { ...body, model: 'slow' }, signal: caller.signal })
  const held = async () =>
    (await one.pool.query<{ amount: number }>('select amount::int from holds where user_id = $1', [user.id])).rows
  await expect.poll(held).toEqual([{ amount: charge }])
  caller.abort()
  await expect(pending).rejects.toThrow()
  await expect.poll(held).toEqual([])
})

describe('two hundred calls at once, on two nodes', () => {
  test('on a token that can pay for twenty: twenty are served, the others refused before any upstream is asked', async () => {
    one.upstream.clear()
    const token = await one.make.token(await one.make.user({ quota: 10_000_000 }), { remainQuota: charge * 20 })
    const before = (await consumed(one)).length
    const { served, refusals } = await rush(token, 200, body)
    const rows = (await consumed(one)).slice(before)
    expect(served).toBe(20)
    expect(one.upstream.total).toBe(20)
    expect(refusals).toHaveLength(180)
    for (const refusal of refusals) expect(refusal).toMatch(/^40[13] .*(pre_consume_token_quota_failed|令牌额度已耗尽)/)
    expect(rows.map((row) => row.quota)).toEqual(Array.from({ length: 20 }, () => charge))
    expect(await stateOf(token)).toMatchObject({ remain: 0, used: charge * 20, holds: 0 })
    expect(await one.violations()).toEqual([])
  })

  test('on a user who can pay for two: two are served, and the balance ends where it should', async () => {
    one.upstream.clear()
    const token = await one.make.token(await one.make.user({ quota: charge * 2 }))
    const { served, refusals } = await rush(token, 40, body)
    expect(served).toBe(2)
    expect(one.upstream.total).toBe(2)
    for (const refusal of refusals) expect(refusal).toMatch(/^403 .*insufficient_user_quota/)
    expect(await stateOf(token)).toMatchObject({ quota: 0, holds: 0 })
  })

  test('on a large balance every call is reserved: it never falls below zero', async () => {
    const token = await one.make.token(await one.make.user({ quota: charge * 101 }))
    one.upstream.clear()
    const { served } = await rush(token, 300, body)
    expect(served).toBe(101)
    const state = await stateOf(token)
    expect(state?.quota).toBe(0)
  })

  test('on a token for one call under a rich user: one is served, and user and token agree', async () => {
    const token = await one.make.token(await one.make.user({ quota: charge * 1000 }), { remainQuota: charge })
    one.upstream.clear()
    const { served } = await rush(token, 20, body)
    expect(served).toBe(1)
    expect(await stateOf(token)).toMatchObject({
      quota: charge * 1000 - charge,
      remain: 0,
      used: charge,
      holds: 0,
    })
  })
})

test('a quota that fifty editors change while fifty calls run is the sum of their differences, less what the calls cost', async () => {
  const user = await one.make.user({ quota: 10_000_000 })
  const token = await one.make.token(user, { remainQuota: 100_000 })
  const fields = { id: token.id, name: 'shared', knownQuota: 100_000 }
  const calls = Array.from({ length: 50 }, async (_, index) => {
    const { status } = await sayAgainIfBusy(index % 2 === 0 ? one : other, { token, body })
    return status
  })
  const edits = Array.from({ length: 50 }, (_, index) =>
    (index % 2 === 0 ? other : one)
      .trpc(user)
      .user.tokens.update.mutate({ ...fields, remainQuota: 100_007 - 10 * (index % 2) }),
  )
  const [statuses] = await Promise.all([Promise.all(calls), ...edits])
  expect(new Set(statuses)).toEqual(new Set([200]))
  // What was set aside for it is given back a moment later.
  await expect
    .poll(() => stateOf(token))
    .toMatchObject({
      remain: 100_000 + 25 * 7 - 25 * 3 - 50 * charge,
      used: 50 * charge,
      holds: 0,
    })

  const lowered = await one.trpc(user).user.tokens.update.mutate({ ...fields, remainQuota: 0 })
  expect(lowered.remainQuota).toBe(0)
  // However often it is raised by the most, nothing comes near the end of what the column holds.
  for (let times = 0; times < 3; times += 1) {
    const raised = await one.trpc(user).user.tokens.update.mutate({ ...fields, remainQuota: 1e15, knownQuota: -1e15 })
    expect(raised.remainQuota).toBe(1e15)
  }
  expect(await one.violations()).toEqual([])
})

describe.skipIf(process.env['LEDGER_LEASES'] === 'off')('what both nodes lease of a busy token', () => {
  const large = charge * 300_000

  /** Calls until both nodes lease for it. Resolves with whose token it is. */
  async function leasedToken() {
    const user = await one.make.user({ quota: large })
    const token = await one.make.token(user, { remainQuota: large })
    const lessees = async () =>
      (await one.pool.query('select distinct node_id from leases where user_id = $1 and not closing', [user.id]))
        .rowCount
    // Looked for while they call: what nobody calls by is given back soon.
    for (let isOfBoth = false; !isOfBoth;) {
      let isOver = false
      const calls = rush(token, 60, body).finally(() => (isOver = true))
      while (!isOver && !isOfBoth) isOfBoth = (await lessees()) === 2
      await calls
    }
    return { user, token }
  }
  const leasedOf = async (user: { id: number }) =>
    (await one.pool.query('select id from leases where user_id = $1', [user.id])).rowCount
  const admin = () => one.make.user({ role: 100 })

  test('is given back before a balance that an administrator lowers is answered: exactly what is left is served', async () => {
    const { user, token } = await leasedToken()
    await one.trpc(await admin()).admin.users.update.mutate({ id: user.id, quota: charge * 5 })
    expect(await leasedOf(user)).toBe(0)
    const { served, refusals } = await rush(token, 40, body)
    expect(served).toBe(5)
    for (const refusal of refusals) expect(refusal).toMatch(/^403 .*insufficient_user_quota/)
    expect(await stateOf(token)).toMatchObject({ quota: 0, holds: 0 })
    expect(await one.violations()).toEqual([])
  })

  test('is given back before a quota that the owner lowers is answered', async () => {
    const { user, token } = await leasedToken()
    await one
      .trpc(user)
      .user.tokens.update.mutate({ id: token.id, name: 'less', remainQuota: charge * 3, unlimitedQuota: false })
    expect(await leasedOf(user)).toBe(0)
    expect((await rush(token, 40, body)).served).toBe(3)
    expect(await stateOf(token)).toMatchObject({ remain: 0, holds: 0 })
  })

  test('goes back with a token that is disabled, whose calls under way end as they would and are charged', async () => {
    const { user, token } = await leasedToken()
    const before = await stateOf(token)
    const [underWay] = await Promise.all([
      rush(token, 20, body),
      one.trpc(user).user.tokens.setStatus.mutate({ id: token.id, status: 2 }),
    ])
    expect((await rush(token, 20, body)).served).toBe(0)
    expect(await leasedOf(user)).toBe(0)
    expect(await stateOf(token)).toMatchObject({ quota: (before?.quota ?? 0) - underWay.served * charge, holds: 0 })
    expect(await one.violations()).toEqual([])
  })

  test('is given back before a spend cap is answered, which then is reached exactly', async () => {
    await withinAnHour()
    const { user, token } = await leasedToken()
    await one.trpc(await admin()).admin.spendCaps.set.mutate({
      userId: user.id,
      caps: [{ period: 'day', amount: charge * 4 }],
    })
    expect(await leasedOf(user)).toBe(0)
    const { served, refusals } = await rush(token, 40, body)
    expect(served).toBe(4)
    for (const refusal of refusals) expect(refusal).toMatch(/^429 /)
    expect(await one.violations()).toEqual([])
  })

  test('does not keep its user from buying a plan with the whole balance', async () => {
    const { user, token } = await leasedToken()
    const price = (await stateOf(token))?.quota ?? 0
    const { rows } = await one.pool.query<{ id: number }>(
      `insert into plans (name, price, term, windows) values ('All', $1, 'month', '[]') returning id`,
      [price],
    )
    await one.trpc(user).user.plans.buy.mutate({ id: rows[0]?.id ?? 0 })
    expect(await stateOf(token)).toMatchObject({ quota: 0, holds: 0 })
    expect(await leasedOf(user)).toBe(0)
  })
})

test('a charge above what was set aside is taken in full, and only that excess falls below zero', async () => {
  const baseUrl = one.upstream.withDirectives('usage=5000:1000,delay=30')
  await one.make.channel({ models: 'dear', baseUrl })
  await setOptions(one, { ModelRatio: '{"dear":1,"gpt-4o":1}', CompletionRatio: '{"dear":4}' })
  await one.services.channels.reload()
  const token = await one.make.token(await one.make.user({ quota: charge * 3 }))
  const dear = { ...body, model: 'dear' }
  const replies = await Promise.all(Array.from({ length: 10 }, () => say(one, chat, { token, body: dear })))
  expect(replies.filter((reply) => reply.status === 200)).toHaveLength(3)
  // 5000 + 1000 × 4 a call
  expect(await stateOf(token)).toMatchObject({ quota: charge * 3 - 3 * 9000, holds: 0 })
  const refused = await say(one, chat, { token, body })
  expect(refused.status).toBe(403)
  expect(chat.readError(await refused.json()).message).toContain('insufficient user quota')
  await setOptions(one, { ModelRatio: '{"free":0}' })
  await one.make.channel({ models: 'free' })
  await one.services.channels.reload()
  expect((await say(one, chat, { token, body: { ...body, model: 'free' } })).status).toBe(200)
})
