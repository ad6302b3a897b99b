import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { plainNotice, webhookHeaders } from '#features/notifications/notice.ts'
import { forgetNoticeCounts, notifyRoot } from '#features/notifications/service.ts'
import { noteDispute, noteFailedRefund, noteRefund } from '#features/orders/gateway-events.ts'
import { receivePayment } from '#features/orders/notification.ts'
import { reactivate } from '#features/plans/activate.ts'
import { sendPlanNotices } from '#features/plans/notices.ts'
import { expireSubscriptions } from '#features/plans/service.ts'
import { type App, startApp } from '#test/support/app.ts'
import type { TestUser } from '#test/support/factories.ts'
import { paymentTexts, planTexts } from './notice-texts.ts'
import { startMailServer, textOf } from '#test/support/mail-server.ts'
import { type Received, type Receiver, startReceiver } from '#test/support/receiver.ts'

let hook: Receiver

const smtp = await startMailServer()
const first = await startApp()
const second = await startApp({ on: first })
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
  await smtp.close()
})
beforeEach(async () => {
  hook = await startReceiver()
  smtp.mails.length = 0
  smtp.refuse(false)
  await first.pool.query('truncate options, channel_keys, abilities, notification_counts')
  // Row by row, so that every node is notified of it.
  await first.pool.query('delete from channels')
  await first.pool.query('update users set role = 1 where role = 100')
  await setOptions({
    SMTPServer: '127.0.0.1',
    SMTPPort: String(smtp.port),
    SMTPFrom: 'gateway@x.example',
    ServerAddress: 'https://gateway.example',
  })
  await first.make.channel()
})
afterEach(() => hook[Symbol.asyncDispose]())

async function setOptions(texts: Record<string, string>): Promise<void> {
  for (const [key, value] of Object.entries(texts)) await first.make.option(key, value)
  await Promise.all([first, second].map(({ services }) => services.options.reload()))
}

type Setting = { notify_type?: 'email' | 'webhook'; quota_warning_threshold?: number; [more: string]: unknown }
const choose = (user: { id: number }, setting: Setting) =>
  first.pool.query('update users set setting = $1 where id = $2', [
    { notify_type: 'webhook', quota_warning_threshold: 1000, webhook_url: hook.url, ...setting },
    user.id,
  ])
const spender = async (quota: number, setting?: Setting) => {
  const user = await first.make.user({ quota })
  if (setting) await choose(user, setting)
  const token = await first.make.token(user)
  await first.settled()
  return { ...user, token }
}
type Spender = Awaited<ReturnType<typeof spender>>
const call = async (user: Spender, node = first) => {
  const reply = await node.relay(user.token, '/v1/chat/completions', {
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'hi' }],
  })
  await reply.text()
  expect(reply.status).toBe(200)
}
const warnedAt = async (user: { id: number }): Promise<Date | null> =>
  (await first.pool.query('select quota_warned_at from users where id = $1', [user.id])).rows[0].quota_warned_at
const settledDown = () => pause(300)

