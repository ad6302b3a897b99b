import { afterAll, describe, expect, it } from 'vitest'
import { type Api, appRouter } from '#server/app-router.ts'
import { startConsole } from '#test/support/console-app.ts'
import { startMailServer } from '#test/support/mail-server.ts'
import { planActs } from './plan-acts.ts'

const mails = await startMailServer()
const app = await startConsole()
const root = await app.person({ role: 100, username: 'founder' })
const api = await app.trpc(root)
// The channel's provider, where a balance is asked for.
app.outgoing.answerWith(() => '{"balance_infos":[{"currency":"USD","total_balance":"12.5"}]}')
afterAll(async () => {
  await mails.close()
  await app[Symbol.asyncDispose]()
})

type Entry = {
  id: string
  actor_id: number
  actor_name: string
  action: string
  target_type: string
  target_id: string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  reason: string
  client_ip: string
}

const entries = async (after = 0) =>
  (await app.sql('select * from audit_entries where id > $1 order by id', [after])) as unknown as Entry[]
const lastId = async () => Number((await app.sql('select coalesce(max(id), 0) as id from audit_entries'))[0]?.['id'])

const clearingOrders = () => app.sql("select 1 from installation_facts where name = 'log_clearing_order'")

/** What an act leaves in the audit log, the end of a run that it begins included. */
async function left<Result>(act: () => Promise<Result>): Promise<Entry[]> {
  const before = await lastId()
  await act()
  await expect.poll(clearingOrders).toEqual([])
  return entries(before)
}

const channel = { name: 'upstream', type: 43, key: 'sk-very-secret', models: ['deepseek-chat'], groups: ['default'] }
const makeChannel = async (fields: object = {}) => (await api.admin.channels.create({ ...channel, ...fields })).id
const makeUser = async (fields: object = {}) => (await app.person(fields)).id

const codes = { name: 'gift', quota: 5 }
async function makeCode(fields: object = {}): Promise<number> {
  await api.admin.redemptions.create({ ...codes, ...fields })
  return Number((await app.sql('select max(id) as id from redemptions'))[0]?.['id'])
}

let orders = 0
async function makeOrder(): Promise<number> {
  orders += 1
  const [row] = await app.sql(
    `insert into top_up_orders (user_id, quota, currency, money_minor, gateway, trade_no)
     values ($1, 100, 'CNY', 730, 'epay', $2) returning id`,
    [await makeUser(), `T${orders}`],
  )
  return Number(row?.['id'])
}

const message = () => ({ title: 'Hello', content: 'all', format: 'plain' as const, recipients: { userIds: [root.id] } })

const plannedChange = () => ({
  change: { prices: [{ model: 'deepseek-chat', modelRatio: 4 }], groupRatios: {} },
  effectiveAt: new Date(Date.now() + 3_600_000),
  note: 'next hour',
})
const buyingPrice = { model: 'gpt-4o', from: 0, terms: { kind: 'share' as const, share: 0.5 } }

