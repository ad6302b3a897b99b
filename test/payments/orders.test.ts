import { afterAll, describe, expect, it } from 'vitest'
import { bookDueRebates } from '#features/rebates/service.ts'
import { openShop } from './shop.ts'

const shop = await openShop()
const { app, stripe, gateway, admin, payer, order, terms, stripeOrder, seen } = shop
const { invitedPayer, takeBack, dispute, ledgerHolds, acts } = shop
afterAll(shop.close)
await app.make.channel()
await app.services.channels.reload()

describe('completing an order by hand', () => {
  it('credits once for fifty administrators and notifications that come at once', async () => {
    const user = await payer()
    const { id, form } = await order(user)
    const fields = gateway.notification(form)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        index % 2 === 0
          ? app.trpc(admin).admin.orders.complete.mutate({ id, reason: 'seen at the bank' })
          : gateway.notify(app.url, fields),
      ),
    )
    const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    expect(answers.filter((answer) => answer === 'fail')).toEqual([])
    expect(answers.filter((answer) => typeof answer === 'object').length).toBeLessThanOrEqual(1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason.message).toBe('订单已经支付')
    }
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    expect((await app.logs()).filter((row) => row.user_id === user.id)).toHaveLength(1)
    await ledgerHolds()
  })

  it('is written into the audit log with its reason, and a late notification adds the payment number alone', async () => {
    const user = await payer()
    const { id, form } = await order(user)
    const done = await app.trpc(admin).admin.orders.complete.mutate({ id, reason: 'seen at the bank' })
    expect(done).toMatchObject({ status: 'paid', username: user.username, paymentId: null })
    const fields = gateway.notification(form)
    expect(await gateway.notify(app.url, fields)).toBe('success')
    const seen = await app.trpc(admin).admin.orders.get.query({ id })
    expect(seen).toMatchObject({ status: 'paid', paymentId: fields['trade_no'] })
    expect(seen.events).toMatchObject([
      { kind: 'completed', actorName: admin.username, detail: { reason: 'seen at the bank' } },
    ])
    expect(await acts(id)).toEqual([{ action: 'orders.complete', actor_id: admin.id, reason: 'seen at the bank' }])
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    await ledgerHolds()
  })

  it('wants a reason and an order', async () => {
    const { id } = await order(await payer())
    const { complete } = app.trpc(admin).admin.orders
    await expect(complete.mutate({ id, reason: '  ' })).rejects.toThrow('请填写原因')
    await expect(complete.mutate({ id: 2_000_000_000, reason: 'x' })).rejects.toThrow('订单不存在')
  })
})

