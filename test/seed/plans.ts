import type { PlanTerms } from '#db/entities/plan.ts'
import type { Person } from './people.ts'
import { daysBefore } from './random.ts'
import type { SeedContext } from './seed-context.ts'

const perDollar = 500_000
const rolling = (seconds: number, dollars: number) =>
  ({ period: 'rolling', seconds, zone: 'UTC', amount: dollars * perDollar }) as const
const weekly = (dollars: number) =>
  ({ period: 'week', seconds: 0, zone: 'Asia/Shanghai', amount: dollars * perDollar }) as const

type PlanInput = PlanTerms & {
  description: string
  moneyPrices: Record<string, string>
  stock?: number
  perUser?: number
}

const plans: PlanInput[] = [
  {
    name: '轻量版',
    description: '适合偶尔写代码和日常问答。',
    price: 10 * perDollar,
    moneyPrices: { CNY: '69.00' },
    term: 'month',
    termCount: 1,
    models: ['gpt-*', 'gemini-*'],
    windows: [rolling(18_000, 2), weekly(15)],
    balancePays: true,
  },
  {
    name: '专业版',
    description: '覆盖全部模型，额度每 5 小时恢复。',
    price: 30 * perDollar,
    moneyPrices: { CNY: '199.00' },
    term: 'month',
    termCount: 1,
    models: [],
    windows: [rolling(18_000, 8), weekly(60)],
    balancePays: true,
    stock: 20,
  },
  {
    name: '体验周卡',
    description: '每人限购一次。',
    price: perDollar,
    moneyPrices: {},
    term: 'week',
    termCount: 1,
    models: ['gpt-4o-mini', 'gemini-2.5-flash'],
    windows: [{ period: 'day', seconds: 0, zone: 'Asia/Shanghai', amount: perDollar }],
    balancePays: false,
    perUser: 1,
  },
]

/** Who has which of them, since when, and how it was paid. */
const owners = [
  { username: 'xiaochen', plan: 1, daysAgo: 9, source: 'order' },
  { username: 'xiaochen', plan: 0, daysAgo: 52, source: 'order' },
  { username: 'lab-a', plan: 1, daysAgo: 3, source: 'order' },
  { username: 'maria', plan: 2, daysAgo: 2, source: 'balance' },
  { username: 'root', plan: 0, daysAgo: 12, source: 'order' },
] as const

/** Plans on sale and those who have them; they have paid for no call yet. Before the balances are booked. */
export async function seedPlans(context: SeedContext, people: Person[]): Promise<void> {
  const { db } = context
  const ids: number[] = []
  for (const [position, { description, moneyPrices, stock, perUser, ...terms }] of plans.entries()) {
    const { rows } = await db.query<{ id: number }>(
      `insert into plans (name, description, price, money_prices, term, term_count, models, windows, balance_pays, position, stock, per_user)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning id`,
      [
        terms.name,
        description,
        terms.price,
        JSON.stringify(moneyPrices),
        terms.term,
        terms.termCount,
        terms.models,
        JSON.stringify(terms.windows),
        terms.balancePays,
        position,
        stock ?? null,
        perUser ?? null,
      ],
    )
    ids.push(rows[0]?.id ?? 0)
  }
  for (const [index, owner] of owners.entries()) {
    const person = people.find(({ username }) => username === owner.username)
    const plan = plans[owner.plan]
    if (person && plan) await give(context, { person, plan, planId: ids[owner.plan] ?? 0, owner, index })
  }
  await seedUnpaidOrders(context, people)
}

type Given = { person: Person; plan: PlanInput; planId: number; owner: (typeof owners)[number]; index: number }