describe('a low balance', () => {
  it('is sent once although fifty calls on two nodes find it at once', async () => {
    const user = await spender(900_000, { quota_warning_threshold: 900_000 })
    await Promise.all(Array.from({ length: 50 }, (_, index) => call(user, index % 2 ? first : second)))
    await expect.poll(() => hook.received.length).toBe(1)
    await settledDown()
    expect(hook.received).toHaveLength(1)
  })

  it('is sent to a program with everything it needs, signed in both ways', async () => {
    const secret = 'a secret of the receiver'
    const user = await spender(900, { webhook_secret: first.services.secrets.encrypt(secret) })
    await call(user)
    await expect.poll(() => hook.received.length).toBe(1)
    const { headers, text } = hook.received[0] as Received
    expect(headers['content-type']).toBe('application/json')
    expect(headers.authorization).toBe(`Bearer ${secret}`)
    expect(headers['x-webhook-signature']).toBe(createHmac('sha256', secret).update(text).digest('hex'))
    const body = JSON.parse(text) as { content: string; values: string[]; timestamp: number }
    const { rows } = await first.pool.query('select quota::int as quota from users where id = $1', [user.id])
    const left = `$${(rows[0].quota / 500_000).toFixed(6)}`
    const link = 'https://gateway.example/app/wallet'
    expect(body).toMatchObject({
      type: 'quota_exceed',
      title: '额度不足提醒',
      values: ['您的额度即将用尽', left, link, link],
    })
    expect(body.content.split('{{value}}')).toHaveLength(5)
    expect(Math.abs(body.timestamp - Date.now() / 1000)).toBeLessThan(300)
  })

  it('is not sent again within two hours, and is after them', async () => {
    const user = await spender(900, {})
    await call(user)
    await expect.poll(() => hook.received.length).toBe(1)
    const age = (minutes: number) =>
      first.pool.query('update users set quota_warned_at = quota_warned_at - make_interval(mins => $1) where id = $2', [
        minutes,
        user.id,
      ])
    // Another node has not been notified of it, so the database alone keeps it from sending.
    await age(119)
    await call(user, second)
    await settledDown()
    expect(hook.received).toHaveLength(1)
    await age(2)
    await using third = await startApp({ on: first })
    await call(user, third)
    await expect.poll(() => hook.received.length).toBe(2)
  })

  it('is measured by what the user chose, else by what root saved, else at 500000', async () => {
    const [above, below] = [await spender(5000, { quota_warning_threshold: 1000 }), await spender(5000, {})]
    await choose(below, { quota_warning_threshold: 5000 })
    const [rich, poor] = [await spender(600_000), await spender(499_000)]
    await first.settled()
    for (const user of [above, below, rich, poor]) await call(user)
    await expect.poll(async () => (await warnedAt(below)) !== null && (await warnedAt(poor)) !== null).toBe(true)
    await settledDown()
    expect(await Promise.all([above, rich].map(warnedAt))).toEqual([null, null])
    await setOptions({ QuotaRemindThreshold: '2000' })
    const [over, under] = [await spender(3000), await spender(1900)]
    for (const user of [over, under]) await call(user)
    await expect.poll(() => warnedAt(under)).not.toBeNull()
    expect(await warnedAt(over)).toBeNull()
  })

  it('is mailed to the address chosen for it, else to the account, with the way to the wallet', async () => {
    const [chosen, own] = [
      await spender(900, { notify_type: 'email', notification_email: 'notices@x.example' }),
      await spender(900, { notify_type: 'email' }),
    ]
    await first.pool.query("update users set email = 'own' || id || '@x.example' where id = any ($1)", [
      [chosen.id, own.id],
    ])
    await call(chosen)
    await call(own)
    await expect.poll(() => smtp.mails.length).toBe(2)
    expect(smtp.mails.map(({ to }) => to[0]).toSorted()).toEqual(['notices@x.example', `own${own.id}@x.example`])
    const text = textOf(smtp.mails[0]?.source ?? '')
    expect(text).toContain('您的额度即将用尽')
    expect(text).toContain('https://gateway.example/app/wallet')
  })

  it('is tried again ten minutes later when nobody could be reached', async () => {
    smtp.refuse(true)
    const user = await spender(900, { notify_type: 'email', notification_email: 'away@x.example' })
    await call(user)
    const left = async () =>
      (
        await first.pool.query(
          "select extract(epoch from quota_warned_at + interval '2 hours' - now())::int as seconds from users where id = $1",
          [user.id],
        )
      ).rows[0].seconds as number
    await expect.poll(async () => (await warnedAt(user)) !== null && (await left()) < 700).toBe(true)
    expect(await left()).toBeGreaterThan(300)
  })

  it('keeps no call waiting, and fails none, when the receiver hangs', async () => {
    hook.answerWith(() => ({ delayMs: 100_000 }))
    const user = await spender(900, {})
    await call(user)
    expect(hook.over()).toBe(0)
    await expect.poll(() => hook.received.length).toBe(1)
  })
})

