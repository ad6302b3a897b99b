import { afterAll, describe, expect, it } from 'vitest'
import { openShop } from './shop.ts'

const { app, stripe, payer, stripeOrder, seen, ledgerHolds, close } = await openShop()
afterAll(close)

const send = (body: string) => stripe.send(app.url, body)
const paid = async () => {
  const user = await payer()
  const { session, id } = await stripeOrder(user)
  expect(await send(stripe.checkoutEvent('completed', session))).toBe(200)
  return { user, session, id }
}
const kindsOf = async (id: number) => (await seen(id)).events.map(({ kind }) => kind)

describe('an event that comes without its object', () => {
  it('credits what the provider shows of it to our key, once beside the same event with its object', async () => {
    const user = await payer()
    const { session, id } = await stripeOrder(user)
    const complete = stripe.checkoutEvent('completed', session)
    const thin = stripe.thinEvent(complete)
    const before = stripe.requests.length
    expect(await send(thin)).toBe(200)
    expect(stripe.requests.slice(before)).toMatchObject([
      {
        url: `/v1/checkout/sessions/${session.id}`,
        headers: { authorization: 'Bearer sk_test_4eC39HqLyjWDarjtT1zdp7dc', 'stripe-version': '2024-06-20' },
      },
    ])
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => send(index % 2 ? complete : thin)))
    expect(new Set(answers)).toEqual(new Set([200]))
    expect(await send(stripe.thinEvent(stripe.checkoutEvent('async_payment_succeeded', session)))).toBe(200)
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    expect(await seen(id)).toMatchObject({ status: 'paid', paymentId: session.paymentIntent })
    expect(await kindsOf(id)).toEqual(['paid'])
    await ledgerHolds()
  })

  it('of a payment under way credits when it has arrived, whichever of its events comes first', async () => {
    const user = await payer()
    const { session, id } = await stripeOrder(user)
    const unpaid = { object: { payment_status: 'unpaid' } }
    const completed = stripe.thinEvent(stripe.checkoutEvent('completed', session, unpaid))
    expect(await send(completed)).toBe(200)
    expect(await seen(id)).toMatchObject({ status: 'processing' })
    expect(await send(stripe.thinEvent(stripe.checkoutEvent('async_payment_failed', session, unpaid)))).toBe(200)
    expect(await seen(id)).toMatchObject({ status: 'failed' })
    stripe.thinEvent(stripe.checkoutEvent('async_payment_succeeded', session))
    expect(await send(completed)).toBe(200)
    expect(await kindsOf(id)).toEqual(['processing', 'failed', 'paid'])
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
  })

  it('of a page that has expired ends its order', async () => {
    const { session, id } = await stripeOrder(await payer())
    const unpaid = { object: { payment_status: 'unpaid' } }
    expect(await send(stripe.thinEvent(stripe.checkoutEvent('expired', session, unpaid)))).toBe(200)
    expect(await seen(id)).toMatchObject({ status: 'expired' })
  })

  it('notes refunds, their failure and disputes, each once beside the same events with their objects', async () => {
    const { session, id } = await paid()
    const events = [
      stripe.refundEvent(session, 300),
      stripe.refundFailedEvent(session, { id: 're_1', amount: 300 }),
      stripe.disputeEvent('created', session, { status: 'needs_response' }),
      stripe.disputeEvent('closed', session, { status: 'won' }),
    ]
    for (const event of events) {
      expect(await send(stripe.thinEvent(event))).toBe(200)
      expect(await send(event)).toBe(200)
      expect(await send(stripe.thinEvent(event))).toBe(200)
    }
    expect(await kindsOf(id)).toEqual(['paid', 'refunded', 'refund_failed', 'disputed', 'dispute_won'])
    expect(await seen(id)).toMatchObject({ status: 'paid', refunded: '3.00' })
    await ledgerHolds()
  })

  it('is sent again while its object cannot be had, and credits then', async () => {
    const user = await payer()
    const { session } = await stripeOrder(user)
    const thin = stripe.thinEvent(stripe.checkoutEvent('completed', session))
    for (const failure of [500, 403, 'hang up'] as const) {
      stripe.failNext(failure)
      expect(await send(thin)).toBe(503)
    }
    expect(await app.balanceOf(user.id)).toBe(0)
    expect(await send(thin)).toBe(200)
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
  })

  it.each<[string, Record<string, unknown>, number]>([
    ['an amount that was not ordered', { amount_total: 1 }, 400],
    ['another page than the one that was asked for', { id: 'cs_test_another' }, 503],
  ])('credits nothing for %s', async (_what, object, status) => {
    const user = await payer()
    const { session } = await stripeOrder(user)
    const changed = stripe.checkoutEvent('completed', session, { object })
    expect(await send(stripe.thinEvent(changed, { id: session.id }))).toBe(status)
    expect(await app.balanceOf(user.id)).toBe(0)
  })

  it('is asked for by its number alone, never at an address that it names, nor in the other mode', async () => {
    const user = await payer()
    const { session } = await stripeOrder(user)
    const complete = stripe.checkoutEvent('completed', session)
    const before = stripe.requests.length
    expect(await send(stripe.thinEvent(complete, { id: '../refunds' }))).toBe(400)
    expect(await send(stripe.thinEvent(stripe.checkoutEvent('completed', session, { livemode: true })))).toBe(400)
    expect(stripe.requests.length).toBe(before)
    expect(await send(stripe.thinEvent(complete, { url: 'https://elsewhere.example/v1/charges/ch_1' }))).toBe(200)
    expect(stripe.requests.slice(before).map(({ url }) => url)).toEqual([`/v1/checkout/sessions/${session.id}`])
  })

  it('that means nothing here is taken and its object left alone', async () => {
    const { session } = await stripeOrder(await payer())
    const before = stripe.requests.length
    const other = stripe
      .thinEvent(stripe.checkoutEvent('completed', session))
      .replace(/v1\.[a-z._]+/, 'v1.customer.created')
    expect(await send(other)).toBe(200)
    expect(await send(other.replace('v1.customer.created', 'v2.core.event_destination.ping'))).toBe(200)
    expect(stripe.requests.length).toBe(before)
  })
})
