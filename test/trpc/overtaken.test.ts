import { beforeEach, describe, expect, it } from 'vitest'
import { roles } from '#core/roles.ts'
import type { Api } from '#server/app-router.ts'
import { codeOf, startFileConsole } from '#test/support/console-app.ts'

const app = await startFileConsole()
let api: Api
beforeEach(async () => {
  const root = await app.person({ role: roles.root })
  await app.sql('update sessions set verified_at = now()')
  api = await app.trpc(root)
})

/** A record as it was read, a field of it that is money or text, and how it is changed and read. */
type Editing<Fields extends object> = {
  began: Fields
  save: (changes: Partial<Fields>, expected?: Partial<Fields>) => Promise<unknown>
  read: () => Promise<Partial<Fields>>
}

const plan = {
  name: 'Team',
  description: '',
  price: 100,
  moneyPrices: { CNY: '7.00' },
  term: 'month' as const,
  termCount: 1,
  models: [],
  windows: [{ period: 'day' as const, seconds: 0, zone: 'UTC', amount: 5 }],
  balancePays: true,
  onSale: true,
  position: 0,
  stock: null,
  perUser: null,
}

async function editPlan(): Promise<Editing<typeof plan>> {
  const { plans } = api.admin
  const { id } = await plans.create(plan)
  return {
    began: plan,
    save: (changes, expected) => plans.update({ ...plan, ...changes, id, expected }),
    read: async () => (await plans.list()).find((one) => one.id === id) as never,
  }
}

async function editCode(): Promise<Editing<{ name: string; quota: number; validUntil: Date | null }>> {
  const { redemptions } = api.admin
  const began = { name: 'Spring', quota: 500, validUntil: new Date('2090-01-01') }
  await redemptions.create(began)
  const id = (await redemptions.list({})).items[0]?.id ?? 0
  return {
    began,
    save: (changes, expected) => redemptions.update({ ...began, ...changes, id, expected }),
    read: () => redemptions.get({ id }),
  }
}

async function editUser(): Promise<Editing<{ group: string; displayName: string }>> {
  const { users } = api.admin
  const { id } = await app.person()
  const { group, displayName } = await users.get({ id })
  return {
    began: { group, displayName },
    save: (changes, expected) => users.update({ ...changes, id, expected }),
    read: () => users.get({ id }),
  }
}

const cap = { period: 'day' as 'day' | 'week' | 'month', seconds: 0, zone: 'UTC', amount: 500, models: [] as string[] }

async function editCaps(): Promise<Editing<{ caps: (typeof cap)[] }>> {
  const { spendCaps } = api.admin
  const { id: userId } = await app.person()
  await spendCaps.set({ userId, caps: [cap] })
  return {
    began: { caps: [cap] },
    save: ({ caps = [cap] }, expected) => spendCaps.set({ userId, caps, expected }),
    read: async () => ({
      caps: (await spendCaps.list({ userId })).map(({ period, seconds, zone, amount, models }) => {
        return { period, seconds, zone, amount, models } as typeof cap
      }),
    }),
  }
}

async function editMessage(): Promise<Editing<{ title: string; content: string; format: 'plain' }>> {
  const { messages } = api.admin
  const began = { title: 'Notice', content: 'Old words', format: 'plain' as const }
  const { id: userId } = await app.person()
  const { id } = await messages.create({ ...began, recipients: { userIds: [userId] } })
  return {
    began,
    save: (changes, expected) => messages.update({ ...began, ...changes, id, expected }),
    read: async () => (await messages.get({ id })) as never,
  }
}

async function editToken(): Promise<Editing<{ name: string; group: string; spendCaps: (typeof cap)[] }>> {
  const { tokens } = api.user
  const began = { name: 'Script', group: '', spendCaps: [cap] }
  const { id } = await tokens.create(began)
  return {
    began,
    save: (changes, expected) => tokens.update({ ...began, ...changes, id, expected }),
    read: async () => ({ name: (await tokens.get({ id })).name }),
  }
}

describe('of two who edit the same record, the second puts nothing back that the first has changed', () => {
  async function check<Fields extends object>(
    { began, save, read }: Editing<Fields>,
    first: Partial<Fields>,
    second: Partial<Fields>,
  ) {
    await save(first, began)
    expect(await codeOf(save(second, began))).toBe('input.changed_meanwhile')
    expect(await read()).toMatchObject(first)
    // The answer of the first save may have been lost, and it be sent again.
    await save(first, began)
    await save({ ...first, ...second }, { ...began, ...first })
    expect(await read()).toMatchObject({ ...first, ...second })
    // Documented clients say nothing of what they expect.
    await save({})
  }

  it('a plan', async () => check(await editPlan(), { price: 200, moneyPrices: { CNY: '9.00' } }, { name: 'Crew' }))
  it('a plan, whose windows count as a whole', async () =>
    check(await editPlan(), { windows: [{ ...plan.windows[0]!, amount: 9 }] }, { stock: 3 as never }))
  it('a redemption code', async () => check(await editCode(), { quota: 900 }, { validUntil: null }))
  it('a user', async () => check(await editUser(), { group: 'vip' }, { displayName: 'Able' }))
  it('spend caps of a user', async () =>
    check(await editCaps(), { caps: [{ ...cap, amount: 50 }] }, { caps: [{ ...cap, amount: 900 }] }))
  it('spend caps of a user, one of which was given another window and so stands last', async () => {
    const { save } = await editCaps()
    const month = { ...cap, period: 'month' as const }
    await save({ caps: [cap, month] })
    const wanted = { caps: [{ ...cap, period: 'week' as const }, month] }
    await save(wanted, { caps: [cap, month] })
    await save(wanted, { caps: [cap, month] })
    await save({ caps: [] }, wanted)
  })
  it('a message', async () => check(await editMessage(), { content: 'New words' }, { title: 'Other' }))
  it('a token', async () => check(await editToken(), { name: 'Robot' }, { name: 'Machine' }))
  it('spend caps of a token', async () => {
    const { began, save } = await editToken()
    await save({ spendCaps: [{ ...cap, amount: 50 }] }, began)
    expect(await codeOf(save({ name: 'Robot' }, began))).toBe('input.changed_meanwhile')
  })
})