describe('what is reported of payments', () => {
  it.each(['zh', 'en'] as const)(
    'says in %s what happened to the order and what became of its credit',
    async (language) => {
      const root = await first.make.user({ role: 100 })
      await choose(root, {})
      await first.pool.query('update users set language = $1 where id = $2', [language, root.id])
      const payer = await first.make.user({ quota: 0 })
      const tradeNo = `USR${payer.id}NO`
      const openOrder = async (name: string, userId: number) =>
        first.pool.query(
          `insert into top_up_orders (user_id, quota, currency, money_minor, gateway, merchant, trade_no, payment_id)
         values ($1, 5000000, 'USD', 1100, 'stripe', 'test', $2, $3) returning id`,
          [userId, name, `pi_${name}`],
        )
      const { rows } = await openOrder(tradeNo, payer.id)
      await openOrder(`${tradeNo}X`, 2_000_000_000)
      await openOrder(`${tradeNo}Y`, payer.id)
      const paid = { gateway: 'stripe', tradeNo, moneyMinor: 1100, currency: 'USD', merchant: 'test' } as const
      const named = { paymentId: `pi_${tradeNo}`, mode: 'test' }
      const dispute = (id: string, state: 'open' | 'won' | 'lost') =>
        noteDispute(first.services, named, { id, state, reason: 'fraudulent' })
      const sent = async (act: () => Promise<unknown>): Promise<string> => {
        await first.pool.query('truncate notification_counts')
        hook.received.length = 0
        await act()
        await expect.poll(() => hook.received.length).toBe(1)
        const { title, content } = JSON.parse((hook.received[0] as Received).text) as Record<string, string>
        return `${title}：${content}`.replaceAll(tradeNo, '<no>')
      }
      const mismatch = await sent(() => receivePayment(first.services, { ...paid, moneyMinor: 1 }))
      await receivePayment(first.services, paid)
      const refund = await sent(() => noteRefund(first.services, named, { refundedMinor: 300, isFull: false }))
      const open = await sent(() => dispute('dp_1', 'open'))
      await first.trpc(root).admin.orders.reverse.mutate({ id: rows[0].id, reason: 'disputed' })
      const won = await sent(() => dispute('dp_1', 'won'))
      await sent(() => dispute('dp_2', 'open'))
      const lost = await sent(() => dispute('dp_2', 'lost'))
      const orphaned = await sent(() => receivePayment(first.services, { ...paid, tradeNo: `${tradeNo}X` }))
      const unpaid = { paymentId: `pi_${tradeNo}Y`, mode: 'test' }
      const part = await sent(() => noteRefund(first.services, unpaid, { refundedMinor: 300, isFull: false }))
      const early = await sent(() => noteRefund(first.services, unpaid, { refundedMinor: 1100, isFull: true }))
      const back = { id: 're_1', money: { minor: 300, currency: 'USD' } }
      const failed = await sent(() => noteFailedRefund(first.services, unpaid, back))
      expect({ mismatch, refund, open, won, lost, orphaned, part, early, failed }).toEqual(paymentTexts[language])
    },
  )
})

describe('a plan', () => {
  it.each(['zh', 'en'] as const)(
    'tells in %s of each of its events, once for ten processes that look at once, and again where it could not be handed over',
    async (language) => {
      const user = await spender(5_000_000, { quota_warning_threshold: 0 })
      await first.pool.query('update users set language = $1 where id = $2', [language, user.id])
      const admin = first.trpc(await first.make.user({ role: 10 })).admin
      const plan = await admin.plans.create.mutate({
        name: 'Team',
        price: 100_000,
        term: 'month',
        windows: [{ period: 'rolling', seconds: 18_000, amount: 100_000 }],
      })
      const buy = () => first.trpc(user).user.plans.buy.mutate({ id: plan.id })
      const { signal } = new AbortController()
      const received: string[] = []
      const look = async () => {
        hook.received.length = 0
        const nodes = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? first : second))
        await Promise.all(nodes.map(({ services }) => sendPlanNotices(services, signal)))
        for (const { text } of hook.received) {
          const { title, content } = JSON.parse(text) as Record<string, string>
          received.push(`${title}：${content?.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, '<time>')}`)
        }
      }
      const bought = await buy()
      // Its receiver is away; whoever looks later finds it due again.
      hook.answerWith(() => ({ status: 500 }))
      await look()
      hook.answerWith(() => ({ status: 200 }))
      received.length = 0
      await look()
      expect(received).toEqual([])
      await first.pool.query('update plan_notices set due_at = now() where sent_at is null')
      await look()
      await call(user)
      await first.pool.query(
        "update spend_caps c set amount = s.used_quota from subscriptions s where c.scope = 'subscription' and c.subject_id = s.id and s.id = $1",
        [bought.id],
      )
      await look()
      await first.pool.query(
        "update subscriptions set starts_at = now() - interval '28 days', ends_at = now() + interval '2 days' where id = $1",
        [bought.id],
      )
      await look()
      const next = await buy()
      await look()
      await admin.subscriptions.end.mutate({ id: next.id, refund: 100_000, reason: 'a mistake' })
      await look()
      await first.pool.query(
        "update subscriptions set starts_at = now() - interval '31 days', ends_at = now() - interval '1 hour' where id = $1",
        [bought.id],
      )
      await expireSubscriptions(first.services)
      for (let count = 0; count < 2; count += 1) await look()
      const last = await buy()
      await look()
      await admin.subscriptions.end.mutate({ id: last.id, refund: 0, reason: 'misuse' })
      await look()
      // As the reversal of its order had left it.
      await first.pool.query("update subscriptions set status = 'refunded' where id = $1", [last.id])
      const { id, source, key } = (await first.pool.query('select * from subscriptions where id = $1', [last.id]))
        .rows[0]
      await first.services.database.orm.em.fork().transactional((em) => reactivate(em, { source, key }))
      await look()
      expect(id).toBe(last.id)
      expect(received).toEqual(planTexts[language])
    },
  )
})

