import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { chargeReceipt } from '#core/pricing/charge.ts'
import { expireSubscriptions } from '#features/plans/service.ts'
import { chat, say } from '#test/relay/caller-dialects.ts'
import { type App, startApp } from '#test/support/app.ts'
import { createEpayGateway, type EpayFields } from '#test/support/epay-gateway.ts'
import type { TestToken, TestUser } from '#test/support/factories.ts'
import { long } from '#test/support/long.ts'
import { ledgerViolations } from '#test/support/ledger-invariant.ts'
import { storeOptions } from '#test/support/store-options.ts'
import { withinAnHour } from '#test/support/within-an-hour.ts'

// Two nodes on one database.
const gateway = createEpayGateway({ pid: '1000', key: 'the key of the merchant' })
const perCall = 100

const app = await startApp()
const other = await startApp({ on: app })
await storeOptions(app, {
  PayAddress: 'https://pay.example',
  EpayId: '1000',
  EpayKey: 'the key of the merchant',
  ModelRatio: '{"gpt-4o":1}',
  ModelPrice: '{"fixed":0.0002}',
  GroupRatio: '{"default":1}',
  PreConsumedQuota: '100',
})
await other.services.options.reload()
const admin = await app.make.user({ role: 10, quota: 0 })
await app.make.channel({ models: 'gpt-4o', baseUrl: app.upstream.withDirectives('usage=9:20') })
await app.make.channel({ models: 'fixed', baseUrl: app.upstream.withDirectives('delay=10') })
await app.services.channels.reload()
await other.services.channels.reload()
const useLeases = (leases: string) =>
  [app, other].forEach(({ services }) => Object.assign(services.environment, { LEDGER_LEASES: leases }))
beforeEach(() => {
  useLeases(process.env['LEDGER_LEASES'] ?? 'on')
  app.upstream.clear()
})
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

const terms = {
  name: 'Team',
  price: 5_000_000,
  term: 'month' as const,
  windows: [
    { period: 'rolling' as const, seconds: 18_000, amount: 20 * perCall },
    { period: 'week' as const, zone: 'Asia/Shanghai', amount: 500 * perCall },
  ],
}
type Terms = Partial<Parameters<ReturnType<App['trpc']>['admin']['plans']['create']['mutate']>[0]>
const sell = (input: Terms = {}) => app.trpc(admin).admin.plans.create.mutate({ ...terms, ...input })
const nodeAt = (index: number): App => (index % 2 === 0 ? app : other)
const fulfilled = <Value>(outcomes: PromiseSettledResult<Value>[]): Value[] =>
  outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
const refusals = (outcomes: PromiseSettledResult<unknown>[]): string[] => [
  ...new Set(outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason.message)] : []))),
]
const owned = (user: TestUser) => app.trpc(user).user.subscriptions.list.query()
const ledgerHolds = async () => expect(await app.violations()).toEqual([])

