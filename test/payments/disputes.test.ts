import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestUser } from '#test/support/factories.ts'
import { startReceiver } from '#test/support/receiver.ts'
import type { StripeSession } from '#test/support/stripe-gateway.ts'
import { openShop } from './shop.ts'

const shop = await openShop()
const { app, stripe, admin, payer, terms, sessionOf, stripeOrder, seen } = shop
const { invitedPayer, takeBack, dispute, ledgerHolds } = shop
afterAll(shop.close)

/** Paid, and its rebate with it. */
async function rebatedOrder() {
  const { inviter, user } = await invitedPayer()
  const { session, id } = await stripeOrder(user)
  await stripe.send(app.url, stripe.checkoutEvent('completed', session))
  await expect.poll(() => app.balanceOf(inviter.id)).toBe(500_000)
  return { inviter, user, session, id }
}

describe('a dispute that is won', () => {
  it('gives back what was taken meanwhile, once for fifty notices, with the rebate, its event and the audit log', async () => {
    const { inviter, user, session, id } = await rebatedOrder()
    await dispute(session, 'open')
    await takeBack(id)
    expect([await app.balanceOf(user.id), await app.balanceOf(inviter.id)]).toEqual([0, 0])
    await Promise.all(Array.from({ length: 50 }, () => dispute(session, 'won')))
    expect([await app.balanceOf(user.id), await app.balanceOf(inviter.id)]).toEqual([5_000_000, 500_000])
    // Notices that come late, and again.
    for (const state of ['open', 'lost', 'won'] as const) expect(await dispute(session, state)).toBe(200)
    const shown = await seen(id)
    expect(shown).toMatchObject({ status: 'paid', reversedAt: null, reversibleQuota: 0 })
    expect(shown.events.map(({ kind }) => kind)).toEqual(['paid', 'disputed', 'reversed', 'dispute_won', 'restored'])
    const { rows } = await app.pool.query(
      "select actor_id, after from audit_entries where action = 'orders.restore' and target_id = $1",
      [String(id)],
    )
    expect(rows).toEqual([{ actor_id: 0, after: { quota: 5_000_000 } }])
    await ledgerHolds()

    // The next dispute of the same payment is another one, and is lost.
    await dispute(session, 'open', 'dp_2')
    await dispute(session, 'lost', 'dp_2')
    await takeBack(id)
    expect([await app.balanceOf(user.id), await app.balanceOf(inviter.id)]).toEqual([0, 0])
    expect(await dispute(session, 'won', 'dp_2')).toBe(200)
    expect(await app.balanceOf(user.id)).toBe(0)
    await ledgerHolds()
  })

  it('leaves everything credited when fifty reversals and fifty notices of it race, whoever comes first', async () => {
    const { inviter, user, session, id } = await rebatedOrder()
    await dispute(session, 'open')
    // Who found no free connection asks again, as a gateway does and an administrator.
    const askToTakeBack = (): Promise<unknown> =>
      takeBack(id).catch((error) => {
        if (error.data?.domainCode !== 'database.unavailable') throw error
        return askToTakeBack()
      })
    const notify = async (): Promise<void> => {
      while ((await dispute(session, 'won')) >= 500) continue
    }
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? askToTakeBack() : notify())),
    )
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason.message).toContain('只有已退款或被拒付')
    expect([await app.balanceOf(user.id), await app.balanceOf(inviter.id)]).toEqual([5_000_000, 500_000])
    expect(await seen(id)).toMatchObject({ status: 'paid', reversibleQuota: 0 })
    await ledgerHolds()
  })

  it('keeps the share taken whose money did go back, of credit and rebate, and an open one beside it waits', async () => {
    const { inviter, user, session, id } = await rebatedOrder()
    await stripe.send(app.url, stripe.refundEvent(session, 300))
    for (const one of ['dp_1', 'dp_2']) await dispute(session, 'open', one)
    await takeBack(id)
    await dispute(session, 'won', 'dp_1')
    expect([await app.balanceOf(user.id), (await seen(id)).status]).toEqual([0, 'disputed'])
    // An inquiry that became no dispute.
    await dispute(session, 'warning_closed', 'dp_2')
    const share = Math.floor((5_000_000 * 300) / 1100)
    const left = [5_000_000 - share, 500_000 - Math.floor((500_000 * share) / 5_000_000)]
    expect([await app.balanceOf(user.id), await app.balanceOf(inviter.id)]).toEqual(left)
    await expect(takeBack(id)).rejects.toThrow('只有已退款或被拒付')
    await stripe.send(app.url, stripe.refundEvent(session, 1100))
    await takeBack(id)
    expect([await app.balanceOf(user.id), await app.balanceOf(inviter.id)]).toEqual([0, 0])
    await ledgerHolds()
  })

  it('lets a plan that was taken back go on with the time it had left, and it can be taken back again', async () => {
    const user = await payer()
    const plan = await app.trpc(admin).admin.plans.create.mutate({ ...terms, moneyPrices: { USD: '9.90' } })
    const { session, id } = await sessionOf(
      await app.trpc(user).user.plans.pay.mutate({ id: plan.id, method: 'stripe' }),
    )
    const owned = (one: TestUser) => app.trpc(one).user.subscriptions.list.query()
    await stripe.send(app.url, stripe.checkoutEvent('completed', session))
    const [bought] = await owned(user)
    await dispute(session, 'open')
    await takeBack(id)
    // Ten days without it.
    await app.pool.query(
      `update subscriptions set starts_at = starts_at - interval '10 days', ends_at = ends_at - interval '10 days',
         ended_at = ended_at - interval '10 days' where id = $1`,
      [bought?.id],
    )
    await Promise.all(Array.from({ length: 10 }, () => dispute(session, 'won')))
    const [again] = await owned(user)
    expect(again).toMatchObject({ status: 'active', isWaiting: false, id: bought?.id })
    expect(Math.abs(Number(again?.endsAt) - Number(bought?.endsAt))).toBeLessThan(3_600_000)
    expect((await seen(id)).events.at(-1)).toMatchObject({ kind: 'restored', detail: { what: 'Team' } })
    await dispute(session, 'open', 'dp_2')
    await dispute(session, 'lost', 'dp_2')
    await takeBack(id)
    expect(await owned(user)).toMatchObject([{ status: 'refunded' }])
    expect(await app.balanceOf(user.id)).toBe(0)
    await ledgerHolds()
  })
})