describe('a webhook', () => {
  it('of an ordinary user never reaches a private address, by itself or by a redirect', async () => {
    await using guarded = await startApp({ on: first, environment: { OUTBOUND_ALLOW: '' } })
    const direct = await spender(900, {})
    await call(direct, guarded)
    const { port } = new URL(hook.url)
    const named = await spender(900, { webhook_url: `http://localhost:${port}/named` })
    await call(named, guarded)
    await expect
      .poll(async () => ((await warnedAt(direct)) ?? 0) !== 0 && ((await warnedAt(named)) ?? 0) !== 0)
      .toBe(true)
    hook.answerWith(() => ({ status: 307, headers: { location: `http://169.254.169.254/latest` } }))
    const redirected = await spender(900, { webhook_url: `${hook.url}/away` })
    await call(redirected)
    await expect.poll(() => hook.received.length).toBe(1)
    await settledDown()
    expect(hook.received.map(({ path }) => path)).toEqual(['/away'])
  })

  it('goes by the worker where there is one, with its key and the whole posting, to https alone', async () => {
    await setOptions({
      WorkerUrl: `${hook.url}/worker`,
      WorkerValidKey: first.services.secrets.encrypt('the worker key'),
    })
    const secret = first.services.secrets.encrypt('s')
    await call(await spender(900, {}))
    for (const host of ['10.0.0.1', '169.254.169.254', '[::1]'])
      await call(await spender(900, { webhook_url: `https://${host}/hook` }))
    await call(await spender(900, { webhook_url: 'https://far.example/hook', webhook_secret: secret }))
    await expect.poll(() => hook.received.length).toBe(1)
    await settledDown()
    expect(hook.received.map(({ path }) => path)).toEqual(['/worker'])
    const posting = JSON.parse(hook.received[0]?.text ?? '')
    expect(posting).toMatchObject({ url: 'https://far.example/hook', key: 'the worker key', method: 'POST' })
    expect(JSON.parse(posting.body)).toMatchObject({ type: 'quota_exceed' })
    expect(posting.headers['x-webhook-signature']).toBe(createHmac('sha256', 's').update(posting.body).digest('hex'))
  })

  it('is signed as documented', () => {
    expect(webhookHeaders('{"type":"quota_exceed"}', 'secret')['x-webhook-signature']).toBe(
      '21681c4cbd4f3dbcee3c3b88f5a05b15640d228a8f6fd483d26742f1ea577365',
    )
  })
})

describe('root', () => {
  let root: TestUser
  beforeEach(async () => {
    root = await first.make.user({ role: 100 })
    await choose(root, {})
  })

  it('is notified of one thing twice in ten minutes, from whatever node, and of others as well', async () => {
    const notify = (node: App, type: string) => notifyRoot(node.services, plainNotice(type, 'title', 'content'))
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => notify(index % 2 ? first : second, 'channel_update_1_3')),
    )
    await notify(second, 'channel_update_2_3')
    const types = () => hook.received.map(({ text }) => JSON.parse(text).type as string).toSorted()
    expect(types()).toEqual(['channel_update_1_3', 'channel_update_1_3', 'channel_update_2_3'])
    expect(await forgetNoticeCounts(first.services)).toBe(0)
    await first.pool.query("update notification_counts set window_at = window_at - interval '10 minutes'")
    await notify(first, 'channel_update_1_3')
    expect(types()).toHaveLength(4)
    expect(await forgetNoticeCounts(first.services)).toBe(1)
  })

  it('is notified when a call finds the last key of a channel dead', async () => {
    await setOptions({ AutomaticDisableChannelEnabled: 'true', RetryTimes: '0' })
    await first.pool.query('delete from channels')
    const upstream = await startReceiver(() => ({
      status: 401,
      body: { error: { message: 'Incorrect API key provided' } },
    }))
    const { id } = await first.trpc(root).admin.channels.create.mutate({
      name: 'dying',
      type: 1,
      key: 'sk-dead',
      models: ['gpt-4o-mini'],
      baseUrl: upstream.url,
    })
    const { token } = await spender(1_000_000, {})
    const messages = [{ role: 'user', content: 'hi' }]
    const reply = await first.relay(token, '/v1/chat/completions', { model: 'gpt-4o-mini', messages })
    expect(reply.status).toBe(401)
    await reply.text()
    await expect.poll(() => hook.received.length).toBe(1)
    expect(JSON.parse(hook.received[0]?.text ?? '')).toMatchObject({
      type: `channel_update_${id}_3`,
      title: `渠道 dying (#${id}) 已自动禁用`,
      values: [],
    })
    await upstream[Symbol.asyncDispose]()
  })
})
