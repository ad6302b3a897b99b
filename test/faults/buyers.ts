import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { createSecrets } from '#features/secrets/service.ts'
import { createEpayGateway } from '../support/epay-gateway.ts'
import { randomKey, type TestToken, type TestUser } from '../support/factories.ts'
import { secretKey, until } from '../support/processes.ts'
import type { World } from './world.ts'

export const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item

export type Customer = { user: TestUser; token: TestToken }

/** One call of the console; what becomes of it shows in the ledger. Empty where it broke. */
export async function ask(
  urls: string[],
  by: TestUser,
  call: { method?: string; path: string; body: unknown },
): Promise<string> {
  try {
    const reply = await fetch(pick(urls) + call.path, {
      method: call.method ?? 'POST',
      headers: { 'content-type': 'application/json', authorization: by.accessToken, 'new-api-user': String(by.id) },
      body: JSON.stringify(call.body),
      signal: AbortSignal.timeout(30_000),
    })
    return await reply.text()
  } catch {
    return ''
  }
}

const several = <Result>(count: number, act: () => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, act))

const merchant = { pid: '1000', key: 'the key of the merchant' }
const gateway = createEpayGateway(merchant)
const rewards = 500_000_000
const transferred = 500_000

/** Somebody who buys, and who was invited; what is paid or redeemed brings the inviter a tenth. */
export async function makeBuyer({ make, pool }: World): Promise<Customer> {
  const secrets = createSecrets(secretKey)
  await make.option('PayAddress', 'https://pay.example')
  await make.option('EpayId', merchant.pid)
  await make.option('EpayKey', secrets.encrypt(merchant.key))
  await make.option('RebateEnabled', 'true')
  await make.option('RebatePercentage', '10')
  const [inviter, user] = [await make.user({ quota: 0 }), await make.user({ quota: 20_000_000 })]
  await pool.query('update users set inviter_id = $1, aff_quota = $2 where id = $3', [inviter.id, rewards, user.id])
  return { user, token: await make.token(user) }
}

/**
 * What moves money besides calls, each asked for several times at once: codes are redeemed, orders paid for and taken back, rewards
 * become balance. Nobody edits the buyer's balance, which therefore covers what is taken back.
 */
export function startBuying(
  { pool }: World,
  { urls, root, buyer, customers }: { urls: string[]; root: TestUser; buyer: TestUser; customers: Customer[] },
) {
  const secrets = createSecrets(secretKey)
  const notifications: Record<string, string>[] = []
  const done = { redeemed: 0, paid: 0, takenBack: 0, transferred: 0 }
  const count = (name: keyof typeof done, answers: string[], isDone: (answer: string) => boolean) => {
    if (answers.some(isDone)) done[name] += 1
  }
  const hasSucceeded = (answer: string): boolean => answer.includes('"success":true')

  const redeem = async (): Promise<void> => {
    const [key, isGift] = [randomKey(32), Math.random() < 0.5]
    await pool.query(
      `insert into redemptions (user_id, name, key_hash, key_encrypted, quota, is_gift, max_uses) values (1, 'code', $1, $2, 1234, $3, 2)`,
      [secrets.hmac(key), secrets.encrypt(key), isGift],
    )
    const people = [buyer, ...customers.map(({ user }) => user)]
    const asked = [...people, ...people].map((user) => ask(urls, user, { path: '/api/user/topup', body: { key } }))
    count('redeemed', await Promise.all(asked), hasSucceeded)
  }
  const notify = (notification: Record<string, string>) => gateway.notify(pick(urls), notification).catch(() => '')
  const pay = async (): Promise<void> => {
    const opened = await ask(urls, buyer, { path: '/api/user/pay', body: { amount: 1, payment_method: 'zfb' } })
    if (!opened.includes('"message":"success"')) return
    const notification = gateway.notification((JSON.parse(opened) as { data: Record<string, string> }).data)
    notifications.push(notification)
    count('paid', await several(3, () => notify(notification)), (answer) => answer === 'success')
  }
  const takeBack = async (): Promise<void> => {
    const { rows } = await pool.query<{ id: number }>(
      `update top_up_orders set status = 'refunded', refunded_minor = money_minor
       where id = (select min(id) from top_up_orders where status = 'paid') returning id`,
    )
    if (!rows[0]) return
    const body = { json: { id: rows[0].id, reason: 'the money went back' } }
    const answers = await several(3, () => ask(urls, root, { path: '/trpc/admin.orders.reverse', body }))
    count('takenBack', answers, (answer) => answer.startsWith('{"result"'))
  }
  const transfer = async (): Promise<void> => {
    const body = { quota: transferred }
    const answers = await several(3, () => ask(urls, buyer, { path: '/api/user/aff_transfer', body }))
    count('transferred', answers, hasSucceeded)
  }

  let stopping = false
  const buying = (async () => {
    while (!stopping) {
      for (const act of [redeem, pay, takeBack, pay, transfer]) {
        // A connection of ours may be among those that are ended.
        await act().catch(() => {})
        await pause(20)
      }
    }
  })()
  return {
    done,
    /** Ends, when the gateway has been answered about every payment and every rebate is booked. */
    stop: async (): Promise<void> => {
      stopping = true
      await buying
      for (const notification of notifications) {
        await until(async () => (await notify(notification)) === 'success', { what: 'a payment is not taken' })
      }
      await until(
        async () => {
          await ask(urls, root, { path: '/trpc/admin.jobs.run', body: { json: { name: 'payments' } } })
          return (await pool.query('select 1 from rebates where booked_at is null')).rowCount === 0
        },
        { what: 'a rebate is not booked' },
      )
    },
  }
}