describe('a plan that is bought from the balance', () => {
  it('is bought once for fifty requests with one key, over two nodes, and debits its price once', async () => {
    const plan = await sell()
    const user = await app.make.user({ quota: 12_000_000 })
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        fetch(`${nodeAt(index).url}/trpc/user.plans.buy`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: user.accessToken,
            'x-user-id': String(user.id),
            'idempotency-key': 'purchase-1',
          },
          body: JSON.stringify({ json: { id: plan.id } }),
        }).then(async (reply) => JSON.stringify(await reply.json())),
      ),
    )
    expect(new Set(replies).size).toBe(1)
    expect(await owned(user)).toMatchObject([{ name: 'Team', status: 'active', source: 'balance', price: 5_000_000 }])
    expect(await app.balanceOf(user.id)).toBe(7_000_000)
    await ledgerHolds()
  })

  it('is sold no oftener than there are, nor to one user oftener than allowed, nor to who cannot pay', async () => {
    const scarce = await sell({ stock: 3, price: 100 })
    const buyers = await Promise.all(Array.from({ length: 10 }, () => app.make.user({ quota: 1000 })))
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        nodeAt(index)
          .trpc(buyers[index % 10] as TestUser)
          .user.plans.buy.mutate({ id: scarce.id }),
      ),
    )
    expect([fulfilled(outcomes).length, refusals(outcomes)]).toEqual([3, ['套餐已售罄']])

    const once = await sell({ perUser: 1, price: 100 })
    const [first] = buyers as [TestUser]
    const again = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => nodeAt(index).trpc(first).user.plans.buy.mutate({ id: once.id })),
    )
    expect([fulfilled(again).length, refusals(again)]).toEqual([1, ['该套餐每人最多购买 1 次']])

    const dear = await sell({ price: 400 })
    const poor = await app.make.user({ quota: 1000 })
    const bought = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => nodeAt(index).trpc(poor).user.plans.buy.mutate({ id: dear.id })),
    )
    expect([fulfilled(bought).length, refusals(bought)]).toEqual([2, ['余额不足，请先充值或选择在线支付']])
    expect(await app.balanceOf(poor.id)).toBe(200)
    await ledgerHolds()
  })

  it('begins when the same plan ends that the user has already, and cannot be bought once it is taken off sale', async () => {
    const plan = await sell({ price: 0, term: 'day', termCount: 3 })
    const user = await app.make.user({ quota: 0 })
    for (let time = 0; time < 2; time += 1) await app.trpc(user).user.plans.buy.mutate({ id: plan.id })
    const [second, first] = await owned(user)
    expect(first?.isWaiting).toBe(false)
    expect(second).toMatchObject({ isWaiting: true, startsAt: first?.endsAt })
    expect(Number(second?.endsAt) - Number(second?.startsAt)).toBe(3 * 86_400_000)
    await app.trpc(admin).admin.plans.update.mutate({ ...terms, id: plan.id, onSale: false })
    await expect(app.trpc(user).user.plans.buy.mutate({ id: plan.id })).rejects.toThrow('套餐不存在或已下架')
    expect((await app.trpc(user).user.plans.list.query()).some(({ id }) => id === plan.id)).toBe(false)
  })
})

const payFor = async (user: TestUser, id: number): Promise<EpayFields> => {
  const started = await app.trpc(user).user.plans.pay.mutate({ id, method: 'zfb' })
  if (started.kind !== 'form') throw new Error('epay is paid by a form')
  return started.fields
}

