import { logType } from '#core/statuses.ts'
import type { SeedContext } from './seed-context.ts'
import type { LogRow } from './calls.ts'
import { daysBefore } from './random.ts'
import type { Person } from './people.ts'

const perDollar = 500_000
const signUpDollars = 5

type Booking = { kind: string; key: string; userId: number; amount: number; at: Date; log: LogRow }

/**
 * Books what everybody was given so that, with what they used, it leaves the balance they are meant to have: sign-up quota,
 * paid orders in whole dollars, and the odd rest as an administrator's gift.
 */
export async function bookBalances({ db, now }: SeedContext, people: Person[]): Promise<void> {
  const { rows } = await db.query<{ id: number; used: string }>('select id, used_quota as used from users')
  const used = new Map(rows.map((row) => [row.id, Number(row.used)]))
  for (const person of people) {
    const wanted = (used.get(person.id) ?? 0) + Math.round(person.leftDollars * perDollar)
    const bookings = bookingsOf(person, wanted, now)
    for (const booking of bookings) await book(db, booking)
    for (const { key, amount, at, kind } of bookings) {
      if (kind === 'top_up') await insertOrder(db, { person, key, amount, at })
    }
    await db.query(
      'update users set quota = (select sum(amount) from grants where user_id = $1) - used_quota where id = $1',
      [person.id],
    )
  }
}

function bookingsOf(person: Person, wanted: number, now: Date): Booking[] {
  const joined = daysBefore(now, person.joinedDaysAgo)
  const entry = (
    kind: string,
    key: string,
    given: { amount: number; at: Date; type: number; content: string },
  ): Booking => {
    const { amount, at, type, content } = given
    const log = { created_at: at, user_id: person.id, type, content, username: person.username, quota: amount }
    return { kind, key, userId: person.id, amount, at, log }
  }
  const dollars = (amount: number) => `$${(amount / perDollar).toFixed(6)}`
  const welcome = Math.min(wanted, signUpDollars * perDollar)
  const paidDollars = Math.floor((wanted - welcome) / perDollar / 2)
  const halves = [Math.ceil(paidDollars / 2), Math.floor(paidDollars / 2)].filter((amount) => amount > 0)
  const rest = wanted - welcome - halves.reduce((sum, amount) => sum + amount, 0) * perDollar
  return [
    entry('sign_up', String(person.id), {
      amount: welcome,
      at: joined,
      type: logType.system,
      content: `新用户注册赠送 ${dollars(welcome)}`,
    }),
    ...halves.map((amount, index) =>
      entry('top_up', `USR${person.id}NOdemo${index}`, {
        amount: amount * perDollar,
        at: daysBefore(now, Math.max(1, person.joinedDaysAgo - 3 - index * 9)),
        type: logType.topUp,
        content: `使用在线充值成功，充值金额: ${dollars(amount * perDollar)}，支付金额：${(amount * 7.3).toFixed(2)}`,
      }),
    ),
    ...(rest > 0
      ? [
          entry('admin_edit', `demo${person.id}`, {
            amount: rest,
            at: daysBefore(now, Math.max(0.5, person.joinedDaysAgo - 2)),
            type: logType.manage,
            content: `管理员增加用户额度 ${dollars(rest)}`,
          }),
        ]
      : []),
  ]
}

async function book(db: SeedContext['db'], { kind, key, userId, amount, at, log }: Booking): Promise<void> {
  await db.query('insert into grants (kind, key, user_id, amount, created_at) values ($1, $2, $3, $4, $5)', [
    kind,
    key,
    userId,
    amount,
    at,
  ])
  await db.query(
    'insert into logs (created_at, user_id, type, content, username, quota) values ($1, $2, $3, $4, $5, $6)',
    [at, userId, log.type, log.content, log.username, amount],
  )
}

async function insertOrder(
  db: SeedContext['db'],
  { person, key, amount, at }: { person: Person; key: string; amount: number; at: Date },
): Promise<void> {
  await db.query(
    `insert into top_up_orders (user_id, quota, currency, money_minor, gateway, method, merchant, trade_no, status, created_at, paid_at)
     values ($1, $2, 'CNY', $3, 'epay', 'alipay', 'demo', $4, 'paid', $5, $5)`,
    [person.id, amount, Math.round((amount / perDollar) * 730), key, at],
  )
}
