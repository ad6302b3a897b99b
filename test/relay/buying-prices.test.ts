import { describe, expect, test } from 'vitest'
import type { BuyingPrice } from '#core/pricing/buying-price.ts'
import { chat, say } from './caller-dialects.ts'
import { allowUnpriced, serve, setOptions, withOptions } from './serve.ts'
import { startBalancedApp } from './relay-world.ts'

const app = await startBalancedApp()
await allowUnpriced(app)
const user = await app.make.user()
const token = await app.make.token(user, { remainQuota: 50_000_000 })

const tokens = (input: number, output: number, more: Record<string, number> = {}) =>
  ({ kind: 'tokens', input, output, ...more }) as const
const since2020 = Date.UTC(2020, 0, 1)

async function buys(channelId: number, ...prices: (Partial<BuyingPrice> & Pick<BuyingPrice, 'terms'>)[]) {
  const full = prices.map((price) => ({ model: '', from: since2020, ...price }))
  await app.pool.query('update channels set buying_prices = $2 where id = $1', [channelId, JSON.stringify(full)])
  await app.services.channels.reload(channelId)
}

/** The log row's cost, and the hourly sums and counters of the channels. */
async function booked(model: string, ids: number[]) {
  const { rows: logs } = await app.pool.query<{ cost: string | null; other: { admin_info: Record<string, unknown> } }>(
    'select cost, other from logs where model_name = $1 and type = 2 order by id',
    [model],
  )
  const { rows: channels } = await app.pool.query<Record<'cost' | 'used' | 'count' | 'costed' | 'quota', number>>(
    `select c.used_cost::float8 as used, coalesce(sum(h.cost), 0)::float8 as cost, coalesce(sum(h.count), 0)::int as count,
       coalesce(sum(h.costed_quota), 0)::int as costed, coalesce(sum(h.quota), 0)::int as quota
     from unnest($2::int[]) with ordinality i(id, n) join channels c on c.id = i.id
     left join usage_hourly h on h.channel_id = c.id and h.model_name = $1 group by i.n, c.id order by i.n`,
    [model, ids],
  )
  return { logs: logs.map(({ cost, other }) => ({ cost: cost === null ? null : Number(cost), other })), channels }
}

describe('what a call costs the operator', () => {
  test('is worked out by kind of token, beside its charge, in log, hourly sums and channel', async () => {
    const { model, ids } = await serve(app, { does: 'usage=1000:100:400' })
    await buys(ids[0] ?? 0, { terms: tokens(2, 10, { cacheRead: 0.5 }) })
    expect((await say(app, chat, { token, model })).status).toBe(200)
    const { logs, channels } = await booked(model, ids)
    // 600 × $2 + 400 × $0.5 + 100 × $10, a million each
    expect(logs[0]?.cost).toBe(2_400_000)
    expect(channels).toEqual([
      { used: 2_400_000, cost: 2_400_000, count: 1, costed: channels[0]?.quota, quota: channels[0]?.quota },
    ])
    const { admin } = app.trpc(await app.make.user({ role: 10 }))
    const money = await admin.prices.channelMoney.query({ channelId: ids[0] ?? 0 })
    expect(money).toMatchObject({ cost: 2_400_000, quota: channels[0]?.quota, costedQuota: channels[0]?.quota })
  })

  test('is a share of the list price, whatever the group pays', async () => {
    const { model, ids } = await serve(app, { does: 'usage=1000:100' })
    await buys(ids[0] ?? 0, { terms: { kind: 'share', share: 0.3 } })
    await setOptions(app, { ModelRatio: JSON.stringify({ [model]: 1 }), GroupRatio: '{"default":3}' })
    expect((await say(app, chat, { token, model })).status).toBe(200)
    await setOptions(app, { GroupRatio: '{"default":1}' })
    // 1100 tokens at $2 a million, thirty percent
    expect((await booked(model, ids)).logs[0]?.cost).toBe(660_000)
  })

  test('follows the price of the instant, and that of the model before that of the channel', async () => {
    const { model, ids } = await serve(app, { does: 'usage=1000:0' })
    await buys(
      ids[0] ?? 0,
      { terms: tokens(100, 0) },
      { model, terms: tokens(1, 0) },
      { model, from: since2020 + 1000, terms: tokens(3, 0) },
      { model, from: Date.now() + 3_600_000, terms: tokens(7, 0) },
    )
    await say(app, chat, { token, model })
    expect((await booked(model, ids)).logs[0]?.cost).toBe(3_000_000)
  })

  test('is unknown, not nothing, where nobody has said', async () => {
    const { model, ids } = await serve(app, { does: 'usage=1000:100' })
    await say(app, chat, { token, model })
    const { logs, channels } = await booked(model, ids)
    expect(logs[0]?.cost).toBeNull()
    expect(channels).toMatchObject([{ used: 0, cost: 0, costed: 0, count: 1 }])
  })
})

