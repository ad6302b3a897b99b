import { afterAll, describe, expect, it } from 'vitest'
import { sendPlanNotices } from '#features/plans/notices.ts'
import { chat, say } from '#test/relay/caller-dialects.ts'
import type { TestUser } from '#test/support/factories.ts'
import { storeOptions } from '#test/support/store-options.ts'
import { openShop } from './shop.ts'

const shop = await openShop()
const { app, stripe, gateway, admin, payer, terms, sessionOf, takeBack, dispute, ledgerHolds } = shop
await storeOptions(app, { ModelPrice: '{"fixed":0.0002}', GroupRatio: '{"default":1}' })
await app.make.channel({ models: 'fixed', baseUrl: app.upstream.withDirectives('delay=10') })
await app.services.channels.reload()
afterAll(shop.close)

const perCall = 100
const day = 86_400_000
type Input = Partial<Parameters<ReturnType<typeof app.trpc>['admin']['plans']['create']['mutate']>[0]>
const sell = (input: Input = {}) => app.trpc(admin).admin.plans.create.mutate({ ...terms, ...input })

describe('a plan that costs more than a gateway takes in one payment', () => {
  const big = 4000 * 500_000
  const offersTo = async (user: TestUser) => {
    const offers = await app.trpc(user).user.plans.list.query()
    return (id: number) => offers.find((offer) => offer.id === id)?.payments.map(({ method }) => method)
  }

  it('is offered by the other methods and from the balance, and keeps no other plan from being bought', async () => {
    await storeOptions(app, { 'stripe.currency': 'vnd', 'stripe.price': '26000' })
    const [small, dear] = [await sell(), await sell({ price: big })]
    const user = await app.make.user({ quota: big })
    const methodsOf = await offersTo(user)
    expect([methodsOf(small.id), methodsOf(dear.id)]).toEqual([
      ['zfb', 'wx', 'stripe'],
      ['zfb', 'wx'],
    ])
    const pages = stripe.requests.length
    await expect(app.trpc(user).user.plans.pay.mutate({ id: dear.id, method: 'stripe' })).rejects.toThrow(
      '充值数量过大',
    )
    await expect(app.trpc(user).user.orders.pay.mutate({ amount: 4000, method: 'stripe' })).rejects.toThrow(
      '充值数量过大',
    )
    expect(stripe.requests).toHaveLength(pages)
    expect((await app.trpc(user).user.orders.list.query({})).total).toBe(0)
    await app.trpc(user).user.plans.pay.mutate({ id: dear.id, method: 'zfb' })
    expect(await app.trpc(user).user.plans.buy.mutate({ id: dear.id })).toMatchObject({ status: 'active', price: big })
    await ledgerHolds()
  })

  it('is paid in rupiah up to twelve digits, as its own price and converted, and so is credit', async () => {
    await storeOptions(app, { 'stripe.currency': 'idr', 'stripe.price': '16300' })
    const plan = await sell({ price: big })
    const own = await sell({ moneyPrices: { IDR: '1500000.00' } })
    const user = await payer()
    const paid = async (started: { tradeNo: string }) => {
      const { session } = await sessionOf(started)
      await stripe.send(app.url, stripe.checkoutEvent('completed', session))
      return session.amount
    }
    const pay = async (id: number) => paid(await app.trpc(user).user.plans.pay.mutate({ id, method: 'stripe' }))
    expect([await pay(plan.id), await pay(own.id)]).toEqual([6_520_000_000, 150_000_000])
    expect(await app.trpc(user).user.subscriptions.list.query()).toMatchObject([
      { planId: own.id },
      { planId: plan.id },
    ])
    expect(await paid(await app.trpc(user).user.orders.pay.mutate({ amount: 70, method: 'stripe' }))).toBe(114_100_000)
    expect(await app.balanceOf(user.id)).toBe(35_000_000)
    await storeOptions(app, { 'stripe.currency': 'usd', 'stripe.price': '1.1' })
    await ledgerHolds()
  })
})

it('is marked in the list of administrators where no enabled payment method takes its price', async () => {
  const inMoney = (moneyPrices: Input['moneyPrices'] = {}) => sell({ price: 0, moneyPrices })
  const plans = [await sell(), await inMoney(), await inMoney({ EUR: '9.00' }), await inMoney({ CNY: '39.00' })]
  const listed = await app.trpc(admin).admin.plans.list.query()
  expect(plans.map(({ id }) => listed.find((plan) => plan.id === id)?.isPayable)).toEqual([true, true, false, true])
})

