import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ConsoleApp, type Person, startConsole } from '#test/support/console-app.ts'

let app: ConsoleApp
let admin: Person
beforeAll(async () => {
  app = await startConsole()
  admin = await app.person({ role: 10 })
})
afterAll(() => app[Symbol.asyncDispose]())

it('names what stands in need of a hand, each with what leads to it, and nothing when all is well', async () => {
  const api = await app.trpc(admin)
  const serve = (name: string, models: string[]) =>
    api.admin.channels.create({ name, type: 1, key: `sk-${name}`, models })
  const list = async () => (await app.trpc(admin)).admin.attention.list()
  const healthy = await serve('sound', ['gpt-4o'])
  expect(await list()).toEqual([])

  const down = await serve('down', ['gpt-4o', 'o1'])
  await app.sql(`update channels set status = 3, status_reason = 'key refused' where id = $1`, [down.id])
  const old = await serve('old', ['claude-2.1', 'house-model'])
  await app.sql('update channels set balance = 1.5, balance_updated_at = now() where id = $1', [healthy.id])
  await app.sql(`insert into channel_drifts (channel_id, missing, added) values ($1, 'gpt-4o', 'a,b')`, [healthy.id])
  await api.admin.prices.setBuying({
    channelId: healthy.id,
    prices: [{ model: '', from: 0, terms: { kind: 'share', share: 0.5 } }],
  })
  // Fell by $20 and rose by a top-up; $4 were counted while it fell.
  await app.sql(
    `insert into channel_balances (channel_id, balance, used_cost) values ($1, 30, 0), ($2, 10, 4000000000), ($3, 90, 9000000000)`,
    [healthy.id, healthy.id, healthy.id],
  )
  const found = await list()
  expect(found).toMatchObject([
    { kind: 'channel-disabled', severity: 'bad', channelId: down.id, reason: 'key refused' },
    { kind: 'model-unserved', model: 'o1', groups: ['default'] },
    { kind: 'price-missing', model: 'house-model', refused: true },
    { kind: 'balance-off', channelId: healthy.id, reported: 20, counted: 4 },
    { kind: 'balance-low', channelId: healthy.id, balance: 1.5 },
    { kind: 'model-retired', model: 'claude-2.1', successor: 'claude-sonnet-4-5', channels: 1 },
    { kind: 'drift', channelId: healthy.id, missing: 1, added: 2 },
  ])
  expect(found).toHaveLength(7)
  expect((await api.admin.prices.list()).rows.find(({ model }) => model === 'house-model')).toMatchObject({
    isMissing: true,
    isListed: false,
    price: null,
  })
  expect(old.id).toBeGreaterThan(0)
})

it('lists every model that a table prices or a channel names, with who serves it', async () => {
  const { rows, channels } = await (await app.trpc(admin)).admin.prices.list()
  const row = (name: string) => rows.find(({ model }) => model === name)
  expect(rows.length).toBeGreaterThan(200)
  expect(row('gpt-4o')).toMatchObject({ isListed: true, isCompletionLocked: true, price: { modelRatio: 1.25 } })
  expect(row('gpt-4o')?.channels.map((place) => channels[place]?.name)).toEqual(['sound', 'down'])
  expect(row('claude-2.1')).toMatchObject({ retires: new Date('2025-07-21T00:00:00Z') })
})
