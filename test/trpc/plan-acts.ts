import type { Api } from '#server/app-router.ts'

type World = {
  api: Api
  sql: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>
  makeUser: () => Promise<number>
}

const plan = { name: 'Team', price: 100, term: 'month' as const, windows: [{ period: 'day' as const, amount: 5 }] }

/** What administrators do with plans, each with an input that does something. */
export const planActs = (world: () => World): Record<string, () => Promise<unknown>> => ({
  'plans.create': async () => plan,
  'plans.update': async () => ({ ...plan, id: (await world().api.admin.plans.create(plan)).id, name: 'Renamed' }),
  'plans.remove': async () => ({ id: (await world().api.admin.plans.create(plan)).id }),
  'subscriptions.end': async () => {
    const { sql, makeUser } = world()
    const [row] = await sql(
      `insert into subscriptions (user_id, plan_id, name, balance_pays, source, key, price, starts_at, ends_at)
       values ($1, 1, 'Team', true, 'balance', 'k', 100, now(), now() + interval '1 day') returning id`,
      [await makeUser()],
    )
    return { id: Number(row?.['id']), refund: 0, reason: 'on request' }
  },
})