describe('an attempt that failed after it had reported usage', () => {
  const retrying = { 'global.auto_retry_enabled': 'true' }

  test('costs what it used on its own channel, and the call costs both', async () => {
    const { model, ids } = await serve(
      app,
      { priority: 10, does: 'blank,usage=1000:10' },
      { priority: 0, does: 'usage=500:20' },
    )
    for (const id of ids) await buys(id, { terms: tokens(1, 1) })
    await withOptions(app, retrying, async () => {
      expect((await say(app, chat, { token, model })).status).toBe(200)
    })
    const { logs, channels } = await booked(model, ids)
    expect(logs.map(({ cost }) => cost)).toEqual([1_530_000])
    expect(logs[0]?.other.admin_info).toMatchObject({ attempts: [{ cost: 1_010_000 }, {}], cost: 520_000 })
    expect(channels).toMatchObject([
      { used: 1_010_000, cost: 1_010_000, count: 0, quota: 0 },
      { used: 520_000, cost: 520_000, count: 1 },
    ])
  })

  test('is counted once although nothing is charged, when no other channel answers', async () => {
    const { model, ids } = await serve(
      app,
      { priority: 10, does: 'blank,usage=1000:10' },
      { priority: 0, does: 'status=500' },
    )
    for (const id of ids) await buys(id, { terms: tokens(1, 1) })
    await withOptions(app, { ...retrying, 'global.auto_retry_force_channel_switch': 'true' }, async () => {
      expect((await say(app, chat, { token, model })).status).toBe(500)
    })
    await expect
      .poll(async () => (await booked(model, ids)).channels)
      .toMatchObject([
        { used: 1_010_000, cost: 1_010_000, count: 0 },
        { used: 0, cost: 0 },
      ])
    expect((await booked(model, ids)).logs).toEqual([])
  })
})

test('neither callers nor ordinary users see what a call cost', async () => {
  const { model, ids } = await serve(app, { does: 'usage=1000:100' })
  await buys(ids[0] ?? 0, { terms: { kind: 'share', share: 0.123 } })
  const reply = await say(app, chat, { token, model })
  const reported = [await reply.text(), JSON.stringify([...reply.headers])]
  const own = await app.trpc(user).user.logs.list.query({ modelName: model })
  reported.push(JSON.stringify(own), (await app.rest(user, 'GET', `/api/log/self/?p=1&page_size=10`)).text)
  reported.push(JSON.stringify(await app.trpc(user).user.logs.get.query({ requestId: own.items[0]?.requestId ?? '' })))
  expect(own.items).toHaveLength(1)
  for (const text of reported) expect(text).not.toMatch(/cost|\b0\.123|admin_info/)
  const admin = await app.make.user({ role: 10 })
  const seen = await app.trpc(admin).admin.logs.list.query({ modelName: model })
  expect(seen.items[0]?.cost).toBeGreaterThan(0)
})
