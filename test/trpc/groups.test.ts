import pg from 'pg'
import { expect, it } from 'vitest'
import { optionKeys } from '#core/options/registry/index.ts'
import { startFileConsole } from '#test/support/console-app.ts'
import { untilSomebodyWaits } from '#test/support/processes.ts'

const app = await startFileConsole()
const root = await app.person({ role: 100 })

const rename = async (from: string, to: string, person = root) =>
  (await app.trpc(person)).admin.groups.rename({ from, to })
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: { cause?: { code?: string } }) => error.cause?.code ?? null,
  )

const everywhere = {
  GroupRatio: '{"default":1,"old":0.5,"older":2}',
  UserUsableGroups: '{"default":"one","old":"two"}',
  TopupGroupRatio: '{"old":1.1}',
  GroupGroupRatio: '{"old":{"default":0.9,"old":0.4},"default":{"old":0.6}}',
  ModelRequestRateLimitGroup: '{"old":[10,5]}',
  AutoGroups: '["old","default"]',
  'global.rate_limit_exempt_group': 'old',
  'global.safe_check_exempt_group': 'old',
}

it('carries options, users, tokens, channels, their index and scheduled changes along, in one commit', async () => {
  await app.setOptions(everywhere)
  const member = await app.person({ group: 'old' })
  const bystander = await app.person({ group: 'older' })
  const admin = await app.trpc(root)
  const { id } = await admin.admin.channels.create({
    name: 'one',
    type: 1,
    key: 'sk-a',
    models: ['gpt-4o'],
    groups: ['default', 'old', 'older'],
  })
  await (await app.trpc(member)).user.tokens.create({ name: 'mine', group: 'old' })
  await admin.admin.prices.schedule({
    change: { groupRatios: { old: 0.8 } },
    effectiveAt: new Date(Date.now() + 3_600_000),
  })
  expect(await rename('old', 'new')).toMatchObject({ users: 1, tokens: 1, channels: 1 })
  const stored = Object.fromEntries(
    ((await app.sql('select key, value from options')) as { key: string; value: string }[]).map(({ key, value }) => [
      key,
      value,
    ]),
  )
  for (const [key, text] of Object.entries(everywhere)) {
    const wanted = text.replaceAll('"old"', '"new"').replace(/^old$/, 'new')
    const parse = (value: string | undefined) =>
      value?.startsWith('{') || value?.startsWith('[') ? JSON.parse(value) : value
    expect([key, parse(stored[key])]).toEqual([key, parse(wanted)])
  }
  expect(Object.keys(app.services.options.get('GroupRatio'))).toEqual(['default', 'new', 'older'])
  expect(
    await app.sql('select "group" from users where id in ($1, $2) order by id', [member.id, bystander.id]),
  ).toEqual([{ group: 'new' }, { group: 'older' }])
  expect(await app.sql('select "group" from tokens')).toEqual([{ group: 'new' }])
  expect(await app.sql('select "group" from channels where id = $1', [id])).toEqual([{ group: 'default,new,older' }])
  expect(await app.sql('select "group" from abilities where channel_id = $1 order by 1', [id])).toEqual([
    { group: 'default' },
    { group: 'new' },
    { group: 'older' },
  ])
  expect(await app.sql("select change -> 'groupRatios' as ratios from price_changes")).toEqual([
    { ratios: { new: 0.8 } },
  ])
  expect(await app.sql(`select target_id from audit_entries where action = 'groups.rename'`)).toEqual([
    { target_id: 'new' },
  ])
})

it('knows every option that names groups', () => {
  const about = optionKeys.filter((key) => /group/i.test(key))
  expect(about.filter((key) => !Object.hasOwn(everywhere, key))).toEqual([])
})