describe('taking a credit back', () => {
  it('happens once, with the rebate, and may leave less than nothing', async () => {
    const { inviter, user } = await invitedPayer()
    const { id, form } = await order(user)
    await gateway.notify(app.url, gateway.notification(form))
    await expect.poll(() => app.balanceOf(inviter.id)).toBe(500_000)
    const token = await app.make.token(user)
    const call = () =>
      app.relay(token, '/v1/chat/completions', {
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content: '[[usage=1000:500]] Spend some of it' }],
      })
    expect((await call()).status).toBe(200)
    const reverse = () => app.trpc(admin).admin.orders.reverse.mutate({ id, reason: 'refunded at the gateway' })
    await expect(reverse()).rejects.toThrow('只有已退款或被拒付且额度尚未收回的订单可以收回额度')
    await app.pool.query("update top_up_orders set status = 'refunded', refunded_minor = money_minor where id = $1", [
      id,
    ])
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, reverse))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    // What was spent of it is owed, and nothing more is served until it is paid.
    expect([await app.balanceOf(user.id), await app.balanceOf(inviter.id)]).toEqual([-225, 0])
    const refused = await call()
    expect([refused.status, (await refused.json()).error.code]).toEqual([403, 'insufficient_user_quota'])
    expect(await app.trpc(user).user.wallet.get.query()).toMatchObject({ quota: -225, usedQuota: 225 })
    expect(await acts(id)).toMatchObject([{ action: 'orders.reverse', reason: 'refunded at the gateway' }])
    await ledgerHolds()
  })

  it('takes no more than the order credited, whatever is said of refunds and disputes, and how often', async () => {
    const user = await payer()
    const { session, id } = await stripeOrder(user)
    await stripe.send(app.url, stripe.checkoutEvent('completed', session))
    await stripe.send(app.url, stripe.refundEvent(session, 300))
    await takeBack(id)
    // As a part of a larger payment than the order's.
    const larger = { ...session, amount: 10 * session.amount }
    await stripe.send(app.url, stripe.refundEvent(larger, 5 * session.amount))
    const reverse = () => Promise.allSettled(Array.from({ length: 25 }, () => takeBack(id)))
    await reverse()
    await Promise.all([reverse(), ...Array.from({ length: 25 }, (_, index) => dispute(session, 'open', `dp_${index}`))])
    await stripe.send(app.url, stripe.refundEvent(session, 1100))
    await dispute(session, 'lost')
    await reverse()
    expect(await app.balanceOf(user.id)).toBe(0)
    expect(await seen(id)).toMatchObject({ reversibleQuota: 0 })
    await ledgerHolds()
  })

  it('takes the part that went back, and the difference when more does, once for fifty at once, and the rebate with it', async () => {
    const { inviter, user } = await invitedPayer()
    const { id, form } = await order(user)
    await gateway.notify(app.url, gateway.notification(form))
    await expect.poll(() => app.balanceOf(inviter.id)).toBe(500_000)
    const reverse = () => app.trpc(admin).admin.orders.reverse.mutate({ id, reason: 'more went back' })
    for (const refunded of [2500, 4000, 7300]) {
      await app.pool.query('update top_up_orders set refunded_minor = $2 where id = $1', [id, refunded])
      const outcomes = await Promise.allSettled(Array.from({ length: 50 }, reverse))
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const taken = Math.floor((5_000_000 * refunded) / 7300)
      expect(await app.balanceOf(user.id)).toBe(5_000_000 - taken)
      expect(await app.balanceOf(inviter.id)).toBe(500_000 - Math.floor((500_000 * taken) / 5_000_000))
      await expect(reverse()).rejects.toThrow('只有已退款或被拒付且额度尚未收回的订单可以收回额度')
    }
    expect([await app.balanceOf(user.id), await app.balanceOf(inviter.id)]).toEqual([0, 0])
    await ledgerHolds()
  })

  it('leaves the rebate that is not paid yet in proportion, whether it is booked before, after or meanwhile', async () => {
    const inviter = await payer()
    for (const moment of ['before', 'after', 'meanwhile'] as const) {
      const user = await payer()
      await app.pool.query('update users set inviter_id = $1, quota = 0 where id = $2', [inviter.id, user.id])
      const { id, form } = await order(user)
      const earlier = await app.balanceOf(inviter.id)
      await app.pool.query(`alter table grants add constraint "no_rebates" check (kind <> 'rebate') not valid`)
      await gateway.notify(app.url, gateway.notification(form))
      await app.pool.query('alter table grants drop constraint "no_rebates"')
      await app.pool.query('update top_up_orders set refunded_minor = 2500 where id = $1', [id])
      const book = () => bookDueRebates(app.services, new AbortController().signal)
      const reverse = () => app.trpc(admin).admin.orders.reverse.mutate({ id, reason: 'a part went back' })
      if (moment === 'before') await book()
      const count = moment === 'meanwhile' ? 25 : 1
      const outcomes = await Promise.allSettled(
        Array.from({ length: count }, () => [
          reverse().then(() => 'reversed'),
          ...(moment === 'after' ? [] : [book()]),
        ]).flat(),
      )
      expect(outcomes.filter((each) => each.status === 'fulfilled' && each.value === 'reversed')).toHaveLength(1)
      await book()
      const taken = Math.floor((5_000_000 * 2500) / 7300)
      expect(await app.balanceOf(inviter.id)).toBe(earlier + 500_000 - Math.floor((500_000 * taken) / 5_000_000))
      // All of it goes back in the end, and nothing of the rebate is left.
      await app.pool.query('update top_up_orders set refunded_minor = 7300 where id = $1', [id])
      await reverse()
      expect([await app.balanceOf(user.id), await app.balanceOf(inviter.id)]).toEqual([0, earlier])
    }
    await ledgerHolds()
  })
})