describe('a plan that is paid for', () => {
  it('is activated once by fifty notifications on two nodes, with the terms of its order, and nothing is credited', async () => {
    const plan = await sell()
    const user = await app.make.user({ quota: 0 })
    const form = await payFor(user, plan.id)
    expect(form).toMatchObject({ name: 'Team', money: '73.00' })
    await app.trpc(admin).admin.plans.update.mutate({ ...terms, id: plan.id, name: 'Changed', price: 1 })
    const fields = gateway.notification(form)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => gateway.notify(nodeAt(index).url, fields)),
    )
    expect(new Set(answers)).toEqual(new Set(['success']))
    expect(await owned(user)).toMatchObject([{ name: 'Team', status: 'active', source: 'order', price: 5_000_000 }])
    expect(await app.balanceOf(user.id)).toBe(0)
    await ledgerHolds()
  })

  it('costs the money that is asked for it in the currency of the payment, and its buyer is worth that much', async () => {
    expect(await app.trpc(admin).admin.plans.currencies.query()).toEqual(['CNY'])
    const plan = await sell({ moneyPrices: { CNY: '39.00', USD: '' } })
    expect(plan.moneyPrices).toEqual({ CNY: '39.00' })
    const user = await app.make.user({ quota: 0 })
    const offers = await app.trpc(user).user.plans.list.query()
    expect(offers.find(({ id }) => id === plan.id)?.payments).toEqual([
      { method: 'zfb', money: '39.00', currency: 'CNY' },
      { method: 'wx', money: '39.00', currency: 'CNY' },
    ])
    const form = await payFor(user, plan.id)
    expect(form).toMatchObject({ money: '39.00' })
    await gateway.notify(app.url, gateway.notification(form))
    const worth = Math.floor((39 * 500_000) / 7.3)
    expect(await owned(user)).toMatchObject([{ status: 'active', source: 'order', price: worth }])
    for (const money of ['0', '-1', '39.001', 'many', '1000000'])
      await expect(sell({ moneyPrices: { CNY: money } })).rejects.toThrow('金额必须大于 0')
    await ledgerHolds()
  })

  it('is kept for those who are about to pay: of fifty at once for the last three, three come to the gateway', async () => {
    const plan = await sell({ stock: 3 })
    const buyers = await Promise.all(Array.from({ length: 50 }, () => app.make.user({ quota: 10_000_000 })))
    const outcomes = await Promise.allSettled(
      buyers.map((buyer, index) => nodeAt(index).trpc(buyer).user.plans.pay.mutate({ id: plan.id, method: 'zfb' })),
    )
    expect([fulfilled(outcomes).length, refusals(outcomes)]).toEqual([3, ['套餐已售罄']])
    const [late] = outcomes.flatMap((outcome, index) => (outcome.status === 'rejected' ? [buyers[index]] : []))
    await expect(app.trpc(late as TestUser).user.plans.buy.mutate({ id: plan.id })).rejects.toThrow('套餐已售罄')

    // One of them turns away, somebody else buys what was kept, and then the payment comes after all.
    const [turned, ...others] = fulfilled(outcomes)
    await app.pool.query("update top_up_orders set created_at = now() - interval '2 hours' where trade_no = $1", [
      turned?.tradeNo,
    ])
    await app.trpc(late as TestUser).user.plans.buy.mutate({ id: plan.id })
    for (const started of [turned, ...others])
      if (started?.kind === 'form')
        expect(await gateway.notify(app.url, gateway.notification(started.fields))).toBe('success')
    const [listed] = (await app.trpc(admin).admin.plans.list.query()).filter(({ id }) => id === plan.id)
    expect(listed?.sold).toBe(3)
    const { rows } = await app.pool.query(
      'select u.quota::int, (select count(*)::int from subscriptions s where s.user_id = u.id) as plans from users u join top_up_orders o on o.user_id = u.id where o.trade_no = $1',
      [turned?.tradeNo],
    )
    expect(rows).toEqual([{ quota: 15_000_000, plans: 0 }])
    await ledgerHolds()
  })

  it('is not activated by a notification that is forged, of another amount, or of another order', async () => {
    const plan = await sell()
    const user = await app.make.user({ quota: 0 })
    const form = await payFor(user, plan.id)
    const cheap = await payFor(user, (await sell({ price: 500_000 })).id)
    expect(await gateway.notify(app.url, { ...gateway.notification(form), sign: '0'.repeat(32) })).toBe('fail')
    expect(await gateway.notify(app.url, gateway.notification({ ...form, money: '0.01' }))).toBe('fail')
    expect(await gateway.notify(app.url, gateway.notification({ ...form, money: cheap['money'] ?? '' }))).toBe('fail')
    expect(await owned(user)).toEqual([])
  })

  it('is had once by whoever paid two orders of a plan that one may have once: the other is credited', async () => {
    const plan = await sell({ perUser: 1 })
    const user = await app.make.user({ quota: 40 })
    const forms = [await payFor(user, plan.id), await payFor(user, plan.id)]
    await Promise.all(forms.map((form) => gateway.notify(app.url, gateway.notification(form))))
    expect(await owned(user)).toHaveLength(1)
    expect(await app.balanceOf(user.id)).toBeGreaterThan(40)
    await ledgerHolds()
  })

  it('that was ended with its price back to the balance loses that again when its order is reversed', async () => {
    const plan = await sell()
    const user = await app.make.user({ quota: 40 })
    const form = await payFor(user, plan.id)
    await gateway.notify(app.url, gateway.notification(form))
    const [bought] = await owned(user)
    await app.trpc(admin).admin.subscriptions.end.mutate({ id: bought?.id ?? 0, refund: 1, reason: 'unhappy' })
    expect(await app.balanceOf(user.id)).toBe(41)
    const { rows } = await app.pool.query(
      "update top_up_orders set status = 'refunded', refunded_minor = money_minor where trade_no = $1 returning id",
      [form['out_trade_no']],
    )
    await app.trpc(admin).admin.orders.reverse.mutate({ id: rows[0].id, reason: 'disputed as well' })
    expect(await app.balanceOf(user.id)).toBe(40)
    await ledgerHolds()
  })

  it('ends when its order is reversed, for fifty administrators once, and takes no balance', async () => {
    const plan = await sell()
    const user = await app.make.user({ quota: 40 })
    const form = await payFor(user, plan.id)
    await gateway.notify(app.url, gateway.notification(form))
    const { rows } = await app.pool.query(
      "update top_up_orders set status = 'refunded', refunded_minor = money_minor where trade_no = $1 returning id",
      [form['out_trade_no']],
    )
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () =>
        app.trpc(admin).admin.orders.reverse.mutate({ id: rows[0].id, reason: 'the payer asked for it' }),
      ),
    )
    expect(fulfilled(outcomes)).toHaveLength(1)
    expect(await owned(user)).toMatchObject([{ status: 'refunded' }])
    expect(await app.balanceOf(user.id)).toBe(40)
    await ledgerHolds()
  })
})

