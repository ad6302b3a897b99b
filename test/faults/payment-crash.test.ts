import { Client } from 'pg'
import { expect, test } from 'vitest'
import { createSecrets } from '#features/secrets/service.ts'
import { createEpayGateway } from '../support/epay-gateway.ts'
import { startStripeGateway } from '../support/stripe-gateway.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { type Product, secretKey, startProduct, until, untilSomebodyWaits } from '../support/processes.ts'
import type { TestUser } from '../support/factories.ts'
import { alterDatabase } from './alter-database.ts'
import { createWorld, long, type World } from './world.ts'
import { holdLock } from '#test/support/held-lock.ts'

const gateway = createEpayGateway({ pid: '1000', key: 'the key of the merchant' })

/** A product that takes payments by the gateway, and a user without credit. */
async function startShop(world: World) {
  await world.make.option('PayAddress', 'https://pay.example')
  await world.make.option('EpayId', '1000')
  await world.make.option('EpayKey', createSecrets(secretKey).encrypt('the key of the merchant'))
  const user = await world.make.user({ quota: 0 })
  return { user, product: await startProduct({ environment: { ...world.environment, WORKERS: '1' } }) }
}

const post = async (product: Product, user: TestUser, { path, body }: { path: string; body: object }) => {
  const headers = { 'content-type': 'application/json', authorization: user.accessToken, 'x-user-id': String(user.id) }
  const reply = await fetch(`${product.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return reply.json() as Promise<unknown>
}

/** Kills the product while it is in the middle of an act, which waits for the row of a user. */
async function killWhile(
  world: World,
  { product, user, act }: { product: Product; user: TestUser; act: () => Promise<unknown> },
) {
  const { pool } = world
  await using unlock = await holdLock(pool, 'select 1 from users where id = $1 for update', [user.id])
  const answer = act().catch(() => 'no answer')
  await untilSomebodyWaits(world.pool)
  await product.killAll()
  expect(await answer).toBe('no answer')
  await unlock()
  const open = "select 1 from pg_stat_activity where datname = current_database() and state like '%transaction%'"
  await until(async () => (await pool.query(open)).rowCount === 0, {
    what: 'the transaction of the dead product does not end',
  })
}

/** It has marked the order as paid, and what follows of it waits. */
const killWhilePaid = (
  world: World,
  paid: { product: Product; user: TestUser; notification: Record<string, string> },
) => killWhile(world, { ...paid, act: () => gateway.notify(paid.product.url, paid.notification) })

/** The gateway asks again until it is answered, more often than it needs to. */
async function askAgain(product: Product, notification: Record<string, string>) {
  const again = await Promise.all(Array.from({ length: 5 }, () => gateway.notify(product.url, notification)))
  expect(again).toEqual(Array.from({ length: 5 }, () => 'success'))
}

test('a product killed between the payment and its credit has done neither or both, and is asked again', async () => {
  await using world = await createWorld()
  const { pool } = world
  let { user, product } = await startShop(world)
  try {
    const order = await post(product, user, { path: '/api/user/pay', body: { amount: 10, payment_method: 'zfb' } })
    const notification = gateway.notification((order as { data: Record<string, string> }).data)
    await killWhilePaid(world, { product, user, notification })
    const orders = () => pool.query('select status, paid_at from top_up_orders where user_id = $1', [user.id])
    expect((await orders()).rows).toEqual([{ status: 'pending', paid_at: null }])
    expect((await pool.query("select 1 from grants where kind = 'top_up'")).rowCount).toBe(0)
    expect(await ledgerViolations(pool)).toEqual([])

    product = await startProduct({ environment: { ...world.environment, WORKERS: '1' } })
    await askAgain(product, notification)
    expect((await orders()).rows).toMatchObject([{ status: 'paid' }])
    const { rows } = await pool.query('select quota from users where id = $1', [user.id])
    expect(rows).toEqual([{ quota: '5000000' }])
    expect(await ledgerViolations(pool)).toEqual([])

    // Killed right after its answer, it has done both.
    await product.killAll()
    expect((await pool.query("select amount from grants where kind = 'top_up'")).rows).toEqual([{ amount: '5000000' }])
  } finally {
    await product.killAll()
  }
})

test('a product killed between the payment of a plan and its activation has done neither or both, and is asked again', async () => {
  await using world = await createWorld()
  const { pool } = world
  const { rows: plans } = await pool.query(
    `insert into plans (name, price, term, windows) values ('Team', 5000000, 'month',
       '[{"period":"rolling","seconds":18000,"zone":"UTC","amount":1000}]') returning id`,
  )
  let { user, product } = await startShop(world)
  try {
    const body = { json: { id: plans[0].id, method: 'zfb' } }
    const order = await post(product, user, { path: '/trpc/user.plans.pay', body })
    const { result } = order as { result: { data: { json: { fields: Record<string, string> } } } }
    const notification = gateway.notification(result.data.json.fields)
    await killWhilePaid(world, { product, user, notification })
    const state = async () =>
      (
        await pool.query(
          `select (select string_agg(status, ',') from top_up_orders) as orders, (select count(*)::int from subscriptions) as plans,
             (select count(*)::int from spend_caps) as windows, (select quota::int from users where id = $1) as balance`,
          [user.id],
        )
      ).rows[0]
    expect(await state()).toEqual({ orders: 'pending', plans: 0, windows: 0, balance: 0 })

    product = await startProduct({ environment: { ...world.environment, WORKERS: '1' } })
    await askAgain(product, notification)
    await product.killAll()
    expect(await state()).toEqual({ orders: 'paid', plans: 1, windows: 1, balance: 0 })
    expect(await ledgerViolations(pool)).toEqual([])
  } finally {
    await product.killAll()
  }
})

test('a product killed before a rebate, in a reversal, in that of a refund that grew and in what a won dispute gives back has done each completely or not at all', async () => {
  await using world = await createWorld()
  await using stripe = await startStripeGateway({
    secretKey: 'sk_test_4eC39HqLyjWD',
    webhookSecret: 'whsec_5WbX5kEWLlfzsGNj',
  })
  const { pool } = world
  const secrets = createSecrets(secretKey)
  await world.make.option('stripe.secret_key', secrets.encrypt('sk_test_4eC39HqLyjWD'))
  await world.make.option('stripe.webhook_secret', secrets.encrypt('whsec_5WbX5kEWLlfzsGNj'))
  await world.make.option('RebateEnabled', 'true')
  await world.make.option('RebatePercentage', '10')
  const [inviter, root] = [await world.make.user({ quota: 0 }), await world.make.user({ quota: 0, role: 100 })]
  let { user, product } = await startShop(world)
  await pool.query('update users set inviter_id = $1 where id = $2', [inviter.id, user.id])
  const balances = async () => {
    const { rows } = await pool.query('select id, quota::int from users where id = any ($1)', [[user.id, inviter.id]])
    expect(await ledgerViolations(pool)).toEqual([])
    return [user, inviter].map(({ id }) => rows.find((row) => row.id === id)?.quota)
  }
  const restart = async () => {
    product = await startProduct({ environment: world.environment })
  }
  try {
    const order = await post(product, user, { path: '/api/user/pay', body: { amount: 10, payment_method: 'zfb' } })
    const notification = gateway.notification((order as { data: Record<string, string> }).data)
    await killWhile(world, { product, user: inviter, act: () => gateway.notify(product.url, notification) })
    expect(await balances()).toEqual([5_000_000, 0])
    await restart()
    await askAgain(product, notification)
    await post(product, root, { path: '/trpc/admin.jobs.run', body: { json: { name: 'payments' } } })
    await until(async () => (await balances())[1] === 500_000, { what: 'the rebate is not booked' })

    const { rows } = await pool.query(
      `update top_up_orders set gateway = 'stripe', merchant = 'test', currency = 'USD', payment_id = 'pi_1', status = 'disputed'
       returning id, trade_no as "tradeNo"`,
    )
    const reverse = () =>
      post(product, root, {
        path: '/trpc/admin.orders.reverse',
        body: { json: { id: rows[0].id, reason: 'disputed' } },
      })
    if (long) {
      await killWhile(world, { product, user: inviter, act: reverse })
      expect(await balances()).toEqual([5_000_000, 500_000])
      await restart()
    }
    await Promise.all(Array.from({ length: 5 }, reverse))
    expect(await balances()).toEqual([0, 0])

    const session = {
      id: 'cs_1',
      tradeNo: rows[0].tradeNo,
      amount: 7300,
      currency: 'usd',
      paymentIntent: 'pi_1',
      form: {},
    }
    const won = () => stripe.send(product.url, stripe.disputeEvent('closed', session, { status: 'won' }))
    await killWhile(world, { product, user: inviter, act: won })
    expect(await balances()).toEqual([0, 0])
    await restart()
    expect(await Promise.all(Array.from({ length: 5 }, won))).toEqual([200, 200, 200, 200, 200])
    expect(await balances()).toEqual([5_000_000, 500_000])

    const refund = (money: number) => stripe.send(product.url, stripe.refundEvent(session, money))
    await refund(3650)
    await reverse()
    expect(await balances()).toEqual([2_500_000, 250_000])
    await refund(7300)
    await killWhile(world, { product, user: inviter, act: reverse })
    expect(await balances()).toEqual([2_500_000, 250_000])
    if (long) {
      await restart()
      await Promise.all(Array.from({ length: 5 }, reverse))
      expect(await balances()).toEqual([0, 0])
    }
  } finally {
    await product.killAll()
  }
})

test('payments that are notified while the database is away are not taken, and each is credited once when they come again', async () => {
  await using world = await createWorld()
  const { user, product } = await startShop(world)
  const { database } = world.connection
  const beside = new Client({ ...world.connection, database: 'postgres' })
  await beside.connect()
  try {
    const order = await post(product, user, { path: '/api/user/pay', body: { amount: 10, payment_method: 'zfb' } })
    const notification = gateway.notification((order as { data: Record<string, string> }).data)
    await alterDatabase(beside, { database, setting: 'allow_connections false' })
    const away = await Promise.all(Array.from({ length: 5 }, () => gateway.notify(product.url, notification)))
    expect(away).not.toContain('success')
    await beside.query(`alter database ${database} allow_connections true`)
    await until(async () => (await gateway.notify(product.url, notification)) === 'success', {
      what: 'the payment is not taken when the database is back',
    })
    await askAgain(product, notification)
    expect((await world.pool.query("select amount from grants where kind = 'top_up'")).rows).toEqual([
      { amount: '5000000' },
    ])
    expect(await ledgerViolations(world.pool)).toEqual([])
  } finally {
    await beside.query(`alter database ${database} allow_connections true`)
    await beside.end()
    await product.killAll()
  }
})