/** Every mutation of administrators, with an input that does something. A new one has to be added here. */
const acts: Record<string, () => Promise<unknown>> = {
  'site.dismissFirstSteps': async () => {
    await app.sql("insert into installation_facts values ('first_steps', 'open')")
    return undefined
  },
  'users.create': async () => ({ username: 'created', password: 'long enough' }),
  'users.update': async () => ({ id: await makeUser(), group: 'vip' }),
  'users.manage': async () => ({ id: await makeUser(), action: 'disable' }),
  'users.endSession': async () => {
    const person = await app.person()
    await app.signedIn(person)
    const [session] = await app.sql('select public_id from sessions where user_id = $1', [person.id])
    return { id: person.id, session: session?.['public_id'] }
  },
  'users.endSessions': async () => ({ id: await makeUser() }),
  'secondFactor.reset': async () => {
    const id = await makeUser()
    const key = `k${id}`
    await app.sql(
      `insert into passkeys (user_id, name, credential_id, public_key, site) values ($1, 'phone', $2, $2, 'localhost')`,
      [id, key],
    )
    return { id }
  },
  'users.remove': async () => ({ id: await makeUser() }),
  'channels.create': async () => channel,
  'channels.update': async () => ({ id: await makeChannel(), name: 'renamed' }),
  'channels.copy': async () => ({ id: await makeChannel() }),
  'channels.setStatus': async () => ({ id: await makeChannel(), status: 2 }),
  'channels.setStatusOfMany': async () => ({ ids: [await makeChannel()], status: 2 }),
  'channels.enable': async () => {
    const id = await makeChannel()
    await api.admin.channels.disable({ id })
    return { id }
  },
  'channels.disable': async () => ({ id: await makeChannel() }),
  'channels.setKeyStatus': async () => ({ id: await makeChannel(), position: 0, status: 2 }),
  'channels.setPriority': async () => ({ id: await makeChannel(), priority: 7 }),
  'channels.setWeight': async () => ({ id: await makeChannel(), weight: 7 }),
  'channels.remove': async () => ({ id: await makeChannel() }),
  'channels.removeMany': async () => ({ ids: [await makeChannel(), await makeChannel()] }),
  'channels.removeDisabled': async () => {
    await api.admin.channels.disable({ id: await makeChannel() })
    return undefined
  },
  'channels.setTag': async () => ({ ids: [await makeChannel()], tag: 'fresh' }),
  'channels.tags.edit': async () => {
    await makeChannel({ tag: 'edited' })
    return { tag: 'edited', priority: 3 }
  },
  'channels.tags.enable': async () => {
    await makeChannel({ tag: 'off' })
    await api.admin.channels.tags.disable({ tag: 'off' })
    return { tag: 'off' }
  },
  'channels.tags.disable': async () => {
    await makeChannel({ tag: 'on' })
    return { tag: 'on' }
  },
  'channels.fixAbilities': async () => undefined,
  'channels.cancelRun': async () => ({ name: await startLongRun('channel-tests') }),
  'channels.testAll': async () => {
    await app.sql('delete from job_runs')
    return undefined
  },
  // Waits for its end, so that the next finds the job free.
  'channels.updateBalances': async () => undefined,
  'channels.startBalances': async () => undefined,
  'channels.updateBalance': async () => ({ id: await makeChannel() }),
  'messages.create': async () => message(),
  'messages.update': async () => {
    const { id } = await api.admin.messages.create(message())
    return { id, ...message(), title: 'Another' }
  },
  'messages.remove': async () => ({ id: (await api.admin.messages.create(message())).id }),
  'redemptions.create': async () => codes,
  'redemptions.update': async () => ({ id: await makeCode(), name: 'renamed', quota: 7 }),
  'redemptions.setStatus': async () => ({ id: await makeCode(), status: 2 }),
  'redemptions.remove': async () => ({ id: await makeCode() }),
  'redemptions.removeByName': async () => {
    await makeCode({ name: 'by name' })
    return { name: 'by name' }
  },
  'redemptions.disable': async () => ({ ids: [await makeCode()] }),
  'redemptions.removeDisabled': async () => {
    await api.admin.redemptions.disable({ ids: [await makeCode()] })
    return undefined
  },
  'redemptions.export': async () => ({ ids: [await makeCode()] }),
  ...planActs(() => ({ api, sql: app.sql, makeUser })),
  'orders.complete': async () => ({ id: await makeOrder(), reason: 'paid by hand' }),
  'orders.reverse': async () => {
    const id = await makeOrder()
    await api.admin.orders.complete({ id, reason: 'paid by hand' })
    await app.sql("update top_up_orders set status = 'refunded' where id = $1", [id])
    return { id, reason: 'a mistake' }
  },
  'spendCaps.set': async () => ({ userId: await makeUser(), caps: [{ period: 'day', amount: 500 }] }),
  'spendCaps.raise': async () => {
    const userId = await makeUser()
    await api.admin.spendCaps.set({ userId, caps: [{ period: 'day', amount: 500 }] })
    const [cap] = await app.sql('select id from spend_caps order by id desc limit 1')
    return { id: Number(cap?.['id']), raise: { amount: 900, until: new Date(Date.now() + 3_600_000) } }
  },
  'groups.rename': async () => {
    await api.admin.options.update({ key: 'GroupRatio', value: '{"default":1,"vip":1,"former":2}' })
    return { from: 'former', to: 'latter' }
  },
  'prices.schedule': async () => plannedChange(),
  'prices.cancel': async () => {
    await api.admin.prices.schedule(plannedChange())
    const [planned] = await app.sql('select id from price_changes order by id desc limit 1')
    return { id: Number(planned?.['id']) }
  },
  'prices.setBuying': async () => ({ channelId: await makeChannel(), prices: [buyingPrice] }),
  'models.setPrices': async () => ({ prices: [{ model: 'deepseek-chat', modelRatio: 3 }] }),
  'options.update': async () => ({ key: 'SystemName', value: 'Another name' }),
  'options.save': async () => ({ changes: [{ key: 'Footer', value: 'foot' }] }),
  'options.testMail': async () => {
    await app.setOptions({ SMTPServer: '127.0.0.1', SMTPPort: String(mails.port), SMTPFrom: 'gateway@x.example' })
    return { to: 'someone@x.example' }
  },
  'options.testOidc': async () => {
    const endpoint = (name: string) => `https://id.example/${name}`
    await app.setOptions({
      'oidc.authorization_endpoint': endpoint('auth'),
      'oidc.token_endpoint': endpoint('token'),
      'oidc.user_info_endpoint': endpoint('me'),
    })
    return undefined
  },
  'options.reset': async () => {
    await api.admin.options.update({ key: 'About', value: 'us' })
    return { keys: ['About'] }
  },
  'options.resetModelRatio': async () => {
    await api.admin.options.update({ key: 'ModelRatio', value: '{"a":1}' })
    return undefined
  },
  'options.mapping.update': async () => ({ mapping: { virtual: [{ model: 'real', priorities: 1 }] } }),
  'jobs.cancel': async () => ({ name: await startLongRun('channel-models') }),
  'jobs.run': async () => {
    await app.sql('delete from job_runs')
    return { name: 'channel-models' }
  },
  'failedCharges.book': async () => {
    const { id } = await app.person()
    await app.sql("select ledger_set_aside('kept-charge', $1, 0, 0, 5, '{}', 'refused')", [id])
    return { id: 'kept-charge', quota: 3 }
  },
  'logs.clear': async () => ({ before: new Date('2020-01-01T00:00:00Z') }),
  'logs.startClearing': async () => ({ before: new Date('2020-01-01T00:00:00Z') }),
  'logs.cancelClearing': async () => {
    await startLongRun('log-clearing')
    return undefined
  },
}

