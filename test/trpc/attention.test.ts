import { expect, it, onTestFinished, vi } from 'vitest'
import { pushAttention } from '#features/attention/push.ts'
import { startFileConsole } from '#test/support/console-app.ts'
import { startMailServer, textOf } from '#test/support/mail-server.ts'

const app = await startFileConsole()
const admin = await app.person({ role: 10 })

it('names what stands in need of a hand, each with what leads to it, and nothing when all is well', async () => {
  const api = await app.trpc(admin)
  const serve = (name: string, models: string[]) =>
    api.admin.channels.create({ name, type: 1, key: `sk-${name}`, models })
  const list = async () => (await app.trpc(admin)).admin.attention.list()
  const healthy = await serve('sound', ['claude-opus-4-6'])
  expect(await list()).toEqual([])

  const down = await serve('down', ['claude-opus-4-6', 'o1'])
  await app.sql(`update channels set status = 3, status_reason = 'key refused' where id = $1`, [down.id])
  await app.sql('update abilities set enabled = false where channel_id = $1', [down.id])
  const old = await serve('old', ['claude-2.1', 'house-model'])
  await app.sql('update channels set balance = 1.5, balance_updated_at = now() where id = $1', [healthy.id])
  await app.sql(`insert into channel_drifts (channel_id, missing, added) values ($1, 'claude-opus-4-6', 'a,b')`, [
    healthy.id,
  ])
  await api.admin.prices.setBuying({
    channelId: healthy.id,
    prices: [{ model: '', from: 0, terms: { kind: 'share', share: 0.5 } }],
  })
  // Fell by $20 and rose by a top-up; $4 were counted while it fell.
  await app.sql(
    `insert into channel_balances (channel_id, balance, used_cost) values ($1, 30, 0), ($2, 10, 4000000000), ($3, 90, 9000000000)`,
    [healthy.id, healthy.id, healthy.id],
  )
  await app.sql(
    `insert into channel_cooldowns (channel_id, key, model, node_id, until, status, reason) values
       ($1, 0, 'claude-opus-4-6', 1, now() + interval '1 hour', 429, 'slow down'),
       ($1, 0, '', 1, now() + interval '2 hours', 503, 'overloaded'), ($1, 1, '', 1, now() - interval '1 minute', 503, 'over')`,
    [old.id],
  )
  const found = await list()
  expect(found).toMatchObject([
    { kind: 'channel-disabled', severity: 'bad', channelId: down.id, reason: 'key refused' },
    { kind: 'model-unserved', model: 'o1', groups: ['default'] },
    { kind: 'price-missing', model: 'house-model', refused: true },
    { kind: 'circuit-open', severity: 'warning', channelId: old.id, places: 2, reason: 'slow down' },
    { kind: 'balance-off', channelId: healthy.id, reported: 20, counted: 4 },
    { kind: 'balance-low', channelId: healthy.id, balance: 1.5 },
    { kind: 'model-retired', model: 'claude-2.1', successor: 'claude-opus-4-8', channels: 1 },
    { kind: 'drift', channelId: healthy.id, missing: 1, added: 2 },
  ])
  expect(found).toHaveLength(8)
  expect((await api.admin.prices.list()).rows.find(({ model }) => model === 'house-model')).toMatchObject({
    isMissing: true,
    entries: '[null,null,null,null,null,null]',
    isListed: false,
    price: null,
  })
  expect(old.id).toBeGreaterThan(0)
})

