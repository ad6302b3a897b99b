import superjson from 'superjson'
import { afterAll, expect, it } from 'vitest'
import { signedIn } from '#test/contract/callers.ts'
import type { TestUser } from '#test/support/factories.ts'
import { openShop } from './shop.ts'

// Of one connection: whoever keeps it while a gateway is asked keeps everybody else waiting.
const shop = await openShop({ consoleConnections: 1 })
const { app, stripe, admin, payer, terms } = shop
afterAll(shop.close)

/** As the console sends it: under a key, so that it may be repeated. */
async function ask(user: TestUser, path: string, { key, ...input }: { key: string } & Record<string, unknown>) {
  const reply = await fetch(`${app.url}/trpc/${path}`, {
    method: 'POST',
    headers: { ...signedIn(app, user), 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(superjson.serialize({ method: 'stripe', ...input })),
  })
  const answer = (await reply.json()) as { result?: { data: { json: unknown } } }
  return { status: reply.status, started: answer.result?.data.json }
}
const ordersOf = async ({ id }: TestUser) =>
  (await app.pool.query('select status from top_up_orders where user_id = $1 order by id', [id])).rows.map(
    ({ status }) => status as string,
  )

it('a gateway that does not answer keeps no connection from others, nor a plan from its buyers', async () => {
  const user = await payer()
  const offer = { ...terms, moneyPrices: { USD: '1.00' }, price: 0 }
  const { id } = await app.trpc(admin).admin.plans.create.mutate(offer)
  const paying = async (path: string, input: Record<string, unknown>) => {
    const hold = stripe.holdNext()
    const answer = ask(user, path, { key: 'held', ...input })
    await hold.arrived
    expect((await ask(await payer(), 'user.plans.pay', { key: 'other', id })).status).toBe(200)
    hold.letGo()
    expect((await answer).status).toBe(200)
  }
  await paying('user.orders.pay', { amount: 10 })
  await paying('user.plans.pay', { id })
  expect(await ordersOf(user)).toEqual(['pending', 'pending'])
})

it('one order is opened for a key, with one page, and a page that failed may be asked for again', async () => {
  const user = await payer()
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => ask(user, 'user.orders.pay', { key: 'same', amount: 10 })),
  )
  expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1)
  expect(replies[0]).toMatchObject({ status: 200, started: { kind: 'redirect' } })
  expect(await ordersOf(user)).toEqual(['pending'])
  expect((await ask(user, 'user.orders.pay', { key: 'same', amount: 11 })).status).toBe(409)
  stripe.failNext(402)
  const failed = await ask(user, 'user.orders.pay', { key: 'next', amount: 10 })
  expect(failed.status).not.toBe(200)
  expect((await ask(user, 'user.orders.pay', { key: 'next', amount: 10 })).status).toBe(200)
  expect(await ordersOf(user)).toEqual(['pending', 'failed', 'pending'])
})

it('a page that another node has made under the same key at this moment is waited for, and its order does not fail', async () => {
  const user = await payer()
  stripe.failNext(409, 409)
  expect(await ask(user, 'user.orders.pay', { key: 'both', amount: 10 })).toMatchObject({
    status: 200,
    started: { kind: 'redirect', url: expect.stringContaining('/pay/') as string },
  })
  expect(await ordersOf(user)).toEqual(['pending'])
})

it.each([
  ['amount_too_small', '充值金额过低'],
  ['amount_too_large', '充值数量过大'],
  ['parameter_invalid_integer', '拉起支付失败，请稍后重试'],
])('an amount that the gateway does not take is said to be so: %s', async (code, words) => {
  const user = await payer()
  stripe.failNext({ status: 400, code })
  await expect(app.trpc(user).user.orders.pay.mutate({ amount: 10, method: 'stripe' })).rejects.toThrow(words)
  expect(await ordersOf(user)).toEqual(['failed'])
})
