import { afterAll, describe, expect, test } from 'vitest'
import { chargeReceipt } from '#core/pricing/charge.ts'
import { receipt } from '#core/pricing/receipt.ts'
import { startApp } from '#test/support/app.ts'
import { chat, closeWithoutViolations, say } from './caller-dialects.ts'
import { serve, setOptions } from './serve.ts'

const app = await startApp()
const other = await startApp({ on: app })
const root = await app.make.user({ role: 100 })
const user = await app.make.user({ quota: 900_000_000 })
const token = await app.make.token(user, { remainQuota: 900_000_000 })
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await app.pool.query('insert into logs select * from kept_logs')
  await closeWithoutViolations(app)
})

const prices = () => app.trpc(root).admin.prices
const setPrice = (model: string, modelRatio: number) =>
  app.trpc(root).admin.models.setPrices.mutate({ prices: [{ model, modelRatio, completionRatio: 1 }] })
type Change = Parameters<ReturnType<typeof prices>['schedule']['mutate']>[0]['change']
/** Scheduled so far ahead that no machine is too slow for it: a test moves the instant when it is ready. */
const schedule = async (change: Change, aheadMs = 3_600_000) => {
  const { rows } = await app.pool.query('select extract(epoch from clock_timestamp()) * 1000 as ms')
  const effectiveAt = new Date(Number(rows[0].ms) + aheadMs)
  return { ...(await prices().schedule.mutate({ change, effectiveAt })), effectiveAt }
}
const moveInstant = async (id: number, ahead = '0 ms'): Promise<Date> => {
  const { rows } = await app.pool.query(
    `update price_changes set effective_at = date_trunc('milliseconds', clock_timestamp()) + $2::interval
       where id = $1 returning extract(epoch from effective_at) * 1000 as ms`,
    [id, ahead],
  )
  return new Date(Number(rows[0].ms))
}
const reloadBoth = () => Promise.all([app, other].map(({ services }) => services.options.reload()))
const until = async (done: () => boolean | Promise<boolean>) => {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 1))
}
/** The log without what is in it so far; `closeWithoutViolations` wants all of it again. */
const setLogsAside = async () => {
  await app.pool.query('create table if not exists kept_logs (like logs)')
  await app.pool.query('insert into kept_logs select * from logs')
  await app.pool.query('truncate logs')
}
const rowsOf = async (model: string) =>
  (await app.logs()).filter(({ model_name: name, type }) => name === model && type === 2)