it('is activated when it is paid, also in a zone that the database does not know any more', async () => {
  const plan = await sell()
  await app.pool.query(
    `update plans set windows = '[{"period":"day","seconds":0,"zone":"Asia/Gone","amount":5}]' where id = $1`,
    [plan.id],
  )
  const user = await app.make.user({ quota: plan.price })
  const { session } = await sessionOf(await app.trpc(user).user.plans.pay.mutate({ id: plan.id, method: 'stripe' }))
  await stripe.send(app.url, stripe.checkoutEvent('completed', session))
  await app.trpc(user).user.plans.buy.mutate({ id: plan.id })
  const windows = [{ period: 'day', zone: 'Asia/Gone', left: 5 }]
  expect(await app.trpc(user).user.subscriptions.list.query()).toMatchObject([{ windows }, { windows }])
  await ledgerHolds()
})

describe('the same plan bought ahead', () => {
  const owned = async (user: TestUser) => (await app.trpc(user).user.subscriptions.list.query()).toReversed()
  const find = async (user: TestUser, id: number) => {
    const one = (await owned(user)).find((each) => each.id === id)
    if (!one) throw new Error(`subscription ${id} is gone`)
    return one
  }
  const lasts = ({ startsAt, endsAt }: { startsAt: Date; endsAt: Date }) => Number(endsAt) - Number(startsAt)
  const elapse = (user: TestUser, days: number) =>
    app.pool.query(
      `update subscriptions set starts_at = starts_at - $2::interval, ends_at = ends_at - $2::interval,
         ended_at = ended_at - $2::interval where user_id = $1`,
      [user.id, `${days} days`],
    )
  const end = (id: number, refund = 0) =>
    app.trpc(admin).admin.subscriptions.end.mutate({ id, refund, reason: 'as a courtesy' })
  const cancel = (user: TestUser, id: number) => app.trpc(user).user.subscriptions.cancel.mutate({ id })

  /** Three times ten days of one plan, each paid at Stripe, with another plan and another buyer beside it. */
  async function boughtAhead() {
    const windows = [{ period: 'rolling' as const, seconds: 18_000, amount: perCall }]
    const plan = await sell({ termCount: 10, balancePays: false, windows })
    const user = await payer()
    const orders: Awaited<ReturnType<typeof sessionOf>>[] = []
    for (let time = 0; time < 3; time += 1) {
      const order = await sessionOf(await app.trpc(user).user.plans.pay.mutate({ id: plan.id, method: 'stripe' }))
      await stripe.send(app.url, stripe.checkoutEvent('completed', order.session))
      orders.push(order)
    }
    const ids = (await owned(user)).map(({ id }) => id)
    const [first, second, third] = ids as [number, number, number]
    return { plan, user, orders, first, second, third }
  }
  type World = Awaited<ReturnType<typeof boughtAhead>>

  const ways: [string, (world: World) => Promise<unknown>][] = [
    ['cancelled by its owner', ({ user, first }) => cancel(user, first)],
    ['ended with its price back', ({ first }) => end(first, perCall)],
    [
      'taken back after a dispute',
      async ({ orders: [order] }) => {
        if (!order) throw new Error('nothing was ordered')
        await dispute(order.session, 'open')
        await takeBack(order.id)
      },
    ],
  ]
  it.each(ways)(
    'begins when the one before it is %s, lasts as long as was paid for, and so do those after it',
    async (_, act) => {
      const world = await boughtAhead()
      const { user, first, second, third } = world
      const token = await app.make.token(user)
      const call = () =>
        say(app, chat, { token, body: chat.body('fixed', 'hello', false) }).then(({ status }) => status)
      expect([await call(), await call()]).toEqual([200, 429])
      await elapse(user, 3)
      await act(world)
      const [ended, next, last] = [await find(user, first), await find(user, second), await find(user, third)]
      expect(next).toMatchObject({ status: 'active', isWaiting: false, startsAt: ended.endedAt })
      expect(last).toMatchObject({ status: 'active', isWaiting: true, startsAt: next.endsAt })
      expect([lasts(next), lasts(last)]).toEqual([10 * day, 10 * day])
      expect([await call(), await call()]).toEqual([200, 429])
      expect((await find(user, second)).usedQuota).toBe(perCall)
      // And the next one begins behind them.
      const started = await app.trpc(user).user.plans.pay.mutate({ id: world.plan.id, method: 'zfb' })
      if (started.kind === 'form') await gateway.notify(app.url, gateway.notification(started.fields))
      expect((await owned(user)).at(-1)).toMatchObject({ startsAt: last.endsAt })
      await ledgerHolds()
    },
  )

  it('closes up where one that waits is cancelled, and leaves other plans and other buyers as they are', async () => {
    const { plan, user, first, second, third } = await boughtAhead()
    const other = await app.make.user({ quota: 1_000_000 })
    const beside = await sell({ price: 0 })
    for (const [buyer, id] of [
      [user, beside.id],
      [user, beside.id],
      [other, plan.id],
      [other, plan.id],
    ] as const)
      await app.trpc(buyer).user.plans.buy.mutate({ id })
    const rest = async () => [
      ...(await owned(user)).filter(({ planId }) => planId === beside.id),
      ...(await owned(other)),
    ]
    const before = [await find(user, first), await rest()]
    await cancel(user, second)
    const running = await find(user, first)
    expect([running, await rest()]).toEqual(before)
    expect(await find(user, third)).toMatchObject({ isWaiting: true, startsAt: running.endsAt })
    expect(lasts(await find(user, third))).toBe(10 * day)
  })

  it('moves once for each that ends, however many end them at once', async () => {
    const { user, first, second, third } = await boughtAhead()
    await elapse(user, 3)
    const acts = Array.from({ length: 5 }, () => [end(first), cancel(user, second), end(second), cancel(user, first)])
    const outcomes = await Promise.allSettled(acts.flat())
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    const last = await find(user, third)
    expect(last).toMatchObject({ status: 'active', isWaiting: false })
    expect(lasts(last)).toBe(10 * day)
    expect(Date.now() - Number(last.startsAt)).toBeLessThan(day)
    await ledgerHolds()
  })

  it('runs on before one that is given back: that has the time it had left behind it, at once where nothing runs', async () => {
    const { user, orders, first, second, third } = await boughtAhead()
    const [one, two] = orders as [(typeof orders)[number], (typeof orders)[number]]
    await elapse(user, 3)
    for (const { session, id } of [two, one]) {
      await dispute(session, 'open')
      await takeBack(id)
    }
    const [ended, running] = [await find(user, first), await find(user, third)]
    expect(running).toMatchObject({ isWaiting: false, startsAt: ended.endedAt })
    await dispute(one.session, 'won')
    const back = await find(user, first)
    expect(back).toMatchObject({ status: 'active', isWaiting: true, startsAt: running.endsAt })
    expect(lasts(back)).toBeCloseTo(Number(ended.endsAt) - Number(ended.endedAt), -1)
    await cancel(user, third)
    expect(await find(user, first)).toMatchObject({ isWaiting: false, startsAt: (await find(user, third)).endedAt })
    // Taken back while it waited, it waits for nothing any more.
    await cancel(user, first)
    await dispute(two.session, 'won')
    const alone = await find(user, second)
    expect(alone).toMatchObject({ status: 'active', isWaiting: false })
    expect(lasts(alone)).toBe(10 * day)
    await ledgerHolds()
  })

  it('notifies its user that it runs now, as of a later day before, and that its own time ends', async () => {
    const { user, first, second, third } = await boughtAhead()
    const { signal } = new AbortController()
    const sent = async () => {
      await sendPlanNotices(app.services, signal)
      const { rows } = await app.pool.query(
        'select subscription_id, kind from plan_notices where subscription_id = any ($1) and sent_at is not null order by id',
        [[first, second, third]],
      )
      return rows.map(({ subscription_id: id, kind }) => `${[first, second, third].indexOf(id) + 1} ${kind}`)
    }
    const bought = ['1 bought', '2 renewed', '3 renewed']
    expect(await sent()).toEqual(bought)
    await end(first, 1)
    const ended = [...bought, '1 refunded', '2 bought']
    expect(await sent()).toEqual(ended)
    await cancel(user, third)
    await elapse(user, 9)
    expect(await sent()).toEqual([...ended, '2 ending'])
  })
})