describe('a dispute over a part of a payment', () => {
  it('lets that part be taken back, beside what was refunded, and given back by itself when it is won', async () => {
    const { inviter, user, session, id } = await rebatedOrder()
    const shareOf = (money: number): number => Math.floor((5_000_000 * money) / 1100)
    const balances = async () => [await app.balanceOf(user.id), await app.balanceOf(inviter.id)]
    const without = (share: number) => [5_000_000 - share, 500_000 - Math.floor((500_000 * share) / 5_000_000)]
    await dispute({ ...session, amount: 200 }, 'open', 'dp_1')
    await takeBack(id)
    expect(await balances()).toEqual(without(shareOf(200)))
    await expect(takeBack(id)).rejects.toThrow('只有已退款或被拒付')
    await dispute({ ...session, amount: 300 }, 'open', 'dp_2')
    await stripe.send(app.url, stripe.refundEvent(session, 100))
    await takeBack(id)
    expect(await balances()).toEqual(without(shareOf(600)))
    // The other one goes on.
    await dispute({ ...session, amount: 200 }, 'won', 'dp_1')
    expect([...(await balances()), (await seen(id)).status]).toEqual([...without(shareOf(400)), 'disputed'])
    await dispute({ ...session, amount: 300 }, 'lost', 'dp_2')
    await expect(takeBack(id)).rejects.toThrow('只有已退款或被拒付')
    expect(await balances()).toEqual(without(shareOf(400)))
    const { events } = await seen(id)
    expect(events.find(({ kind }) => kind === 'dispute_lost')?.detail).toMatchObject({ money: '3.00 USD' })
    await ledgerHolds()
  })

  it('counts as one over all of it where a bank counts in another currency', async () => {
    const { user, session, id } = await rebatedOrder()
    await dispute({ ...session, amount: 200, currency: 'eur' }, 'open')
    await takeBack(id)
    expect(await app.balanceOf(user.id)).toBe(0)
    await ledgerHolds()
  })

  it('leaves a plan ended until every other one is decided, and says nothing of giving it back before', async () => {
    const plan = await app.trpc(admin).admin.plans.create.mutate({ ...terms, moneyPrices: { USD: '9.90' } })
    for (const end of ['won', 'lost'] as const) {
      const user = await payer()
      const pay = app.trpc(user).user.plans.pay.mutate({ id: plan.id, method: 'stripe' })
      const { session, id } = await sessionOf(await pay)
      await stripe.send(app.url, stripe.checkoutEvent('completed', session))
      await dispute({ ...session, amount: 200 }, 'open', 'dp_1')
      await dispute({ ...session, amount: 300 }, 'open', 'dp_2')
      await takeBack(id)
      await dispute({ ...session, amount: 200 }, 'won', 'dp_1')
      await dispute({ ...session, amount: 300 }, end, 'dp_2')
      const [owned] = await app.trpc(user).user.subscriptions.list.query()
      const given = end === 'won' ? ['restored'] : []
      expect(owned?.status).toBe(end === 'won' ? 'active' : 'refunded')
      const kinds = (await seen(id)).events.map(({ kind }) => kind)
      expect(kinds.slice(kinds.indexOf('reversed') + 1)).toEqual(['dispute_won', `dispute_${end}`, ...given])
      const { rows } = await app.pool.query(
        "select after from audit_entries where action = 'orders.restore' and target_id = $1",
        [String(id)],
      )
      expect(rows).toEqual(given.map(() => ({ after: { plan: 'Team' } })))
    }
    await ledgerHolds()
  })

  it('is over all of it where an older version took the notice, and over nothing once that took its end', async () => {
    const { user, session, id } = await rebatedOrder()
    await dispute({ ...session, amount: 200 }, 'open')
    // An older version writes no amount.
    await app.pool.query('update top_up_orders set disputed_minor = 0 where id = $1', [id])
    await takeBack(id)
    expect(await app.balanceOf(user.id)).toBe(0)
    await dispute({ ...session, amount: 200 }, 'won')
    expect(await app.balanceOf(user.id)).toBe(5_000_000)
    await app.pool.query('update top_up_orders set disputed_minor = money_minor where id = $1', [id])
    expect(await seen(id)).toMatchObject({ status: 'paid', reversibleQuota: 0 })
    await expect(takeBack(id)).rejects.toThrow('只有已退款或被拒付')
    await ledgerHolds()
  })
})

