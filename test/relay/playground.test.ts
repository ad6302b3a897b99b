import { expect, test } from 'vitest'
import type { TestUser } from '#test/support/factories.ts'
import { serve, setOptions } from './serve.ts'
import { chat, consumed } from './caller-dialects.ts'
import { startBalancedApp } from './relay-world.ts'

const app = await startBalancedApp()
await setOptions(app, {
  SelfUseModeEnabled: 'true',
  GroupRatio: '{"default":1,"vip":2,"svip":1}',
  UserUsableGroups: '{"default":"","vip":""}',
})
const user = await app.make.user()

type Input = { as?: TestUser; headers?: Record<string, string> }

const play = (body: unknown, { as = user, headers = {} }: Input = {}) =>
  fetch(`${app.url}/pg/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      cookie: `session=${as.sessionId}`,
      'x-user-id': String(as.id),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const refusal = async (reply: Promise<Response>) => {
  const answer = await reply
  const { message, code } = chat.readError(await answer.json())
  return { status: answer.status, code, message: message.replace(/ \(request id.*/, '') }
}

test('a signed-in user chats at the ratio of the chosen group, and only the user pays', async () => {
  const { model } = await serve(app, { group: 'default,vip', does: 'usage=100:20' })
  for (const [group, ratio] of [
    ['', 1],
    ['vip', 2],
  ] as const) {
    for (const stream of [false, true]) {
      const reply = await play({ ...chat.body(model, 'hello', stream), group, max_tokens: 0 })
      expect(reply.status).toBe(200)
      expect(await reply.text()).toContain('hello')
      const row = (await consumed(app)).at(-1)
      // 120 × 37.5 × the ratio
      expect(row).toMatchObject({ quota: 4500 * ratio, token_id: 0, user_id: user.id })
      expect(row).toMatchObject({ token_name: `playground-${group || 'default'}`, group: group || 'default' })
    }
  }
  const sent = app.upstream.requests.map(({ body }) => body as Record<string, unknown>)
  for (const body of sent) {
    expect(body).not.toHaveProperty('group')
    expect(body).not.toHaveProperty('max_tokens')
  }
})

test('who signs in at a proxy in front, whose headers the browser sends along, is served', async () => {
  const { model } = await serve(app, {})
  const headers = {
    authorization: `Basic ${Buffer.from('a:b').toString('base64')}`,
    'x-user-id': '',
    'new-api-user': String(user.id),
  }
  expect((await play(chat.body(model, 'hello', false), { headers })).status).toBe(200)
})

test('prefixed names work', async () => {
  const { model } = await serve(app, { modelPrefix: 'east/' })
  expect((await play(chat.body(`east/${model}`, 'hello', false))).status).toBe(200)
})

test('what is not allowed is refused with the documented message', async () => {
  const { model } = await serve(app, {})
  const body = chat.body(model, 'hello', false)
  const before = await consumed(app)
  expect(await refusal(play(body, { headers: { authorization: `Bearer ${user.accessToken}` } }))).toEqual({
    status: 400,
    code: 'access_token_not_supported',
    message: '这里不能使用系统访问令牌',
  })
  expect(await refusal(play({ ...body, model: '' }))).toEqual({
    status: 400,
    code: 'model_required',
    message: '请选择模型',
  })
  expect(await refusal(play({ ...body, group: 'svip' }))).toEqual({
    status: 403,
    code: 'group_not_allowed',
    message: '无权使用该分组',
  })
  expect(await refusal(play({ ...body, group: '__proto__' }))).toMatchObject({ status: 403 })
  expect(await refusal(play({ ...body, model: 'no-such-model' }))).toEqual({
    status: 500,
    code: 'get_playground_channel_failed',
    message: '分组 default 中没有支持模型 no-such-model 的渠道',
  })
  expect(await refusal(play({ model }))).toMatchObject({ status: 400, message: 'messages is required' })
  expect((await refusal(play('{'))).status).toBe(400)
  expect(await consumed(app)).toEqual(before)
})

test('a caller without a session, a foreign page and a banned user are refused', async () => {
  const { model } = await serve(app, {})
  const body = chat.body(model, 'hello', false)
  const before = await consumed(app)
  expect((await play(body, { headers: { cookie: '' } })).status).toBe(401)
  expect((await play(body, { headers: { cookie: 'session=forged' } })).status).toBe(401)
  expect((await play(body, { headers: { 'x-user-id': '' } })).status).toBe(401)
  expect((await play(body, { headers: { 'x-user-id': String(user.id + 1) } })).status).toBe(401)
  const banned = await app.make.user()
  await app.pool.query('update users set status = 2 where id = $1', [banned.id])
  expect((await play(body, { as: banned })).status).toBe(403)
  expect(await consumed(app)).toEqual(before)
})

test('a user without money is refused before any upstream is asked', async () => {
  const { model } = await serve(app, {})
  const asked = app.upstream.total
  const poor = await app.make.user({ quota: 0 })
  expect(await refusal(play(chat.body(model, 'hello', false), { as: poor }))).toMatchObject({
    status: 403,
    code: 'insufficient_user_quota',
  })
  expect(app.upstream.total).toBe(asked)
})
