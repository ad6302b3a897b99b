import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { OptionKey } from '#core/options/registry/index.ts'
import { expireOrders } from '#features/orders/service.ts'
import { startApp } from '#test/support/app.ts'
import type { TestUser } from '#test/support/factories.ts'
import { storeOptions } from '#test/support/store-options.ts'
import { startStripeGateway, type StripeSession } from '#test/support/stripe-gateway.ts'

const secretKey = 'sk_test_4eC39HqLyjWDarjtT1zdp7dc'
const webhookSecret = 'whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH'

async function setOptions(texts: Partial<Record<OptionKey, string>> = {}): Promise<void> {
  await app.pool.query('delete from options')
  await storeOptions(app, {
    ServerAddress: 'https://gw.example',
    'stripe.secret_key': secretKey,
    'stripe.webhook_secret': webhookSecret,
    'stripe.api_address': stripe.url,
    'stripe.price': '1.1',
    ...texts,
  })
}

const app = await startApp()
const stripe = await startStripeGateway({ secretKey, webhookSecret })
const admin = await app.make.user({ role: 10, quota: 0 })
afterAll(async () => {
  await stripe[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})
beforeEach(() => setOptions())

const payer = () => app.make.user({ quota: 0 })
const order = async (user: TestUser, amount = 10) => {
  const started = await app.trpc(user).user.orders.pay.mutate({ amount, method: 'stripe' })
  const session = stripe.sessions().find(({ tradeNo }) => tradeNo === started.tradeNo) as StripeSession
  const { rows } = await app.pool.query('select id from top_up_orders where trade_no = $1', [started.tradeNo])
  return { started, session, id: rows[0].id as number }
}
const send = (body: string, header?: string) => stripe.send(app.url, body, header)
const seen = (id: number) => app.trpc(admin).admin.orders.get.query({ id })
const reverse = (id: number) => app.trpc(admin).admin.orders.reverse.mutate({ id, reason: 'money went back' })
const ledgerHolds = async () => expect(await app.violations()).toEqual([])

describe('an order', () => {
  it('is paid on a page of the provider, asked for once and for the exact amount', async () => {
    const user = await payer()
    const before = stripe.requests.length
    const { started, session, id } = await order(user)
    expect(started).toEqual({ kind: 'redirect', url: `${stripe.url}/pay/${session.id}`, tradeNo: session.tradeNo })
    const [request, ...more] = stripe.requests.slice(before)
    expect(more).toEqual([])
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${secretKey}`,
      'idempotency-key': session.tradeNo,
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(request?.form).toMatchObject({
      mode: 'payment',
      client_reference_id: session.tradeNo,
      'payment_intent_data[metadata][trade_no]': session.tradeNo,
      'line_items[0][price_data][unit_amount]': '1100',
      'line_items[0][price_data][currency]': 'usd',
      success_url: `https://gw.example/app/wallet/topup-success?order=${session.tradeNo}`,
    })
    expect(await seen(id)).toMatchObject({
      status: 'pending',
      money: '11.00',
      currency: 'USD',
      quota: 5_000_000,
      checkoutId: session.id,
      merchant: 'test',
    })
  })

  it('costs whole units in a currency that has no smaller ones', async () => {
    await setOptions({ 'stripe.currency': 'jpy', 'stripe.price': '155.5' })
    const { session } = await order(await payer(), 3)
    expect(session).toMatchObject({ amount: 467, currency: 'jpy' })
  })

  it('asks again under the same key when the connection broke, and makes no second page', async () => {
    stripe.failNext('hang up')
    const before = stripe.requests.length
    const { session } = await order(await payer())
    const keys = stripe.requests.slice(before).map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual([session.tradeNo, session.tradeNo])
  })

  it('whose page cannot be made has failed, and says nothing of the key', async () => {
    const user = await payer()
    stripe.failNext(402)
    const refusal = await app
      .trpc(user)
      .user.orders.pay.mutate({ amount: 10, method: 'stripe' })
      .catch((error: Error) => error)
    expect(refusal).toMatchObject({ message: '拉起支付失败，请稍后重试' })
    expect(JSON.stringify(refusal)).not.toContain('sk_test')
    expect((await app.trpc(user).user.orders.list.query({})).items).toMatchObject([{ status: 'failed' }])
  })

  it.each<Partial<Record<OptionKey, string>>>([
    { 'stripe.secret_key': '' },
    { 'stripe.webhook_secret': '' },
    { 'stripe.secret_key': 'sk_test_...' },
    { 'stripe.webhook_secret': 'whsec_...' },
  ])('is refused under %j, and so is every event', async (gap) => {
    const { session } = await order(await payer())
    await setOptions(gap)
    await expect(app.trpc(await payer()).user.orders.pay.mutate({ amount: 10, method: 'stripe' })).rejects.toThrow(
      '管理员未开启在线充值！',
    )
    const body = stripe.checkoutEvent('completed', session)
    expect(await send(body)).toBe(400)
    expect(await send(body, stripe.signature(body, { secret: '' }))).toBe(400)
  })
})