describe('a scheduled price change', () => {
  test('comes into force on every node at its instant by the database’s clock, and is stored once', async () => {
    const { model } = await serve(app, {})
    await setPrice(model, 1)
    const { id } = await schedule({ prices: [{ model, modelRatio: 5, completionRatio: 2 }] })
    expect([app, other].map(({ services }) => services.options.get('ModelRatio')[model])).toEqual([1, 1])
    const effectiveAt = await moveInstant(id, '700 ms')
    const seen = Promise.all(
      [app, other].map(async ({ services }) => {
        await until(() => services.options.get('ModelRatio')[model] === 5)
        return services.ambient.now().getTime() - effectiveAt.getTime()
      }),
    )
    await reloadBoth()
    // Never before; how soon after is for the event loop to say.
    for (const late of await seen) expect(late).toBeGreaterThanOrEqual(0)
    await until(async () =>
      (await prices().changes.query()).some((change) => change.id === id && change.status === 'applied'),
    )
    const { rows } = await app.pool.query("select value::jsonb ->> $1 as ratio from options where key = 'ModelRatio'", [
      model,
    ])
    expect(rows).toEqual([{ ratio: '5' }])
    const acts = await app.pool.query(
      "select action from audit_entries where target_type = 'price_change' and target_id = $1 order by id",
      [String(id)],
    )
    expect(acts.rows.map(({ action }) => action)).toEqual(['prices.schedule', 'prices.apply'])
    await expect(prices().cancel.mutate({ id })).rejects.toThrow('该调价已经生效或已取消')
  })

  test('leaves a call that was admitted before under its own price, whole', async () => {
    const { model } = await serve(app, { does: 'usage=1000:1000,gate=changed' })
    await setPrice(model, 1)
    const admitted = say(app, chat, { token, model })
    await until(() => app.upstream.open > 0)
    const { id } = await schedule({
      prices: [{ model, modelRatio: 7, completionRatio: 3 }],
      groupRatios: { default: 1 },
    })
    await moveInstant(id)
    await reloadBoth()
    await until(() => [app, other].every(({ services }) => services.options.get('ModelRatio')[model] === 7))
    app.upstream.openGate('changed')
    expect((await admitted).status).toBe(200)
    expect((await say(other, chat, { token, model })).status).toBe(200)
    // 2000 × 1, then (1000 + 1000 × 3) × 7
    expect((await rowsOf(model)).map(({ quota }) => quota)).toEqual([2000, 28_000])
  })

  test('does not happen once it is cancelled, and not in the past', async () => {
    const { model } = await serve(app, {})
    await setPrice(model, 1)
    const change = { prices: [{ model, modelRatio: 9 }] }
    // Both nodes wait for the instant, so that it has to come; far enough ahead for a slow machine to cancel before.
    const { id, effectiveAt } = await schedule(change, 15_000)
    await prices().cancel.mutate({ id })
    await until(() => app.services.ambient.now().getTime() > effectiveAt.getTime() + 50)
    expect([app, other].map(({ services }) => services.options.get('ModelRatio')[model])).toEqual([1, 1])
    await expect(prices().schedule.mutate({ change, effectiveAt: new Date(0) })).rejects.toThrow('生效时间必须在未来')
    expect((await app.trpc(root).admin.prices.changes.query()).find((row) => row.id === id)?.status).toBe('cancelled')
  })

  test('is kept where a price was set by hand at the same time, and does not overtake what is set after it', async () => {
    const { model } = await serve(app, {})
    const { model: untouched } = await serve(app, {})
    await setPrice(model, 1)
    const { id } = await schedule({ prices: [{ model, modelRatio: 4 }] })
    await setPrice(untouched, 8)
    await moveInstant(id)
    await setPrice(model, 6)
    await reloadBoth()
    const ratios = [app, other].map(({ services }) =>
      [model, untouched].map((name) => services.options.get('ModelRatio')[name]),
    )
    expect(ratios).toEqual([
      [6, 8],
      [6, 8],
    ])
  })
})