describe('the rule on ranks', () => {
  it('lets administrators complete and reverse orders of lower ranks only, and nobody but root their own', async () => {
    const root = await app.make.user({ role: 100, quota: 0 })
    const peer = await app.make.user({ role: 10, quota: 0 })
    const forbidden = '无权操作同权限等级或更高权限等级的用户'
    for (const owner of [admin, peer, root]) {
      const { id } = await order(owner)
      const { complete, reverse } = app.trpc(admin).admin.orders
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, () => complete.mutate({ id, reason: 'paid' })),
      )
      expect(outcomes.map((each) => (each.status === 'rejected' ? each.reason.message : 'done'))).toEqual(
        Array.from({ length: 10 }, () => forbidden),
      )
      expect(await app.balanceOf(owner.id)).toBe(0)
      await app.trpc(root).admin.orders.complete.mutate({ id, reason: 'paid' })
      expect(await app.balanceOf(owner.id)).toBe(5_000_000)
      await app.pool.query("update top_up_orders set status = 'refunded', refunded_minor = money_minor where id = $1", [
        id,
      ])
      await expect(reverse.mutate({ id, reason: 'back' })).rejects.toThrow(forbidden)
      await app.trpc(root).admin.orders.reverse.mutate({ id, reason: 'back' })
      expect(await app.balanceOf(owner.id)).toBe(0)
    }
    const { items } = await app.trpc(admin).admin.orders.list.query({ keyword: peer.username })
    expect(items).toMatchObject([{ userRole: 10 }])
    await ledgerHolds()
  })

  it('brings no two administrators and buyers of one plan into a circle of waiting', async () => {
    const plan = await app.trpc(admin).admin.plans.create.mutate(terms)
    const user = await app.make.user({ quota: 10_000_000 })
    const orders = []
    for (let count = 0; count < 10; count += 1) {
      const started = await app.trpc(user).user.plans.pay.mutate({ id: plan.id, method: 'zfb' })
      const { rows } = await app.pool.query('select id from top_up_orders where trade_no = $1', [started.tradeNo])
      orders.push({ id: rows[0].id as number, fields: started.kind === 'form' ? started.fields : {} })
    }
    const outcomes = await Promise.allSettled(
      orders.flatMap(({ id, fields }) => [
        app.trpc(admin).admin.orders.complete.mutate({ id, reason: 'paid' }),
        app.trpc(user).user.plans.buy.mutate({ id: plan.id }),
        gateway.notify(app.url, gateway.notification(fields)),
      ]),
    )
    const refusals = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : []))
    expect(refusals.filter((message) => message !== '订单已经支付')).toEqual([])
    expect(await app.trpc(user).user.subscriptions.list.query()).toHaveLength(20)
    await ledgerHolds()
  })
})

describe('a plan that was changed after it was offered', () => {
  it('is neither bought from the balance nor ordered at what it costs now, until its buyer has seen that', async () => {
    const plan = await app.trpc(admin).admin.plans.create.mutate(terms)
    const user = await app.make.user({ quota: 20_000_000 })
    const shop = app.trpc(user).user.plans
    const markOf = async () => (await shop.list.query()).find(({ id }) => id === plan.id)?.mark
    const seen = await markOf()
    const update = (change: object) =>
      app.trpc(admin).admin.plans.update.mutate({ ...terms, ...change, id: plan.id, expected: {} })
    // What no buyer gets or pays is no change of the offer.
    await update({ position: 5 })
    expect(await markOf()).toBe(seen)
    await update({ price: terms.price * 2 })
    const changed = '套餐的价格或内容刚刚有变化，请核对后再购买'
    await expect(shop.buy.mutate({ id: plan.id, offered: seen })).rejects.toThrow(changed)
    await expect(shop.pay.mutate({ id: plan.id, offered: seen, method: 'zfb' })).rejects.toThrow(changed)
    expect(await app.balanceOf(user.id)).toBe(20_000_000)
    await shop.buy.mutate({ id: plan.id, offered: await markOf() })
    expect(await app.balanceOf(user.id)).toBe(20_000_000 - terms.price * 2)
    await ledgerHolds()
  })
})