describe('an event', () => {
  it('of a payment credits once, fifty times at once and again a day later', async () => {
    const user = await payer()
    const { session, id } = await order(user)
    const body = stripe.checkoutEvent('completed', session)
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(body)))
    expect(new Set(answers)).toEqual(new Set([200]))
    expect(await send(stripe.checkoutEvent('async_payment_succeeded', session))).toBe(200)
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    const shown = await seen(id)
    expect(shown).toMatchObject({ status: 'paid', paymentId: session.paymentIntent })
    expect(shown.events.map(({ kind }) => kind)).toEqual(['paid'])
    await ledgerHolds()
  })

  it.each<[string, (body: string) => string]>([
    ['without a signature', () => ''],
    ['signed by another', (body) => stripe.signature(body, { secret: 'whsec_another0000000' })],
    ['signed for another body', (body) => stripe.signature(`${body} `)],
    ['signed ten minutes ago', (body) => stripe.signature(body, { at: Math.floor(Date.now() / 1000) - 600 })],
    ['signed ten minutes ahead', (body) => stripe.signature(body, { at: Math.floor(Date.now() / 1000) + 600 })],
    ['whose time was moved', (body) => stripe.signature(body).replace(/t=(\d+)/, (_, at) => `t=${Number(at) - 1}`)],
    ['signed in an older form alone', (body) => stripe.signature(body).replace('v1=', 'v0=')],
  ])('%s is refused and changes nothing', async (_what, header) => {
    const user = await payer()
    const { session, id } = await order(user)
    const body = stripe.checkoutEvent('completed', session)
    expect(await send(body, header(body))).toBe(400)
    expect(await app.balanceOf(user.id)).toBe(0)
    expect((await seen(id)).events).toEqual([])
  })

  it('counts under any of several secrets and signatures while they are exchanged', async () => {
    await setOptions({ 'stripe.webhook_secret': `whsec_older00000000001 ${webhookSecret}` })
    const user = await payer()
    const [first, second] = [await order(user, 1), await order(user, 2)]
    const [one, two] = [first, second].map(({ session }) => stripe.checkoutEvent('completed', session)) as [
      string,
      string,
    ]
    expect(await send(one, stripe.signature(one, { secret: 'whsec_older00000000001' }))).toBe(200)
    const right = stripe.signature(two)
    expect(await send(two, right.replace('v1=', `v1=${'0'.repeat(64)},v1=`))).toBe(200)
    expect(await app.balanceOf(user.id)).toBe(1_500_000)
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['a smaller amount', { amount_total: 1 }, 'money'],
    ['a larger amount', { amount_total: 110_000 }, 'money'],
    ['another currency', { currency: 'jpy' }, 'currency'],
    ['another page', { id: 'cs_test_another' }, 'checkout'],
    ['no amount', { amount_total: null, currency: null }, 'currency'],
  ])('of %s is refused although its signature is valid, and written down', async (_what, object, what) => {
    const user = await payer()
    const { session, id } = await order(user)
    expect(await send(stripe.checkoutEvent('completed', session, { object }))).toBe(400)
    expect(await app.balanceOf(user.id)).toBe(0)
    expect((await seen(id)).events).toMatchObject([{ kind: 'refused', detail: { what } }])
    expect(await send(stripe.checkoutEvent('completed', session))).toBe(200)
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
  })

  it('of another gateway’s order, of the other mode, or of no order of ours credits nothing', async () => {
    const user = await payer()
    const { session, id } = await order(user)
    expect(await send(stripe.checkoutEvent('completed', session, { livemode: true }))).toBe(400)
    expect(await send(stripe.checkoutEvent('completed', { ...session, tradeNo: 'USR1NOnobody' }))).toBe(200)
    expect(await send(stripe.checkoutEvent('completed', session, { object: { client_reference_id: null } }))).toBe(200)
    const setup = { payment_status: 'no_payment_required', amount_total: null, currency: null }
    const elsewhere = { ...session, tradeNo: 'of another product' }
    expect(await send(stripe.checkoutEvent('completed', elsewhere, { object: setup }))).toBe(200)
    await app.pool.query("update top_up_orders set gateway = 'epay' where id = $1", [id])
    expect(await send(stripe.checkoutEvent('completed', session))).toBe(400)
    expect(await app.balanceOf(user.id)).toBe(0)
  })

  it('of a payment under way keeps its order open for days, and credits only when it has arrived', async () => {
    const user = await payer()
    const { session, id } = await order(user)
    const daysLater = async (days: number): Promise<string> => {
      const sql = 'update top_up_orders set created_at = now() - make_interval(days => $2) where id = $1'
      await app.pool.query(sql, [id, days])
      await expireOrders(app.services)
      return (await seen(id)).status
    }
    const slow = stripe.checkoutEvent('completed', session, { object: { payment_status: 'unpaid' } })
    // Given up the moment before.
    expect(await daysLater(2)).toBe('expired')
    for (let count = 0; count < 2; count += 1) expect(await send(slow)).toBe(200)
    expect([await daysLater(20), await daysLater(31)]).toEqual(['processing', 'expired'])
    expect(await send(slow)).toBe(200)
    expect((await seen(id)).events.map(({ kind }) => kind)).toEqual('expired processing expired processing'.split(' '))
    expect(await app.balanceOf(user.id)).toBe(0)
    expect(await send(stripe.checkoutEvent('async_payment_failed', session))).toBe(200)
    expect(await seen(id)).toMatchObject({ status: 'failed' })
    expect(await send(stripe.checkoutEvent('async_payment_succeeded', session))).toBe(200)
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    expect(await send(stripe.checkoutEvent('expired', session))).toBe(200)
    expect(await seen(id)).toMatchObject({ status: 'paid' })
    await ledgerHolds()
  })

  it('that means nothing here is taken, and one that cannot be read is not', async () => {
    expect(await send(stripe.otherEvent('customer.created'))).toBe(200)
    expect(await send(stripe.otherEvent('checkout.session.completed'))).toBe(400)
    expect(await send('no json')).toBe(400)
  })

  it('while the database fails is answered so that it comes again', async () => {
    const user = await payer()
    const { session } = await order(user)
    const body = stripe.checkoutEvent('completed', session)
    await app.pool.query(`alter table grants add constraint "down" check (kind <> 'top_up') not valid`)
    expect(await send(body)).toBe(503)
    await app.pool.query('alter table grants drop constraint "down"')
    expect(await send(body)).toBe(200)
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    await ledgerHolds()
  })
})

