import { afterAll, describe, expect, it } from 'vitest'
import type { TestUser } from '#test/support/factories.ts'
import { storeOptions } from '#test/support/store-options.ts'
import { openShop } from './shop.ts'

const shop = await openShop()
const { app, stripe, admin, payer, terms, sessionOf, ledgerHolds } = shop
afterAll(shop.close)

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