it('is refused for names that are taken, unknown or the system’s own, and to everybody but root', async () => {
  await app.setOptions({ GroupRatio: '{"default":1,"a":1,"b":1}' })
  expect(await refusal(rename('a', 'b'))).toBe('group.name_taken')
  expect(await refusal(rename('c', 'd'))).toBe('group.unknown')
  expect(await refusal(rename('default', 'd'))).toBe('group.fixed')
  expect(await refusal(rename('a', 'auto'))).toBe('group.name_taken')
  expect(await refusal(rename('a', 'd', await app.person({ role: 10 })))).toBe('session.role_insufficient')
  expect(Object.keys(app.services.options.get('GroupRatio'))).toEqual(['default', 'a', 'b'])
})

it('leaves no half of it behind when two people rename at once', async () => {
  await app.setOptions({ GroupRatio: '{"default":1,"a":1}' })
  const member = await app.person({ group: 'a' })
  const results = await Promise.all(['x', 'y', 'z'].map((to) => refusal(rename('a', to))))
  expect(results.filter((code) => code === null)).toHaveLength(1)
  const winner = ['x', 'y', 'z'][results.indexOf(null)]
  expect(await app.sql('select "group" from users where id = $1', [member.id])).toEqual([{ group: winner }])
  await app.services.options.reload()
  expect(Object.keys(app.services.options.get('GroupRatio'))).toEqual(['default', winner])
})

it('are named to administrators in order, and described to whoever may use them', async () => {
  await app.sql('delete from options')
  await app.setOptions({
    GroupRatio: '{"vip":0.8,"default":1,"staff":0.5}',
    UserUsableGroups: '{"default":"默认分组","vip":"VIP","ghost":"none"}',
  })
  expect((await (await app.signedIn(root)).get('/api/group/')).data).toEqual(['default', 'staff', 'vip'])
  const open = { default: { ratio: 1, desc: '默认分组' }, vip: { ratio: 0.8, desc: 'VIP' } }
  expect((await app.browser().get('/api/user/groups')).data).toEqual(open)
  const staff = await app.signedIn(await app.person({ group: 'staff' }))
  const own = { ...open, staff: { ratio: 0.5, desc: '用户分组' } }
  expect((await staff.get('/api/user/self/groups')).data).toEqual(own)
  expect((await staff.get('/api/user/groups')).data).toEqual(own)
  expect((await app.browser().get('/api/user/self/groups')).status).toBe(401)
})

it('renames a group that only further options name, never onto one that is there', async () => {
  await app.setOptions({
    GroupRatio: '{"default":1,"a":1}',
    UserUsableGroups: '{"default":"one","only":"usable"}',
    TopupGroupRatio: '{"a":1.1,"b":2}',
    ModelRequestRateLimitGroup: '{"only":[1,1],"gone":[9,9]}',
  })
  expect(await refusal(rename('a', 'b'))).toBe('group.name_taken')
  expect(await refusal(rename('nobody', 'c'))).toBe('group.unknown')
  await rename('only', 'gone')
  expect(app.services.options.get('UserUsableGroups')).toEqual({ default: 'one', gone: 'usable' })
  expect(app.services.options.get('ModelRequestRateLimitGroup')).toEqual({ gone: [1, 1] })
})

it('waits for a charge of members, and never in a circle with it', async () => {
  await app.setOptions({ GroupRatio: '{"default":1,"crowd":1}' })
  const [first, second] = [await app.person({ group: 'crowd' }), await app.person({ group: 'crowd' })]
  // Whose row was written last stands last in the table.
  await app.sql('update users set display_name = $2 where id = $1', [first.id, 'written again'])
  const charge = new pg.Client(app.connection)
  await charge.connect()
  try {
    const take = (id: number) => charge.query('select 1 from users where id = $1 for no key update', [id])
    await charge.query('begin')
    await take(first.id)
    const renamed = rename('crowd', 'people')
    await untilSomebodyWaits(app.services.database.pool)
    await take(second.id)
    await charge.query('commit')
    expect(await renamed).toMatchObject({ users: 2 })
  } finally {
    await charge.end()
  }
})
