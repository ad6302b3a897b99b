import { expect, test } from 'vitest'
import { channelsOf, setOptions } from '../relay/serve.ts'
import { chat, consumed, say, callerDialects } from '../relay/caller-dialects.ts'
import { startBalancedApp } from '#test/relay/relay-world.ts'

const app = await startBalancedApp()
const channel = async (models: string, group: string) => (await app.make.channel({ models, group })).id
const channels = {
  vip: await channel('only-vip,everywhere', 'vip'),
  plain: await channel('only-default,everywhere', 'default'),
  staff: await channel('only-staff,everywhere', 'staff'),
  both: await channel('text-embedding-3-small', 'vip,default'),
}
const models = ['only-vip', 'only-default', 'only-staff', 'everywhere', 'text-embedding-3-small']
await setOptions(app, {
  GroupRatio: '{"default":1,"vip":3,"staff":7}',
  UserUsableGroups: '{"default":"","vip":"","auto":"自动"}',
  AutoGroups: '["staff","vip","default"]',
  ModelRatio: JSON.stringify(Object.fromEntries(models.map((model) => [model, 10]))),
  CompletionRatio: '{}',
})
const user = await app.make.user()
const token = await app.make.token(user, { group: 'auto' })
await app.services.channels.reload()

const usage = (prompt: number) => `[[usage=${prompt - 10}:10]] hello`
const lastRow = async () => (await consumed(app)).at(-1)

test.each(callerDialects)(
  'in $dialect a call goes to the first group with a channel and is charged by that group',
  async (by) => {
    for (const [model, channel, group, quota] of [
      // 100 × 10 × the group's ratio. The group first in the list is not open to this user.
      ['everywhere', channels.vip, 'vip', 3000],
      ['only-vip', channels.vip, 'vip', 3000],
      ['only-default', channels.plain, 'default', 1000],
    ] as const) {
      expect((await say(app, by, { token, model, text: usage(100) })).status).toBe(200)
      expect(await lastRow()).toMatchObject({ channel_id: channel, group, quota })
    }
  },
)

test('a model that no open group of the list serves is refused, and so is auto where it stands for none', async () => {
  const reply = await say(app, chat, { token, model: 'only-staff' })
  expect(reply.status).toBe(503)
  expect(chat.readError(await reply.json())).toMatchObject({
    code: 'model_not_found',
    message: expect.stringContaining('分组 auto 中没有支持模型 only-staff 的渠道') as string,
  })
  await setOptions(app, { AutoGroups: '["staff"]' })
  const closed = await say(app, chat, { token, model: 'everywhere' })
  expect([closed.status, chat.readError(await closed.json()).message]).toEqual([
    403,
    expect.stringContaining('令牌所属分组 auto 不可用'),
  ])
  await setOptions(app, { AutoGroups: '["staff","vip","default"]' })
})

test('whoever is in a group of the list may be led there', async () => {
  const member = await app.make.token(await app.make.user({ group: 'staff' }), { group: 'auto' })
  expect((await say(app, chat, { token: member, model: 'everywhere', text: usage(100) })).status).toBe(200)
  expect(await lastRow()).toMatchObject({ channel_id: channels.staff, group: 'staff', quota: 7000 })
})

test('a retry stays in the group that is charged', async () => {
  const failing = await app.make.channel({
    models: 'shaky',
    group: 'vip',
    priority: 5,
    baseUrl: app.upstream.withDirectives('status=500'),
  })
  const spare = await app.make.channel({ models: 'shaky', group: 'vip' })
  await app.make.channel({ models: 'shaky', group: 'default', priority: 9 })
  await setOptions(app, { SelfUseModeEnabled: 'true' })
  await app.services.channels.reload()
  expect((await say(app, chat, { token, model: 'shaky' })).status).toBe(200)
  const row = await lastRow()
  expect(row).toMatchObject({ channel_id: spare.id, group: 'vip' })
  expect(channelsOf(row)).toEqual([failing.id, spare.id])
  await setOptions(app, { SelfUseModeEnabled: 'false' })
})

test('lists, explanations, other operations, the playground and the list of groups agree', async () => {
  const get = async (path: string) => {
    const reply = await fetch(app.url + path, { headers: { authorization: `Bearer sk-${token.key}` } })
    return (await reply.json()) as { data: { id: string }[] }
  }
  const listed = (await get('/v1/models')).data.map(({ id }) => id)
  expect(listed).toEqual(['everywhere', 'only-default', 'only-vip', 'text-embedding-3-small'])
  const explained = await app.relay(token, '/v1/explain', chat.body('only-default', 'hello', false))
  expect(await explained.json()).toMatchObject({
    group: 'default',
    candidates: [{ channel_id: channels.plain, probability: 1 }],
  })
  const embedded = await app.relay(token, '/v1/embeddings', { model: 'text-embedding-3-small', input: 'hello' })
  expect(embedded.status).toBe(200)
  expect(await lastRow()).toMatchObject({ channel_id: channels.both, group: 'vip' })
  const played = await fetch(`${app.url}/pg/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      cookie: `session=${user.sessionId}`,
      'x-user-id': String(user.id),
      origin: app.url,
    },
    body: JSON.stringify({ ...chat.body('only-default', usage(100), false), group: 'auto' }),
  })
  expect(played.status).toBe(200)
  expect(await lastRow()).toMatchObject({ group: 'default', quota: 1000, token_id: 0 })
  const groups = await app.rest(user, 'GET', '/api/user/self/groups')
  expect(groups.json).toMatchObject({ data: { auto: { ratio: 3, desc: '自动' } } })
  const { groups: priced } = await app.trpc(user).public.models.pricing.query()
  expect(priced.map(({ name }) => name)).toEqual(['default', 'vip'])
  const created = await app.rest(user, 'POST', '/api/token/', {
    name: 'by itself',
    group: 'auto',
    unlimited_quota: true,
  })
  expect(created.json).toMatchObject({ success: true })
})

test('a pinned channel is charged by the group of the list that has it', async () => {
  const admin = await app.make.user({ role: 10 })
  const pinned = await app.make.token(admin, { group: 'auto' })
  await say(app, chat, { token: pinned, key: `${pinned.key}-${channels.plain}`, model: 'everywhere', text: usage(100) })
  expect(await lastRow()).toMatchObject({ channel_id: channels.plain, group: 'default', quota: 1000 })
})