describe('money that goes back', () => {
  it('is recorded, and leaves the credit to the administrator', async () => {
    const user = await payer()
    const { session, id } = await order(user)
    await send(stripe.checkoutEvent('completed', session))
    expect(await send(stripe.refundEvent(session, 300))).toBe(200)
    expect(await seen(id)).toMatchObject({ status: 'paid', refunded: '3.00' })
    expect(await send(stripe.refundEvent(session, 1100))).toBe(200)
    // An older notice that comes late.
    expect(await send(stripe.refundEvent(session, 300))).toBe(200)
    const shown = await seen(id)
    expect(shown).toMatchObject({ status: 'refunded', refunded: '11.00' })
    expect(shown.events.map(({ kind }) => kind)).toEqual(['paid', 'refunded', 'refunded'])
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    await app.trpc(admin).admin.orders.reverse.mutate({ id, reason: 'refunded' })
    expect(await app.balanceOf(user.id)).toBe(0)
    await ledgerHolds()
  })

  it('before the payment is reported credits nothing', async () => {
    const user = await payer()
    const { session, id } = await order(user)
    expect(await send(stripe.refundEvent(session, 1100))).toBe(200)
    expect(await send(stripe.checkoutEvent('completed', session))).toBe(200)
    expect(await seen(id)).toMatchObject({ status: 'refunded', paidAt: null })
    expect(await app.balanceOf(user.id)).toBe(0)
  })

  it('by a dispute is recorded, and a dispute that is won leaves the order paid', async () => {
    const user = await payer()
    const { session, id } = await order(user)
    await send(stripe.checkoutEvent('completed', session))
    expect(await send(stripe.disputeEvent('created', session, { status: 'needs_response' }))).toBe(200)
    expect(await seen(id)).toMatchObject({ status: 'disputed' })
    expect(await send(stripe.disputeEvent('closed', session, { status: 'won' }))).toBe(200)
    expect(await send(stripe.disputeEvent('created', session, { status: 'needs_response' }))).toBe(200)
    const shown = await seen(id)
    expect(shown).toMatchObject({ status: 'paid' })
    expect(shown.events.map(({ kind }) => kind)).toEqual(['paid', 'disputed', 'dispute_won'])
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    await ledgerHolds()
  })

  it('of a payment in the other mode concerns nobody here', async () => {
    const user = await payer()
    const { session, id } = await order(user)
    await send(stripe.checkoutEvent('completed', session))
    expect(await send(stripe.refundEvent(session, 1100, { livemode: true }))).toBe(400)
    expect(await seen(id)).toMatchObject({ status: 'paid', refunded: null })
  })
})