describe('a subscription', () => {
  it('is ended by an administrator once for fifty at the same time, with what goes back, under the audit log', async () => {
    const plan = await sell({ price: 1000 })
    const user = await app.make.user({ quota: 1000 })
    const { id } = await app.trpc(user).user.plans.buy.mutate({ id: plan.id })
    await expect(
      app.trpc(admin).admin.subscriptions.end.mutate({ id, refund: 1001, reason: 'too much' }),
    ).rejects.toThrow('退回的额度不能超过套餐价格')
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        nodeAt(index).trpc(admin).admin.subscriptions.end.mutate({ id, refund: 700, reason: 'unhappy' }),
      ),
    )
    expect([fulfilled(outcomes).length, refusals(outcomes)]).toEqual([1, ['套餐已经结束']])
    expect(await app.balanceOf(user.id)).toBe(700)
    const acts = "select actor_id, reason from audit_entries where action = 'subscriptions.end' and target_id = $1"
    const { rows } = await app.pool.query(acts, [String(id)])
    expect(rows).toEqual([{ actor_id: admin.id, reason: 'unhappy' }])
    await ledgerHolds()
  })

  it('of somebody else does not exist; one’s own is cancelled without anything given back', async () => {
    const plan = await sell({ price: 1000 })
    const [user, otherUser] = [await app.make.user({ quota: 1000 }), await app.make.user()]
    const { id } = await app.trpc(user).user.plans.buy.mutate({ id: plan.id })
    await expect(app.trpc(otherUser).user.subscriptions.cancel.mutate({ id })).rejects.toThrow('没有这个套餐')
    expect(await app.trpc(user).user.subscriptions.cancel.mutate({ id })).toMatchObject({ status: 'cancelled' })
    expect(await app.balanceOf(user.id)).toBe(0)
  })
})

async function rush(user: TestUser, count: number, known?: TestToken) {
  const token = known ?? (await app.make.token(user))
  const body = chat.body('fixed', 'hello', false)
  const replies = await Promise.all(
    Array.from({ length: count }, (_, index) => say(nodeAt(index), chat, { token, body })),
  )
  const texts = await Promise.all(replies.map(async (reply) => `${reply.status} ${await reply.text()}`))
  const refused = texts.filter((text) => !text.startsWith('200 '))
  return { served: count - refused.length, refused }
}

const lastLog = async (user: TestUser) =>
  (await app.logs()).filter((row) => row.user_id === user.id && row.type === 2).at(-1)

