import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '#test/support/app.ts'
import { createEpayGateway, type EpayFields } from '#test/support/epay-gateway.ts'
import type { TestUser } from '#test/support/factories.ts'
import { storeOptions } from '#test/support/store-options.ts'

let app: App
let admin: TestUser
const gateway = createEpayGateway({ pid: '1000', key: 'the key of the merchant' })

beforeAll(async () => {
  app = await startApp()
  await storeOptions(app, {
    PayAddress: 'https://pay.example',
    EpayId: '1000',
    EpayKey: 'the key of the merchant',
    RebateEnabled: 'true',
    RebatePercentage: '10',
  })
  admin = await app.make.user({ role: 10, quota: 0 })
})
afterAll(() => app[Symbol.asyncDispose]())

const payer = () => app.make.user({ quota: 0 })
const order = async (user: TestUser, amount = 10): Promise<{ id: number; form: EpayFields }> => {
  const started = await app.trpc(user).user.orders.pay.mutate({ amount, method: 'zfb' })
  const { rows } = await app.pool.query('select id from top_up_orders where trade_no = $1', [started.tradeNo])
  return { id: rows[0].id, form: started.kind === 'form' ? started.fields : {} }
}
const balance = async (user: TestUser) =>
  Number((await app.pool.query('select quota from users where id = $1', [user.id])).rows[0].quota)
const ledgerHolds = async () => expect(await app.violations()).toEqual([])
const acts = async (id: number) =>
  (
    await app.pool.query(
      "select action, actor_id, reason from audit_entries where target_type = 'order' and target_id = $1 order by id",
      [String(id)],
    )
  ).rows

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
    expect(await balance(user)).toBe(5_000_000)
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
    expect(await balance(user)).toBe(5_000_000)
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
    const [inviter, user] = [await payer(), await payer()]
    await app.pool.query('update users set inviter_id = $1 where id = $2', [inviter.id, user.id])
    const { id, form } = await order(user)
    await gateway.notify(app.url, gateway.notification(form))
    await expect.poll(() => balance(inviter)).toBe(500_000)
    const reverse = () => app.trpc(admin).admin.orders.reverse.mutate({ id, reason: 'refunded at the gateway' })
    await expect(reverse()).rejects.toThrow('只有已退款或被拒付且额度尚未收回的订单可以收回额度')
    await app.pool.query("update top_up_orders set status = 'refunded', refunded_minor = money_minor where id = $1", [
      id,
    ])
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, reverse))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect([await balance(user), await balance(inviter)]).toEqual([0, 0])
    expect(await acts(id)).toMatchObject([{ action: 'orders.reverse', reason: 'refunded at the gateway' }])
    await ledgerHolds()
  })

  it('takes the part that went back of an order that was refunded in part', async () => {
    const user = await payer()
    const { id, form } = await order(user)
    await gateway.notify(app.url, gateway.notification(form))
    await app.pool.query('update top_up_orders set refunded_minor = 2500 where id = $1', [id])
    await app.trpc(admin).admin.orders.reverse.mutate({ id, reason: 'a part went back' })
    expect(await balance(user)).toBe(5_000_000 - Math.floor((5_000_000 * 2500) / 7300))
    await ledgerHolds()
  })

  it('takes the difference once more, for fifty at once, when more of it goes back later, and the rebate with it', async () => {
    const [inviter, user] = [await payer(), await payer()]
    await app.pool.query('update users set inviter_id = $1 where id = $2', [inviter.id, user.id])
    const { id, form } = await order(user)
    await gateway.notify(app.url, gateway.notification(form))
    await expect.poll(() => balance(inviter)).toBe(500_000)
    const reverse = () => app.trpc(admin).admin.orders.reverse.mutate({ id, reason: 'more went back' })
    for (const refunded of [2500, 4000, 7300]) {
      await app.pool.query('update top_up_orders set refunded_minor = $2 where id = $1', [id, refunded])
      const outcomes = await Promise.allSettled(Array.from({ length: 50 }, reverse))
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const taken = Math.floor((5_000_000 * refunded) / 7300)
      expect(await balance(user)).toBe(5_000_000 - taken)
      expect(await balance(inviter)).toBe(500_000 - Math.floor((500_000 * taken) / 5_000_000))
      await expect(reverse()).rejects.toThrow('只有已退款或被拒付且额度尚未收回的订单可以收回额度')
    }
    expect([await balance(user), await balance(inviter)]).toEqual([0, 0])
    await ledgerHolds()
  })
})

describe('looking at orders', () => {
  it('shows everybody their own, and nobody else’s', async () => {
    const [user, stranger] = [await payer(), await payer()]
    const { form } = await order(user)
    const tradeNo = form['out_trade_no'] ?? ''
    const own = await app.trpc(user).user.orders.list.query({})
    expect(own).toMatchObject({ total: 1, items: [{ tradeNo, money: '73.00', currency: 'CNY', status: 'pending' }] })
    expect(Object.keys(own.items[0] ?? {})).not.toContain('merchant')
    expect(await app.trpc(user).user.orders.get.query({ tradeNo })).toMatchObject({ status: 'pending' })
    await expect(app.trpc(stranger).user.orders.get.query({ tradeNo })).rejects.toMatchObject({
      data: { httpStatus: 404 },
    })
    expect((await app.trpc(stranger).user.orders.list.query({})).total).toBe(0)
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

  it('is no proof of a payment: the page the gateway leads back to credits nothing', async () => {
    const user = await payer()
    const { form } = await order(user)
    const query = new URLSearchParams({ ...gateway.notification(form), name: '<script>alert(1)</script>' })
    const page = await fetch(`${app.url}/app/wallet/topup-success?${query}`)
    expect(await page.text()).not.toContain('<script>alert(1)')
    expect(await balance(user)).toBe(0)
  })
})