/**
 * What must be true of codes, payments, rebates and rewards at every moment: each code is credited as often as it was used, and no oftener
 * than it may be; each paid order once, in full, less what was taken back; each rebate once; what left the rewards is in the balance.
 */
export async function creditViolations(pool: Pool, buyer: TestUser): Promise<string[]> {
  const { rows } = await pool.query<{ what: string; row: unknown }>(
    `with codes as (
       select r.id, r.quota, r.used_count, r.is_gift, r.max_uses,
         (select count(*) from redemption_uses u where u.redemption_id = r.id) as uses,
         (select coalesce(sum(g.amount), 0) from grants g where g.kind = 'redemption' and (g.key = r.id::text or starts_with(g.key, r.id || ':'))) as credited
       from redemptions r),
     orders as (
       select o.id, o.status, o.quota, o.paid_at is not null as paid, o.reversed_quota,
         array(select g.amount from grants g where g.kind = 'top_up' and g.key = o.trade_no) as credits,
         (select coalesce(-sum(g.amount), 0) from grants g where g.kind = 'top_up_reversal' and starts_with(g.key, o.trade_no)) as taken
       from top_up_orders o),
     owed as (
       select r.key, r.amount, r.reversed_amount, r.booked_at is not null as booked,
         (select coalesce(sum(g.amount), 0) from grants g where g.kind in ('rebate', 'rebate_reversal') and (g.key = r.source || ':' || r.key
           or starts_with(g.key, r.source || ':' || r.key || ':#'))) as credited
       from rebates r),
     rewarded as (
       select u.aff_quota as left, (select coalesce(sum(g.amount), 0) from grants g where g.kind = 'transfer' and g.user_id = u.id) as moved
       from users u where u.id = $1)
     select 'code' as what, to_jsonb(c) as row from codes c where credited <> quota * used_count or uses <> used_count
       or used_count > case when is_gift then max_uses else 1 end
     union all select 'order', to_jsonb(o) from orders o
       where credits <> case when paid then array[quota] else '{}' end or taken <> reversed_quota or taken > quota
     union all select 'rebate', to_jsonb(w) from owed w where credited <> case when booked then amount - reversed_amount else 0 end
     union all select 'rewards', to_jsonb(a) from rewarded a where a.left + a.moved <> $2 or a.left < 0`,
    [buyer.id, rewards],
  )
  return rows.map(({ what, row }) => `${what} ${JSON.stringify(row)}`)
}
