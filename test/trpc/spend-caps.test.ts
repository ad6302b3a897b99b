import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { refusalOf as refusalOfIssues } from '#core/refusal-of.ts'
import { roles } from '#core/roles.ts'
import type { Api } from '#server/app-router.ts'
import { type Person, startFileConsole } from '#test/support/console-app.ts'
import { withinAnHour } from '#test/support/within-an-hour.ts'

let owner: Person
let api: Api

const app = await startFileConsole()
beforeEach(async () => {
  owner = await app.person()
  api = await app.trpc(owner)
})

const hourly = { period: 'rolling' as const, seconds: 3600, amount: 1000 }
const daily = { period: 'day' as const, zone: 'Asia/Shanghai', amount: 5000, models: ['gpt-4o*'] }

const spend = (capId: number, amount: number) =>
  app.sql(
    `insert into spend_cap_buckets (cap_id, bucket, amount)
     select id, ledger_cap_bucket(period, seconds, zone, ledger_clock()), $2 from spend_caps where id = $1`,
    [capId, amount],
  )
/** As if the files of zones of the database were old, or few. */
function knowsZones(...names: string[]): void {
  const zones = vi.spyOn(app.services.database, 'zones').mockResolvedValue(new Set(['UTC', ...names]))
  onTestFinished(() => zones.mockRestore())
}
const refusalOf = (act: Promise<unknown>) =>
  act.then(
    () => 'done',
    (error: unknown) => {
      const { cause } = error as { cause?: { code?: string; issues?: { message: string }[] } }
      return refusalOfIssues(cause?.issues ?? []) ?? cause?.code
    },
  )