it('names a proxy that nobody has named, to whoever comes through it, and says so in the log once', async () => {
  const client = { ip: '172.18.0.2', userAgent: '', secure: false, loopback: false, origin: 'http://localhost' }
  const listFor = async (changes: Parameters<typeof app.trpc>[1]) =>
    (await (await app.trpc(admin, changes)).admin.attention.list()).filter(({ kind }) => kind === 'proxy-unknown')
  expect(await listFor({ client })).toEqual([])
  expect(await listFor({ client: { ...client, unknownProxy: true } })).toEqual([
    { kind: 'proxy-unknown', severity: 'warning', address: '172.18.0.2' },
  ])
  const warn = vi.spyOn(app.services.log, 'warn')
  onTestFinished(() => warn.mockRestore())
  const ask = (headers: Record<string, string>) => app.browser().get('/api/status', { headers })
  await ask({})
  expect(warn).not.toHaveBeenCalled()
  for (const visitor of ['203.0.113.9', '203.0.113.10']) await ask({ 'x-forwarded-for': visitor })
  expect(warn.mock.calls).toEqual([[{ proxy: '127.0.0.1' }, expect.stringContaining('TRUST_PROXY')]])
})

it('lists every model that a table prices or a channel names, with who serves it', async () => {
  const { rows, channels } = await (await app.trpc(admin)).admin.prices.list()
  const row = (name: string) => rows.find(({ model }) => model === name)
  expect(rows.length).toBeGreaterThan(200)
  expect(row('claude-opus-4-6')).toMatchObject({ isListed: true, isCompletionLocked: true, price: { modelRatio: 2.5 } })
  expect(row('claude-opus-4-6')?.channels.map((place) => channels[place]?.name)).toEqual(['sound', 'down'])
  expect(row('claude-2.1')).toMatchObject({ retires: new Date('2025-07-21T00:00:00Z') })
})

it('notifies every administrator by mail of what is new since the last look, a circuit that opens only when it stays open', async () => {
  const mails = await startMailServer()
  onTestFinished(() => mails.close())
  await app.setOptions({ SMTPServer: '127.0.0.1', SMTPPort: String(mails.port), SMTPFrom: 'gateway@x.example' })
  await app.sql("update users set email = 'admin@x.example', language = 'en' where id = $1", [admin.id])
  const ordinary = await app.person({ username: 'ordinary' })
  await app.sql("update users set email = 'ordinary@x.example' where id = $1", [ordinary.id])
  const push = () => pushAttention(app.services)
  expect(await push()).toEqual({ items: 6, administrators: 1 })
  expect(mails.mails.map(({ to }) => to)).toEqual([['admin@x.example']])
  const text = textOf(mails.mails[0]?.source ?? '')
  expect(text).toContain('Model house-model has no price')
  expect(text).not.toContain('cooling down')
  expect(await push()).toEqual({ items: 1, administrators: 1 })
  expect(textOf(mails.mails[1]?.source ?? '')).toContain('Channel old is cooling down: slow down')
  expect(await push()).toEqual({ items: 0, administrators: 0 })
  const [old] = await app.sql("select id from channels where name = 'old'")
  const models = ['claude-2.1', 'house-model', 'another-model']
  await (await app.trpc(admin)).admin.channels.update({ id: Number(old?.['id']), models })
  expect(await push()).toEqual({ items: 1, administrators: 1 })
  expect(mails.mails).toHaveLength(3)
})

it('says what each channel cost and of how much revenue the cost is known, over thirty days', async () => {
  const [channel] = await app.sql("select id from channels where name = 'down'")
  const row = `insert into usage_hourly (hour, user_id, model_name, channel_id, token_id, "group", quota, cost, costed_quota)
     values (now() - make_interval(days => $1), 1, $2, $3, 0, 'default', $4, $5, $6)`
  const id = Number(channel?.['id'])
  await app.sql(row, [1, 'a', id, 900, 300, 800])
  await app.sql(row, [2, 'b', id, 100, 0, 0])
  await app.sql(row, [40, 'a', id, 5000, 5000, 5000])
  await app.sql(row, [1, 'a', id + 1000, 70, 0, 0])
  expect(await (await app.trpc(admin)).admin.prices.channelMargins({ channelIds: [id] })).toEqual([
    { channelId: id, cost: 300, costedQuota: 800 },
  ])
})