async function give({ db, now }: SeedContext, { person, plan, planId, owner, index }: Given): Promise<void> {
  const { description: _, moneyPrices, stock: __, perUser: ___, ...terms } = plan
  const at = daysBefore(now, owner.daysAgo)
  const key = `USR${person.id}NOplan${index}`
  const { rows } = await db.query<{ id: number }>(
    `insert into subscriptions (user_id, plan_id, name, models, balance_pays, status, source, key, price, starts_at, ends_at, created_at, ended_at)
     select $1, $2, $3, $4, $5, case when e.at <= now() then 'expired' else 'active' end, $6, $7, $8, $9, e.at, $9,
       case when e.at <= now() then e.at end
     from (select $9::timestamptz + $10::interval as at) e returning id`,
    [
      person.id,
      planId,
      plan.name,
      plan.models,
      plan.balancePays,
      owner.source,
      key,
      plan.price,
      at,
      `${plan.termCount} ${plan.term}`,
    ],
  )
  const id = rows[0]?.id ?? 0
  for (const { period, seconds, zone, amount } of plan.windows)
    await db.query(
      `insert into spend_caps (scope, subject_id, source, source_id, period, seconds, zone, amount)
       values ('subscription', $1, 'subscription', $1, $2, $3, $4, $5)`,
      [id, period, seconds, zone, amount],
    )
  if (owner.source === 'balance') {
    await db.query("insert into grants (kind, key, user_id, amount, created_at) values ('plan', $1, $2, $3, $4)", [
      String(id),
      person.id,
      -plan.price,
      at,
    ])
    return
  }
  const minor = Math.round(Number(moneyPrices['CNY'] ?? (plan.price / perDollar) * 7.3) * 100)
  await db.query(
    `insert into top_up_orders (user_id, quota, currency, money_minor, gateway, method, merchant, trade_no, status, created_at, paid_at,
       payment_id, plan_id, plan)
     values ($1, $2, 'CNY', $3, 'epay', 'wxpay', 'demo', $4, 'paid', $5, $5::timestamptz + interval '40 seconds', $6, $7, $8)`,
    [person.id, plan.price, minor, key, at, `20260000${index}`, planId, JSON.stringify(terms)],
  )
  await db.query(
    "insert into top_up_order_events (order_id, kind, detail, created_at) select id, 'paid', $2, paid_at from top_up_orders where trade_no = $1",
    [key, JSON.stringify({ gateway: 'epay', money: `${(minor / 100).toFixed(2)} CNY` })],
  )
}

/** Orders that came to nothing, and one whose payer wanted a part back. */
async function seedUnpaidOrders({ db, now }: SeedContext, people: Person[]): Promise<void> {
  const orders = [
    { username: 'xiaochen', status: 'expired', dollars: 20, daysAgo: 15 },
    { username: 'root', status: 'failed', dollars: 10, daysAgo: 6 },
    { username: 'liwei', status: 'expired', dollars: 50, daysAgo: 4 },
    { username: 'wangfang', status: 'pending', dollars: 30, daysAgo: 0.01 },
  ]
  for (const [index, { username, status, dollars, daysAgo }] of orders.entries()) {
    const person = people.find((one) => one.username === username)
    await db.query(
      `insert into top_up_orders (user_id, quota, currency, money_minor, gateway, method, merchant, trade_no, status, created_at)
       values ($1, $2, 'CNY', $3, 'epay', 'alipay', 'demo', $4, $5, $6)`,
      [
        person?.id ?? 0,
        dollars * perDollar,
        dollars * 730,
        `USR${person?.id ?? 0}NOopen${index}`,
        status,
        daysBefore(now, daysAgo),
      ],
    )
  }
}

/** Lists are in the order of ids: what was planted last has not happened last. */
export async function orderOrders({ db }: SeedContext): Promise<void> {
  await db.query(`
    with ordered as (
      select id as old, (select max(id) from top_up_orders) + row_number() over (order by created_at, id) as id from top_up_orders
    ), moved as (
      update top_up_order_events e set order_id = ordered.id from ordered where e.order_id = ordered.old
    )
    update top_up_orders o set id = ordered.id from ordered where o.id = ordered.old`)
  await db.query(`select setval(pg_get_serial_sequence('top_up_orders', 'id'), (select max(id) from top_up_orders))`)
}