describe('calls of a user with a plan', () => {
  it.each(['on', 'off'] as const)(
    'of two hundred at once with leases %s exactly those run that the plan pays for; the balance is untouched where the plan keeps it out, and the refusal says when it turns',
    async (leases) => {
      useLeases(leases)
      const plan = await sell({ price: 0, balancePays: false })
      const user = await app.make.user({ quota: 100_000_000 })
      const token = await app.make.token(user)
      const lessees = async () =>
        (await app.pool.query('select distinct node_id from leases where user_id = $1 and not closing', [user.id]))
          .rowCount
      // Both nodes have parts of the balance in memory when the plan begins.
      do await rush(user, 60, token)
      while ((await lessees()) !== (leases === 'on' ? 2 : 0))
      const before = await app.balanceOf(user.id)
      await app.trpc(user).user.plans.buy.mutate({ id: plan.id })
      app.upstream.clear()
      const { served, refused } = await rush(user, long ? 1000 : 200, token)
      expect([served, app.upstream.total]).toEqual([20, 20])
      for (const refusal of refused) expect(refusal).toMatch(/^429 .*Team.*insufficient_quota/)
      expect(await app.balanceOf(user.id)).toBe(before)
      const [bought] = await owned(user)
      expect([bought?.usedQuota, ...(bought?.windows ?? []).map(({ left }) => left)]).toEqual([2000, 0, 480 * perCall])
      await ledgerHolds()
    },
  )

  it('take the plan to its end and then the balance, which the receipt of each says and which recomputes to its charge', async () => {
    await withinAnHour()
    const plan = await sell({ price: 0, windows: [{ period: 'day', amount: 250 }] })
    const user = await app.make.user({ quota: 1_000_000 })
    await app.trpc(user).user.plans.buy.mutate({ id: plan.id })
    const token = await app.make.token(user, { remainQuota: 10_000 })
    const charges: { quota: number; byPlan: number }[] = []
    for (let call = 0; call < 4; call += 1) {
      // The last one is answered in a stream, whose hold grows.
      const reply = await say(nodeAt(call), chat, { token, body: chat.body('gpt-4o', 'hello', call === 3) })
      expect(reply.status).toBe(200)
      await reply.text()
      const row = await lastLog(user)
      expect(chargeReceipt(row?.other['receipt'] as never).quota).toBe(Number(row?.quota))
      charges.push({
        quota: Number(row?.quota),
        byPlan: (row?.other['plan'] as { quota: number } | undefined)?.quota ?? 0,
      })
    }
    expect(charges).toEqual([
      { quota: 89, byPlan: 89 },
      { quota: 89, byPlan: 89 },
      { quota: 89, byPlan: 72 },
      { quota: 89, byPlan: 0 },
    ])
    expect(await app.balanceOf(user.id)).toBe(1_000_000 - 4 * 89 + 250)
    await ledgerHolds()
  })

  it('are paid by it when nothing is logged, and on an empty balance', async () => {
    await storeOptions(app, { LogConsumeEnabled: 'false' })
    try {
      const plan = await sell({ price: 0 })
      const user = await app.make.user({ quota: 0 })
      await app.trpc(user).user.plans.buy.mutate({ id: plan.id })
      const token = await app.make.token(user)
      expect((await say(app, chat, { token, body: chat.body('fixed', 'hello', false) })).status).toBe(200)
      expect(await app.balanceOf(user.id)).toBe(0)
      expect((await owned(user))[0]?.usedQuota).toBe(perCall)
      expect(await ledgerViolations(app.pool, { everyCallIsLogged: false })).toEqual([])
      await app.pool.query('delete from usage_hourly where user_id = $1', [user.id])
    } finally {
      await storeOptions(app, { LogConsumeEnabled: 'true' })
    }
  })

  it('find no plan once it is over, and the next look at the subscriptions says so', async () => {
    const plan = await sell({ price: 0, balancePays: false })
    const user = await app.make.user({ quota: 0 })
    await app.trpc(user).user.plans.buy.mutate({ id: plan.id })
    await app.pool.query("update subscriptions set ends_at = now() - interval '1 second' where user_id = $1", [user.id])
    const { served, refused } = await rush(user, 1)
    expect([served, refused[0]?.slice(0, 4)]).toEqual([0, '403 '])
    expect((await owned(user))[0]?.status).toBe('expired')
    expect(await expireSubscriptions(app.services)).toBe(1)
    await expect
      .poll(async () => (await app.pool.query('select has_plan from users where id = $1', [user.id])).rows[0]?.has_plan)
      .toBe(false)
  })
})