describe('what a gateway says of a payment before the payment', () => {
  it('counts when the payment comes: it is credited once for fifty notices as soon as every dispute is won, with the rebate', async () => {
    const { inviter, user } = await invitedPayer()
    const { session, id } = await stripeOrder(user)
    // Everything at once; nothing is known of the payment yet.
    await Promise.all(Array.from({ length: 50 }, (_, index) => dispute(session, 'open', `dp_${index % 2}`)))
    expect(await seen(id)).toMatchObject({ status: 'pending', events: [] })
    const paid = () => stripe.send(app.url, stripe.checkoutEvent('completed', session))
    expect(new Set(await Promise.all(Array.from({ length: 50 }, paid)))).toEqual(new Set([200]))
    expect([await app.balanceOf(user.id), (await seen(id)).status]).toEqual([0, 'disputed'])
    await dispute(session, 'won', 'dp_0')
    expect([await app.balanceOf(user.id), (await seen(id)).status]).toEqual([0, 'disputed'])
    await Promise.all(Array.from({ length: 50 }, () => dispute(session, 'won', 'dp_1')))
    await expect.poll(() => app.balanceOf(inviter.id)).toBe(500_000)
    const shown = await seen(id)
    expect([await app.balanceOf(user.id), shown.status]).toEqual([5_000_000, 'paid'])
    const kinds = 'disputed disputed paid_disputed dispute_won dispute_won paid'
    expect(shown.events.map(({ kind }) => kind)).toEqual(kinds.split(' '))
    expect((await app.pool.query('select 1 from early_payment_events')).rowCount).toBe(0)
    await ledgerHolds()
  })

  it('changes nothing of the credit in whatever order notice, dispute and its end come', async () => {
    const acts = (session: StripeSession) => [
      () => stripe.send(app.url, stripe.checkoutEvent('completed', session)),
      () => dispute(session, 'open'),
      () => dispute(session, 'won'),
    ]
    for (const sequence of ['012', '021', '102', '120', '201', '210', 'at once'] as const) {
      const user = await payer()
      const { session, id } = await stripeOrder(user)
      const steps = acts(session)
      if (sequence === 'at once') await Promise.all(steps.flatMap((step) => Array.from({ length: 17 }, step)))
      else for (const index of sequence) expect(await steps[Number(index)]?.()).toBe(200)
      expect([sequence, (await seen(id)).status, await app.balanceOf(user.id)]).toEqual([sequence, 'paid', 5_000_000])
    }
    await ledgerHolds()
  })

  it('keeps a payment uncredited whose dispute is lost, and whose money went back', async () => {
    const [loser, refunded] = [await payer(), await payer()]
    const lost = await stripeOrder(loser)
    for (const state of ['open', 'lost'] as const) await dispute(lost.session, state)
    const back = await stripeOrder(refunded)
    const named = stripe.refundEvent(back.session, 1100)
    const unnamed = named.replace(/"metadata":\{[^}]*\}/, '"metadata":{}')
    expect(await stripe.send(app.url, unnamed)).toBe(200)
    for (const { session } of [lost, back]) await stripe.send(app.url, stripe.checkoutEvent('completed', session))
    expect([(await seen(lost.id)).status, (await seen(back.id)).status]).toEqual(['disputed', 'refunded'])
    expect([await app.balanceOf(loser.id), await app.balanceOf(refunded.id)]).toEqual([0, 0])
    await expect(takeBack(lost.id)).rejects.toThrow('只有已退款或被拒付')
    await ledgerHolds()
  })
})