describe('the caps of a token', () => {
  it('are set with it and shown with what is left and when they turn; one whose window stays keeps what was spent', async () => {
    const token = await api.user.tokens.create({ name: 'capped', spendCaps: [hourly, daily] })
    const [first, second] = await api.user.spendCaps.list()
    expect(first).toMatchObject({
      ...hourly,
      scope: 'token',
      subjectId: token.id,
      source: 'owner',
      spent: 0,
      left: 1000,
    })
    expect(first?.turnsAt).toBeNull()
    expect(second).toMatchObject({ ...daily, seconds: 0, spent: 0, left: 5000 })
    expect(second?.turnsAt?.getUTCHours()).toBe(16)

    await spend(first?.id ?? 0, 400)
    await spend(second?.id ?? 0, 400)
    const changed = { ...hourly, amount: 300 }
    await api.user.tokens.update({ id: token.id, name: 'capped', spendCaps: [changed, { ...daily, models: [] }] })
    const after = await api.user.spendCaps.list()
    expect(after.map(({ id, amount, spent, left }) => ({ id, amount, spent, left }))).toEqual([
      { id: first?.id, amount: 300, spent: 400, left: 0 },
      { id: expect.any(Number), amount: 5000, spent: 0, left: 5000 },
    ])
    expect(after[0]?.turnsAt).toBeInstanceOf(Date)

    await api.user.tokens.update({ id: token.id, name: 'renamed' })
    expect(await api.user.spendCaps.list()).toHaveLength(2)
    await api.user.tokens.update({ id: token.id, name: 'renamed', spendCaps: [] })
    expect(await api.user.spendCaps.list()).toEqual([])
  })

  it('are set for each of several tokens made at once', async () => {
    const tokens = await api.user.tokens.createMany({ name: 'many', count: 3, spendCaps: [hourly] })
    expect((await api.user.spendCaps.list()).map(({ subjectId }) => subjectId)).toEqual(tokens.map(({ id }) => id))
  })

  it('are raised for a while by the owner alone, above the usual amount and to a moment to come', async () => {
    await api.user.tokens.create({ name: 'capped', spendCaps: [hourly] })
    const [cap] = await api.user.spendCaps.list()
    const id = cap?.id ?? 0
    const until = new Date(Date.now() + 3_600_000)
    const otherUser = await app.trpc(await app.person())
    expect(await refusalOf(otherUser.user.spendCaps.raise({ id, raise: { amount: 2000, until } }))).toBe(
      'spend_cap.not_found',
    )
    expect(await refusalOf(api.user.spendCaps.raise({ id, raise: { amount: 1000, until } }))).toBe(
      'spend_cap.raise_too_low',
    )
    const past = new Date(Date.now() - 60_000)
    expect(await refusalOf(api.user.spendCaps.raise({ id, raise: { amount: 2000, until: past } }))).toBe(
      'spend_cap.end_past',
    )
    await api.user.spendCaps.raise({ id, raise: { amount: 2000, until } })
    expect(await api.user.spendCaps.list()).toMatchObject([
      { amount: 1000, limit: 2000, raise: { amount: 2000, until } },
    ])
    await api.user.spendCaps.raise({ id, raise: null })
    expect(await api.user.spendCaps.list()).toMatchObject([{ limit: 1000, raise: null }])
    const acts = await app.sql("select action from audit_entries where actor_id = $1 and action = 'spend_caps.raise'", [
      owner.id,
    ])
    expect(acts).toHaveLength(2)
  })

  it('that are set to another amount, higher or lower, are raised no more; those that keep theirs stay raised', async () => {
    const { id: tokenId } = await api.user.tokens.create({ name: 'capped', spendCaps: [hourly, daily] })
    const until = new Date(Date.now() + 30 * 86_400_000)
    const raiseBoth = async () => {
      for (const { id } of await api.user.spendCaps.list())
        await api.user.spendCaps.raise({ id, raise: { amount: 9000, until } })
    }
    for (const amount of [8000, 9000, 10_000, 0]) {
      await raiseBoth()
      await api.user.tokens.update({ id: tokenId, name: 'capped', spendCaps: [{ ...hourly, amount }, daily] })
      expect(await api.user.spendCaps.list()).toMatchObject([
        { amount, limit: amount, raise: null },
        { amount: 5000, limit: 9000, raise: { amount: 9000, until } },
      ])
      await api.user.tokens.update({ id: tokenId, name: 'capped', spendCaps: [hourly, daily] })
    }
    const [first] = await api.user.spendCaps.list()
    await api.user.spendCaps.raise({ id: first?.id ?? 0, raise: { amount: 1001, until } })
    expect(await api.user.spendCaps.list()).toMatchObject([{ limit: 1001 }, { limit: 9000 }])
  })

  it('are raised to nothing below an amount that is set at the same time', async () => {
    await api.user.tokens.create({ name: 'capped', spendCaps: [hourly] })
    const [cap] = await api.user.spendCaps.list()
    const id = cap?.id ?? 0
    const setting = await app.services.database.pool.connect()
    onTestFinished(() => setting.release(true))
    await setting.query('begin')
    await setting.query('update spend_caps set amount = 5000 where id = $1', [id])
    const until = new Date(Date.now() + 3_600_000)
    const raised = refusalOf(api.user.spendCaps.raise({ id, raise: { amount: 2000, until } }))
    const waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    await expect.poll(async () => (await app.sql(waits)).length).toBe(1)
    await setting.query('commit')
    expect(await raised).toBe('spend_cap.raise_too_low')
    expect(await api.user.spendCaps.list()).toMatchObject([{ amount: 5000, limit: 5000, raise: null }])
  })

  it('that stand under a former name of their zone keep what was spent and their raise, and get the current one', async () => {
    await withinAnHour()
    const { id: tokenId } = await api.user.tokens.create({
      name: 'old',
      spendCaps: [{ ...daily, zone: 'Asia/Ho_Chi_Minh' }],
    })
    const [cap] = await api.user.spendCaps.list()
    const id = cap?.id ?? 0
    await spend(id, 400)
    const until = new Date(Date.now() + 3_600_000)
    await api.user.spendCaps.raise({ id, raise: { amount: 9000, until } })
    await app.sql("update spend_caps set zone = 'Asia/Saigon' where id = $1", [id])
    await api.user.tokens.update({ id: tokenId, name: 'new', spendCaps: [{ ...daily, zone: 'Asia/Saigon' }] })
    expect(await api.user.spendCaps.list()).toMatchObject([{ id, zone: 'Asia/Ho_Chi_Minh', spent: 400, limit: 9000 }])
  })

  it('have the name of their zone that the database knows, whichever was sent', async () => {
    knowsZones('Europe/Kiev')
    const spendCaps = [{ ...daily, zone: 'Europe/Kyiv' }]
    const { id: tokenId } = await api.user.tokens.create({ name: 'in Kyiv', spendCaps })
    const [cap] = await api.user.spendCaps.list()
    expect(cap?.zone).toBe('Europe/Kiev')
    await api.user.tokens.update({ id: tokenId, name: 'renamed', spendCaps })
    await api.user.tokens.update({ id: tokenId, name: 'again', spendCaps: [{ ...daily, zone: 'Europe/Kiev' }] })
    expect(await api.user.spendCaps.list()).toMatchObject([{ id: cap?.id, zone: 'Europe/Kiev' }])
  })

  it('in a zone that the database does not know stay where they are, and are made nowhere anew', async () => {
    const admin = await app.trpc(await app.person({ role: roles.admin }))
    const terms = { name: 'Team', price: 100, term: 'month' as const, windows: [{ ...daily, models: [] }] }
    const plan = await admin.admin.plans.create(terms)
    const token = await api.user.tokens.create({ name: 'capped', spendCaps: [daily] })
    const [before] = await api.user.spendCaps.list()
    await admin.admin.spendCaps.set({ userId: owner.id, caps: [daily] })
    knowsZones()
    await api.user.tokens.update({ id: token.id, name: 'renamed', spendCaps: [{ ...daily, amount: 7000 }] })
    await admin.admin.spendCaps.set({ userId: owner.id, caps: [{ ...daily, amount: 7000 }] })
    await admin.admin.plans.update({ ...terms, id: plan.id, price: 200 })
    expect(await api.user.spendCaps.list()).toMatchObject([
      { id: before?.id, zone: daily.zone, amount: 7000 },
      { scope: 'user', zone: daily.zone, amount: 7000 },
    ])
    const elsewhere = { ...daily, zone: 'Asia/Tokyo' }
    const refused = [
      api.user.tokens.create({ name: 'another', spendCaps: [daily] }),
      api.user.tokens.update({ id: token.id, name: 'moved', spendCaps: [elsewhere] }),
      admin.admin.spendCaps.set({ userId: owner.id, caps: [elsewhere] }),
      admin.admin.plans.create(terms),
      admin.admin.plans.update({ ...terms, id: plan.id, windows: [{ ...elsewhere, models: [] }] }),
    ]
    expect(new Set(await Promise.all(refused.map(refusalOf)))).toEqual(new Set(['spend_cap.zone_unknown']))
  })

  it('are refused with a reason where they make no sense', async () => {
    const make = (spendCaps: Parameters<Api['user']['tokens']['create']>[0]['spendCaps']) =>
      refusalOf(api.user.tokens.create({ name: 'capped', spendCaps }))
    expect(await make([{ ...hourly, seconds: 61 }])).toBe('spend_cap.window_invalid')
    expect(await make([{ ...daily, zone: 'Mars/Base' }])).toBe('spend_cap.zone_unknown')
    expect(await make([{ ...hourly, amount: -1 }])).toBe('spend_cap.amount_invalid')
    expect(await make([hourly, { ...hourly, amount: 7 }])).toBe('spend_cap.repeated')
    const eleven = Array.from({ length: 11 }, (_, index) => ({ ...hourly, models: [`model ${index}`] }))
    expect(await make(eleven)).toBe('spend_cap.too_many')
    expect(await api.user.tokens.list({})).toMatchObject({ total: 0 })
  })
})