/** They ask an upstream or read again, and change nothing that anybody decided; calls they make stand in the usage log. */
const changesNothing = [
  'channels.fetchModels',
  'channels.fetchModelsOf',
  'channels.probe',
  'options.discoverOidc',
  'options.mapping.reload',
] as const

/** A run that goes on until it is cancelled: another process says it has it. */
async function startLongRun(name: string): Promise<string> {
  await app.sql(
    `insert into job_runs (name, running_since) values ($1, now())
     on conflict (name) do update set running_since = now(), cancel_wanted = false`,
    [name],
  )
  return name
}

const typeOf = (procedure: unknown): string => (procedure as { _def: { type: string } })._def.type

const mutations = Object.entries(appRouter._def.procedures)
  .filter(([path, procedure]) => path.startsWith('admin.') && typeOf(procedure) === 'mutation')
  .map(([path]) => path.slice('admin.'.length))

const call = (path: string, input: unknown): Promise<unknown> => {
  const procedure = path
    .split('.')
    .reduce<unknown>((level, name) => (level as Record<string, unknown>)[name], api.admin)
  return (procedure as (given: unknown) => Promise<unknown>)(input)
}

describe('the audit log', () => {
  it('knows every administrative mutation', () => {
    const known = [...Object.keys(acts), ...changesNothing]
    expect(mutations.filter((path) => !known.includes(path))).toEqual([])
    expect(known.filter((path) => !mutations.includes(path))).toEqual([])
  })

  it.each(Object.keys(acts))('keeps who did %s, from where', async (path) => {
    const input = await acts[path]?.()
    const made = await left(() => call(path, input))
    expect(made.length).toBeGreaterThan(0)
    const who = { actor_id: root.id, actor_name: 'founder', client_ip: '127.0.0.1' }
    for (const entry of made) expect(entry).toMatchObject(who)
  })

  it('has only what changed, before and after, with the reason', async () => {
    const id = await makeUser({ group: 'default', quota: 500 })
    const [entry] = await left(() => api.admin.users.update({ id, group: 'vip', quotaChange: 70, reason: '补偿' }))
    expect(entry).toMatchObject({
      action: 'users.update',
      target_type: 'user',
      target_id: String(id),
      before: { group: 'default', quota: 500 },
      after: { group: 'vip', quota: 570 },
      reason: '补偿',
    })
    const renamed = await makeChannel()
    const [change] = await left(() => api.admin.channels.update({ id: renamed, name: 'second', priority: 0 }))
    expect([change?.before, change?.after]).toEqual([{ name: 'upstream' }, { name: 'second' }])
    await api.admin.options.update({ key: 'GroupRatio', value: '{"default":1,"vip":1}' })
    const [ratio] = await left(() =>
      api.admin.options.update({ key: 'GroupRatio', value: '{"default":1,"vip":0.5,"svip":2}' }),
    )
    expect([ratio?.before, ratio?.after]).toEqual([{ GroupRatio: { vip: 1 } }, { GroupRatio: { svip: 2, vip: 0.5 } }])
  })

  it('names secrets and never shows one', async () => {
    const id = await makeUser()
    const made = await left(async () => {
      await api.admin.users.update({ id, password: 'secret password' })
      await api.admin.options.update({ key: 'SMTPToken', value: 'secret of mail' })
      await api.admin.options.update({ key: 'SMTPToken', value: 'second secret' })
      const owner = await makeChannel({ key: 'sk-secret-one', setting: '{"proxy":"http://u:secretproxy@p:1"}' })
      await api.admin.channels.update({ id: owner, key: 'sk-secret-two' })
    })
    expect(JSON.stringify(made)).not.toMatch(/secret (password|of mail)|second secret|sk-secret|secretproxy/)
    expect(made.map(({ action, after }) => [action, after])).toMatchObject([
      ['users.update', { password: true }],
      ['options.set', { SMTPToken: true }],
      ['options.set', { SMTPToken: true }],
      ['channels.create', { key: true }],
      ['channels.update', { key: true }],
    ])
  })

  it('is the same whichever route an act came by', async () => {
    const browser = await app.signedIn(root)
    const id = await makeUser()
    const byRest = await left(() => browser.post('/api/user/manage', { id, action: 'disable' }))
    const byTrpc = await left(() => api.admin.users.manage({ id, action: 'enable' }))
    expect([...byRest, ...byTrpc].map(({ action, target_id }) => [action, target_id])).toEqual([
      ['users.disable', String(id)],
      ['users.enable', String(id)],
    ])
    const option = await left(() => browser.put('/api/option/', { key: 'SystemName', value: 'By REST' }))
    expect(option).toMatchObject([{ action: 'options.set', target_id: 'SystemName', after: { SystemName: 'By REST' } }])
  })

  it('has nothing of an act that was refused, and no act stands without its entry', async () => {
    const id = await makeUser({ role: 100 })
    expect(await left(() => api.admin.users.manage({ id, action: 'disable' }).catch(() => {}))).toEqual([])
    expect(await left(() => api.admin.jobs.run({ name: 'unknown' }).catch(() => {}))).toEqual([])
    const victim = await makeUser()
    await app.sql("alter table audit_entries add constraint full_disk check (action <> 'users.disable') not valid")
    try {
      await expect(api.admin.users.manage({ id: victim, action: 'disable' })).rejects.toThrow()
    } finally {
      await app.sql('alter table audit_entries drop constraint full_disk')
    }
    expect((await app.sql('select status from users where id = $1', [victim]))[0]).toEqual({ status: 1 })
  })
})