describe('a refund that fails later', () => {
  it('is written down once, and leaves money and credit as they are', async () => {
    const { user, session, id } = await rebatedOrder()
    await stripe.send(app.url, stripe.refundEvent(session, 1100))
    await takeBack(id)
    for (const refund of ['re_1', 're_1', 're_2'])
      await stripe.send(app.url, stripe.refundFailedEvent(session, { id: refund, amount: 550 }))
    const shown = await seen(id)
    expect(shown).toMatchObject({ status: 'refunded', refunded: '11.00' })
    expect(shown.events.filter(({ kind }) => kind === 'refund_failed')).toMatchObject([
      { detail: { money: '5.50 USD', refund: 're_1' } },
      { detail: { money: '5.50 USD', refund: 're_2' } },
    ])
    expect(await app.balanceOf(user.id)).toBe(0)
    await ledgerHolds()
  })
})

describe('the root user', () => {
  let root: TestUser
  beforeAll(async () => {
    root = await app.make.user({ role: 100 })
  })
  const notifyAt = (url: string) =>
    app.pool.query('update users set setting = $1 where id = $2', [
      { notify_type: 'webhook', webhook_url: url },
      root.id,
    ])

  it('is notified of every order whose money goes back or does not fit, however many there are at once', async () => {
    await using hook = await startReceiver()
    await notifyAt(hook.url)
    const expected: string[] = []
    for (const what of [
      'payment_refunded',
      'payment_refund_failed',
      'payment_disputed',
      'payment_mismatch',
      'payment_orphaned',
    ]) {
      for (let count = 0; count < 3; count += 1) {
        const user = await payer()
        const { session } = await stripeOrder(user)
        expected.push(`${what} ${session.tradeNo}`)
        if (what === 'payment_orphaned')
          await app.pool.query('update users set deleted_at = now() where id = $1', [user.id])
        const paid = stripe.checkoutEvent('completed', session, {
          object: what === 'payment_mismatch' ? { amount_total: 1 } : {},
        })
        await stripe.send(app.url, paid)
        if (what === 'payment_refunded') await stripe.send(app.url, stripe.refundEvent(session, 300))
        if (what === 'payment_refund_failed')
          await stripe.send(app.url, stripe.refundFailedEvent(session, { id: 're_1', amount: 300 }))
        if (what === 'payment_disputed') await dispute(session, 'open')
      }
    }
    const received = () =>
      hook.received.map(({ text }) => {
        const { type, content } = JSON.parse(text) as Record<string, string>
        return `${type} ${/USR\w+/.exec(content ?? '')?.[0]}`
      })
    await expect.poll(() => received().toSorted()).toEqual(expected.toSorted())
  })

  it('reads of a payment that was disputed before it came that nothing is credited yet, or was', async () => {
    await using hook = await startReceiver()
    await notifyAt(hook.url)
    const { session, id } = await stripeOrder(await payer())
    const part = { ...session, amount: 200 }
    await dispute(part, 'open')
    await stripe.send(app.url, stripe.checkoutEvent('completed', session))
    const contents = () => hook.received.map(({ text }) => (JSON.parse(text) as { content: string }).content)
    await expect.poll(contents).toEqual([expect.stringContaining('订单尚未入账')])
    await dispute(part, 'lost')
    await expect.poll(contents).toHaveLength(2)
    expect(contents()[1]).toContain('的拒付已成立（其中 2.00 USD）')
    expect(contents()[1]).toContain('订单未入账，请核对')
    // Whoever decides that the rest counts credits the order, and takes back what the payer got.
    await app.trpc(root).admin.orders.complete.mutate({ id, reason: 'the rest was paid' })
    expect(await seen(id)).toMatchObject({ status: 'disputed', reversibleQuota: Math.floor((5_000_000 * 200) / 1100) })
    await ledgerHolds()
  })
})