describe('looking at orders', () => {
  it('shows everybody their own, and nobody else’s', async () => {
    const [user, otherUser] = [await payer(), await payer()]
    const { form } = await order(user)
    const tradeNo = form['out_trade_no'] ?? ''
    const own = await app.trpc(user).user.orders.list.query({})
    expect(own).toMatchObject({ total: 1, items: [{ tradeNo, money: '73.00', currency: 'CNY', status: 'pending' }] })
    expect(Object.keys(own.items[0] ?? {})).not.toContain('merchant')
    expect(await app.trpc(user).user.orders.get.query({ tradeNo })).toMatchObject({ status: 'pending' })
    await expect(app.trpc(otherUser).user.orders.get.query({ tradeNo })).rejects.toMatchObject({
      data: { httpStatus: 404 },
    })
    expect((await app.trpc(otherUser).user.orders.list.query({})).total).toBe(0)
    await expect(app.trpc(user).user.orders.get.query({ tradeNo: "' or 1=1" })).rejects.toThrow()
  })

  it('finds them by number, name and state', async () => {
    const user = await payer()
    const first = await order(user, 1)
    const second = await order(user, 2)
    await gateway.notify(app.url, gateway.notification(first.form))
    const { list } = app.trpc(admin).admin.orders
    const ids = async (input: Parameters<typeof list.query>[0]) =>
      (await list.query(input)).items.map((item) => item.id)
    expect(await ids({ keyword: user.username })).toEqual([second.id, first.id])
    expect(await ids({ keyword: user.username, status: 'paid' })).toEqual([first.id])
    expect(await ids({ keyword: first.form['out_trade_no'] ?? '' })).toEqual([first.id])
    expect(await ids({ keyword: gateway.notification(first.form)['trade_no'] ?? '' })).toEqual([first.id])
    expect(await ids({ keyword: user.username, gateway: 'stripe' })).toEqual([])
    expect(await ids({ keyword: user.username, end: new Date(0) })).toEqual([])
    expect(await ids({ keyword: `${'%'.repeat(50)}` })).toEqual([])
    const inviter = await payer()
    await app.pool.query('update users set inviter_id = $1 where id = $2', [inviter.id, user.id])
    expect(await ids({ invitedBy: inviter.username })).toEqual([second.id, first.id])
    expect(await ids({ invitedBy: inviter.username, status: 'paid' })).toEqual([first.id])
    expect(await ids({ invitedBy: user.username })).toEqual([])
    expect((await list.query({ keyword: user.username })).items[0]?.invitedBy).toBe(inviter.username)
  })

  it('finds those of however many users a name fits, and of however many one has invited', async () => {
    const inviter = await payer()
    await app.pool.query(
      `with many as (
         insert into users (username, inviter_id) select 'invitee' || n, $1 from generate_series(1, 10500) n returning id
       ) insert into top_up_orders (user_id, quota, currency, money_minor, gateway, trade_no)
         select id, 1, 'USD', 1, 'epay', 'OF' || id from many`,
      [inviter.id],
    )
    const { list } = app.trpc(admin).admin.orders
    expect((await list.query({ keyword: 'invitee' })).total).toBe(10_500)
    expect((await list.query({ invitedBy: inviter.username })).total).toBe(10_500)
  })

  it('is no proof of a payment: the page the gateway leads back to credits nothing', async () => {
    const user = await payer()
    const { form } = await order(user)
    const query = new URLSearchParams({ ...gateway.notification(form), name: '<script>alert(1)</script>' })
    const page = await fetch(`${app.url}/app/wallet/topup-success?${query}`)
    expect(await page.text()).not.toContain('<script>alert(1)')
    expect(await app.balanceOf(user.id)).toBe(0)
  })
})