describe('a plan', () => {
  const sellPlan = (input: { stock?: number; perUser?: number } = {}) =>
    app.trpc(admin).admin.plans.create.mutate({
      name: 'Team',
      price: 5_000_000,
      moneyPrices: { USD: '9.90' },
      term: 'month',
      windows: [{ period: 'day', amount: 1000 }],
      ...input,
    })
  const orderPlan = async (user: TestUser, id: number) => {
    const started = await app.trpc(user).user.plans.pay.mutate({ id, method: 'stripe' })
    const session = stripe.sessions().find(({ tradeNo }) => tradeNo === started.tradeNo) as StripeSession
    const { rows } = await app.pool.query('select id, created_at from top_up_orders where trade_no = $1', [
      started.tradeNo,
    ])
    return { session, id: rows[0].id as number, createdAt: new Date(rows[0].created_at) }
  }
  const owned = (user: TestUser) => app.trpc(user).user.subscriptions.list.query()

  it('is paid on a page of the provider for its own amount, and granted once by fifty signed events', async () => {
    const user = await payer()
    const { session, createdAt } = await orderPlan(user, (await sellPlan()).id)
    expect([session.amount, session.currency]).toEqual([990, 'usd'])
    expect(session.form).toMatchObject({
      'line_items[0][price_data][product_data][name]': expect.stringContaining('Team'),
      expires_at: String(Math.floor(createdAt.getTime() / 1000) + 31 * 60),
    })
    const body = stripe.checkoutEvent('completed', session)
    expect(await send(body, stripe.signature(body, { secret: 'whsec_of_somebody_else' }))).toBe(400)
    expect(await send(stripe.checkoutEvent('completed', { ...session, amount: 1 }))).toBe(400)
    expect(await owned(user)).toEqual([])
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(body)))
    expect(new Set(answers)).toEqual(new Set([200]))
    expect(await owned(user)).toMatchObject([
      { name: 'Team', status: 'active', source: 'order', price: Math.floor((990 * 500_000) / 110) },
    ])
    expect(await app.balanceOf(user.id)).toBe(0)
    await ledgerHolds()
  })

  it('whose page has expired leaves its place to others; paid in time it is had, also when the stock is gone by then', async () => {
    const plan = await sellPlan({ stock: 1 })
    const [first, second] = [await payer(), await payer()]
    const { session } = await orderPlan(first, plan.id)
    await expect(orderPlan(second, plan.id)).rejects.toThrow('套餐已售罄')
    expect(await send(stripe.checkoutEvent('expired', session))).toBe(200)
    const taken = await orderPlan(second, plan.id)
    expect(await send(stripe.checkoutEvent('completed', taken.session))).toBe(200)
    expect(await owned(second)).toMatchObject([{ status: 'active' }])
    // Money that comes all the same is credited, at what it is worth.
    expect(await send(stripe.checkoutEvent('completed', session))).toBe(200)
    expect([await owned(first), await app.balanceOf(first.id)]).toEqual([[], Math.floor((990 * 500_000) / 110)])
    await ledgerHolds()
  })

  it('whose stock is taken is on sale again once one has ended, and counts what one user ever bought', async () => {
    const plan = await sellPlan({ stock: 1, perUser: 1 })
    const rich = () => app.make.user({ quota: 5_000_000 })
    const [first, second] = [await rich(), await rich()]
    await app.pool.query('update plans set money_prices = $1 where id = $2', ['{}', plan.id])
    const buy = (user: TestUser) => app.trpc(user).user.plans.buy.mutate({ id: plan.id })
    const bought = await buy(first)
    await expect(buy(second)).rejects.toThrow('套餐已售罄')
    await app.pool.query(
      "update subscriptions set starts_at = now() - interval '2 months', ends_at = now() - interval '1 month' where id = $1",
      [bought.id],
    )
    await expect(buy(first)).rejects.toThrow('每人最多购买 1 次')
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => buy(second)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const [listed] = (await app.trpc(admin).admin.plans.list.query()).filter(({ id }) => id === plan.id)
    expect(listed).toMatchObject({ sold: 2, running: 1, stock: 1 })
  })

  it('ends when its money went back and an administrator says so, once for fifty; a part that grows ends it once', async () => {
    const user = await payer()
    const { session, id } = await orderPlan(user, (await sellPlan()).id)
    await send(stripe.checkoutEvent('completed', session))
    await expect(reverse(id)).rejects.toThrow('只有已退款或被拒付')
    await send(stripe.refundEvent(session, 300))
    expect(await owned(user)).toMatchObject([{ status: 'active' }])
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => reverse(id)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await owned(user)).toMatchObject([{ status: 'refunded' }])
    await send(stripe.refundEvent(session, 990))
    await reverse(id)
    await expect(reverse(id)).rejects.toThrow('只有已退款或被拒付')
    expect(await app.balanceOf(user.id)).toBe(0)
    await ledgerHolds()
  })

  it('that is disputed goes on until it is taken back, and stays when the dispute is won', async () => {
    const user = await payer()
    const { session, id } = await orderPlan(user, (await sellPlan()).id)
    await send(stripe.checkoutEvent('completed', session))
    await send(stripe.disputeEvent('created', session, { status: 'needs_response' }))
    expect([await seen(id), await owned(user)]).toMatchObject([{ status: 'disputed' }, [{ status: 'active' }]])
    await send(stripe.disputeEvent('closed', session, { status: 'won' }))
    await expect(reverse(id)).rejects.toThrow('只有已退款或被拒付')
    const other = await orderPlan(user, (await sellPlan()).id)
    await send(stripe.checkoutEvent('completed', other.session))
    await send(stripe.disputeEvent('created', other.session, { status: 'needs_response' }))
    await send(stripe.disputeEvent('closed', other.session, { status: 'lost' }))
    await reverse(other.id)
    expect((await owned(user)).map(({ status }) => status).toSorted()).toEqual(['active', 'refunded'])
    await ledgerHolds()
  })
})