describe('the caps of a user', () => {
  it('are set, raised and set anew by an administrator, seen by the user, and recorded', async () => {
    const admin = await app.trpc(await app.person({ role: roles.admin }))
    const [cap] = await admin.admin.spendCaps.set({ userId: owner.id, caps: [daily] })
    expect(cap).toMatchObject({ ...daily, scope: 'user', source: 'admin' })
    expect(await api.user.spendCaps.list()).toMatchObject([{ id: cap?.id, left: 5000 }])
    expect(await refusalOf(api.user.spendCaps.raise({ id: cap?.id ?? 0, raise: null }))).toBe('spend_cap.not_found')
    const until = new Date(Date.now() + 3_600_000)
    await admin.admin.spendCaps.raise({ id: cap?.id ?? 0, raise: { amount: 9000, until } })
    expect(await admin.admin.spendCaps.list({ userId: owner.id })).toMatchObject([{ limit: 9000 }])
    await admin.admin.spendCaps.set({ userId: owner.id, caps: [daily, hourly] })
    expect(await admin.admin.spendCaps.list({ userId: owner.id })).toMatchObject([{ limit: 9000 }, { limit: 1000 }])
    await admin.admin.spendCaps.set({ userId: owner.id, caps: [{ ...daily, amount: 10 }] })
    expect(await api.user.spendCaps.list()).toMatchObject([{ limit: 10, raise: null }])
    expect(
      await app.sql('select action, target_name from audit_entries where target_id = $1 order by id', [
        String(owner.id),
      ]),
    ).toEqual([
      { action: 'spend_caps.set', target_name: owner.username },
      { action: 'spend_caps.raise', target_name: owner.username },
      { action: 'spend_caps.set', target_name: owner.username },
      { action: 'spend_caps.set', target_name: owner.username },
    ])
  })

  it('are no business of an administrator of the same level, and leave those of other sources alone', async () => {
    const admin = await app.trpc(await app.person({ role: roles.admin }))
    const other = await app.person({ role: roles.admin })
    expect(await refusalOf(admin.admin.spendCaps.set({ userId: other.id, caps: [hourly] }))).toBe(
      'user.target_forbidden',
    )
    expect(await refusalOf(admin.admin.spendCaps.list({ userId: other.id }))).toBe('user.target_forbidden')
    await app.sql(
      `insert into spend_caps (scope, subject_id, source, source_id, period, seconds, amount) values ('user', $1, 'subscription', 3, 'rolling', 3600, 50)`,
      [owner.id],
    )
    await admin.admin.spendCaps.set({ userId: owner.id, caps: [] })
    expect(await api.user.spendCaps.list()).toMatchObject([{ source: 'subscription', sourceId: 3 }])
  })
})
