import { expect } from 'vitest'
import { startApp } from '#test/support/app.ts'
import { createEpayGateway, type EpayFields } from '#test/support/epay-gateway.ts'
import type { TestUser } from '#test/support/factories.ts'
import { storeOptions } from '#test/support/store-options.ts'
import { startStripeGateway, type StripeSession } from '#test/support/stripe-gateway.ts'

const secrets = {
  secretKey: 'sk_test_4eC39HqLyjWDarjtT1zdp7dc',
  webhookSecret: 'whsec_5WbX5kEWLlfzsGNj64I8lOOqUB6e8FH0',
}

type DisputeState = 'open' | 'won' | 'lost' | 'warning_closed'

/** An app that both gateways are open for, with rebates, and what buyers, gateways and administrators do there. */
export async function openShop(start: Parameters<typeof startApp>[0] = {}) {
  const app = await startApp(start)
  const stripe = await startStripeGateway(secrets)
  const gateway = createEpayGateway({ pid: '1000', key: 'the key of the merchant' })
  await storeOptions(app, {
    ServerAddress: 'https://gw.example',
    'stripe.secret_key': secrets.secretKey,
    'stripe.webhook_secret': secrets.webhookSecret,
    'stripe.api_address': stripe.url,
    'stripe.price': '1.1',
    PayAddress: 'https://pay.example',
    EpayId: '1000',
    EpayKey: 'the key of the merchant',
    RebateEnabled: 'true',
    RebatePercentage: '10',
  })
  const admin = await app.make.user({ role: 10, quota: 0 })
  const payer = () => app.make.user({ quota: 0 })
  const order = async (user: TestUser, amount = 10): Promise<{ id: number; form: EpayFields }> => {
    const started = await app.trpc(user).user.orders.pay.mutate({ amount, method: 'zfb' })
    const { rows } = await app.pool.query('select id from top_up_orders where trade_no = $1', [started.tradeNo])
    return { id: rows[0].id, form: started.kind === 'form' ? started.fields : {} }
  }
  const terms = { name: 'Team', price: 500_000, term: 'day' as const, windows: [{ period: 'day' as const, amount: 5 }] }
  const sessionOf = async ({ tradeNo }: { tradeNo: string }) => {
    const session = stripe.sessions().find((one) => one.tradeNo === tradeNo) as StripeSession
    const { rows } = await app.pool.query('select id from top_up_orders where trade_no = $1', [tradeNo])
    return { session, id: rows[0].id as number }
  }
  const stripeOrder = async (user: TestUser) =>
    sessionOf(await app.trpc(user).user.orders.pay.mutate({ amount: 10, method: 'stripe' }))
  const seen = (id: number) => app.trpc(admin).admin.orders.get.query({ id })
  /** Of those that an account has invited, a tenth is its rebate. */
  const invitedPayer = async () => {
    const [inviter, user] = [await payer(), await payer()]
    await app.pool.query('update users set inviter_id = $1 where id = $2', [inviter.id, user.id])
    return { inviter, user }
  }
  const takeBack = (id: number) => app.trpc(admin).admin.orders.reverse.mutate({ id, reason: 'money went back' })
  const dispute = (session: StripeSession, state: DisputeState, name = 'dp_1') => {
    const [type, status] = state === 'open' ? (['created', 'needs_response'] as const) : (['closed', state] as const)
    return stripe.send(app.url, stripe.disputeEvent(type, session, { status, id: `${name}_${session.id}` }))
  }
  const ledgerHolds = async () => expect(await app.violations()).toEqual([])
  const acts = async (id: number) =>
    (
      await app.pool.query(
        "select action, actor_id, reason from audit_entries where target_type = 'order' and target_id = $1 order by id",
        [String(id)],
      )
    ).rows
  const close = async () => {
    await stripe[Symbol.asyncDispose]()
    await app[Symbol.asyncDispose]()
  }
  return {
    app,
    stripe,
    gateway,
    admin,
    payer,
    order,
    terms,
    sessionOf,
    stripeOrder,
    seen,
    invitedPayer,
    takeBack,
    dispute,
    ledgerHolds,
    acts,
    close,
  }
}