describe('a rehearsal', () => {
  test('says to the unit what the same traffic is charged after the change, by user and model, with its cost', async () => {
    const plain = await serve(app, { does: 'usage=1203:77:311:97' })
    const shared = await serve(app, { does: 'usage=999:41' })
    const perCall = await serve(app, { does: 'usage=10:3' })
    const dropped = await serve(app, { does: 'usage=50:5' })
    const group = 'inner'
    await setOptions(app, { GroupRatio: JSON.stringify({ default: 1, [group]: 0.7 }) })
    const models = [plain, shared, perCall, dropped].map(({ model }) => model)
    const [first = '', second = '', third = '', gone = ''] = models
    await app.trpc(root).admin.models.setPrices.mutate({
      prices: [
        { model: first, modelRatio: 0.37, completionRatio: 3, cacheRatio: 0.25, cacheWriteRatio: 1.3 },
        { model: second, modelRatio: 1.1, completionRatio: 2 },
        { model: third, modelPrice: 0.0123 },
        { model: gone, modelRatio: 1 },
      ],
    })
    const buying = (terms: object) => JSON.stringify([{ model: '', from: 0, terms }])
    await app.pool.query('update channels set buying_prices = $2 where id = $1', [
      plain.ids[0],
      buying({ kind: 'tokens', input: 0.3, output: 1, cacheRead: 0.1 }),
    ])
    await app.pool.query('update channels set buying_prices = $2 where id = $1', [
      shared.ids[0],
      buying({ kind: 'share', share: 0.5 }),
    ])
    await app.settled()
    await setLogsAside()
    const heavy = await app.make.token(await app.make.user({ quota: 900_000_000 }), { remainQuota: 900_000_000 })
    const traffic = async () => {
      for (const [payer, model, times] of [
        [token, first, 3],
        [token, third, 1],
        [heavy, first, 1],
        [heavy, second, 2],
      ] as const) {
        for (let call = 0; call < times; call += 1)
          expect((await say(app, chat, { token: payer, model })).status).toBe(200)
      }
    }
    await traffic()
    expect((await say(app, chat, { token, model: gone })).status).toBe(200)
    const change = {
      prices: [
        {
          model: first,
          modelRatio: 0.91,
          completionRatio: 5.5,
          cacheRatio: 0.1,
          cacheWriteRatio: 2,
          longContext: [
            { above: 1202, input: 1.9, output: 1.3 },
            { above: 1203, input: 7, output: 7 },
          ],
        },
        {
          model: second,
          modelRatio: 2.3,
          completionRatio: 1.7,
          longContext: [{ above: 999, input: 3, output: 3 }],
        },
        { model: third, modelRatio: 11, completionRatio: 2 },
        { model: gone, removed: true as const },
      ],
      groupRatios: { default: 1.13 },
    }
    const rehearsed = await app.trpc(root).admin.prices.rehearse.query({ change, days: 1 })
    expect(rehearsed).toMatchObject({ calls: 8, complete: true, unchanged: 0, unpriced: [{ model: gone, calls: 1 }] })

    const { id } = await schedule(change)
    await moveInstant(id)
    await reloadBoth()
    await until(() => app.services.options.get('ModelRatio')[first] === 0.91)
    await setLogsAside()
    await traffic()
    expect((await say(app, chat, { token, model: gone })).status).toBe(500)
    const { rows } = await app.pool.query(
      'select user_id, model_name, quota::int, cost::float8 from logs where type = 2 order by id',
    )
    type Charged = (typeof rows)[number]
    const sum = (of: (row: Charged) => number, where: (row: Charged) => boolean = () => true) =>
      rows.filter(where).reduce((total: number, row) => total + of(row), 0)
    expect(rehearsed.after.quota).toBe(sum(({ quota }) => quota))
    expect(rehearsed.after.cost).toBe(sum(({ cost }) => cost ?? 0))
    expect(rehearsed.after.costedQuota).toBe(
      sum(
        ({ quota }) => quota,
        ({ cost }) => cost !== null,
      ),
    )
    for (const { userId, after } of rehearsed.users)
      expect(after).toBe(
        sum(
          ({ quota }) => quota,
          (row) => row.user_id === userId,
        ),
      )
    for (const { model, after } of rehearsed.models)
      expect(after).toBe(
        sum(
          ({ quota }) => quota,
          (row) => row.model_name === model,
        ),
      )
    expect(rehearsed.users).toHaveLength(2)
    expect(rehearsed.models.map(({ model }) => model).toSorted()).toEqual([...models].toSorted())
  })
})

test('a receipt still gives its charge after prices have changed', async () => {
  const { model } = await serve(app, { does: 'usage=777:33' })
  await setPrice(model, 1.7)
  await say(app, chat, { token, model })
  await setPrice(model, 90)
  const [row] = await rowsOf(model)
  expect(chargeReceipt(receipt.parse(row?.other['receipt'])).quota).toBe(row?.quota)
})

test('a model that its vendor takes out of service is reported by the Sunset header of its answers', async () => {
  const { ids } = await serve(app, {})
  const channel = await app.make.channel({
    models: 'claude-2.1,asks-for-old,gpt-6-luna',
    modelMapping: '{"asks-for-old":"claude-2.1"}',
  })
  expect(ids).toHaveLength(1)
  await app.services.channels.reload(channel.id)
  const sunset = async (model: string) => (await say(app, chat, { token, model })).headers.get('sunset')
  expect(await sunset('claude-2.1')).toBe('Mon, 21 Jul 2025 00:00:00 GMT')
  expect(await sunset('asks-for-old')).toBe('Mon, 21 Jul 2025 00:00:00 GMT')
  expect(await sunset('gpt-6-luna')).toBeNull()
})