describe('reading the audit log', () => {
  const list = async (input: Parameters<Api['admin']['audit']['list']>[0]) => api.admin.audit.list(input)

  it('goes by keyset in both directions and ends where it ends', async () => {
    const id = String(await makeUser())
    for (let count = 0; count < 5; count += 1)
      await api.admin.users.update({ id: Number(id), displayName: `n${count}` })
    const filter = { targetType: 'user', targetId: id, pageSize: 2 }
    const first = await list(filter)
    expect([first.items.length, first.hasOlder, first.hasNewer]).toEqual([2, true, false])
    const second = await list({ ...filter, before: first.items[1]?.id })
    const third = await list({ ...filter, before: second.items[1]?.id })
    expect([third.items.length, third.hasOlder, third.hasNewer]).toEqual([1, false, true])
    expect((await list({ ...filter, after: third.items[0]?.id })).items).toEqual(second.items)
    expect(await list({ ...filter, after: second.items[0]?.id })).toEqual({ ...first, hasOlder: true })
  })

  it('is filtered by actor, action, target and time, and searched as plain text', async () => {
    const other = await app.person({ role: 10, username: 'second%' })
    const id = await makeUser({ username: 'needle_7' })
    await (await app.trpc(other)).admin.users.manage({ id, action: 'disable', reason: 'abuse' })
    const found = async (input: Parameters<Api['admin']['audit']['list']>[0]) =>
      (await list(input)).items.map(({ targetName }) => targetName)
    expect(await found({ actorId: other.id })).toEqual(['needle_7'])
    expect(await found({ action: 'users.disable', actorId: other.id })).toEqual(['needle_7'])
    expect(await found({ action: 'users.enable', actorId: other.id })).toEqual([])
    for (const keyword of ['eedle_7', 'abuse', 'SECOND%', String(id)])
      expect(await found({ keyword })).toContain('needle_7')
    expect(await found({ keyword: 'needl%7' })).toEqual([])
    expect(await found({ actorId: other.id, end: new Date('2020-01-01') })).toEqual([])
    expect(await api.admin.audit.actions()).toContain('users.disable')
  })

  it('shows an administrator nothing about root and nothing about options', async () => {
    const admin = await app.trpc(await app.person({ role: 10 }))
    await api.admin.users.update({ id: root.id, displayName: 'The founder' })
    await api.admin.options.update({ key: 'SystemName', value: 'Hidden' })
    const all = await admin.admin.audit.list({ pageSize: 100 })
    expect(all.items.length).toBeGreaterThan(0)
    expect(all.items.filter((entry) => entry.targetType === 'option')).toEqual([])
    expect(all.items.filter((entry) => entry.targetType === 'user' && entry.targetId === String(root.id))).toEqual([])
    expect(await admin.admin.audit.actions()).not.toContain('options.set')
    const [secret] = (await list({ action: 'options.set' })).items
    await expect(admin.admin.audit.get({ id: secret?.id ?? 0 })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await api.admin.audit.get({ id: secret?.id ?? 0 })).toEqual(secret)
  })
})
