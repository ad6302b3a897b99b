import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApp } from '#test/support/app.ts'
import type { TestUser } from '#test/support/factories.ts'
import { callRest } from './callers.ts'
import { type SeededApp, startSeededApp } from './seeded-app.ts'

// What clients of the documented paths break on: each of it is asked of the whole product in the way they ask.

let world: SeededApp
let root: TestUser
let admin: TestUser
let user: TestUser
beforeAll(async () => {
  world = await startSeededApp()
  ;({ root, admin, user } = world.people)
})
afterAll(() => world[Symbol.asyncDispose]())

type Row = Record<string, unknown> & { id: number }
type Body = { success?: boolean; message?: string; data?: unknown } & Record<string, unknown>

async function ask(who: TestUser | null, key: string, query: Record<string, string> = {}, body?: unknown) {
  const { status, text } = await callRest(world.app, who, { key, query, body })
  return { status, text, body: (text.startsWith('{') ? JSON.parse(text) : {}) as Body }
}
const rowsOf = async (who: TestUser, key: string, query: Record<string, string> = {}) => {
  const { data } = (await ask(who, key, query)).body
  return (Array.isArray(data) ? data : (data as { items: Row[] }).items) as Row[]
}
const everyHour = { start_timestamp: '1', end_timestamp: '9999999999' }

describe('statuses', () => {
  it('are 401 without a login or with one that is over, and 200 without success for a rank or a rule', async () => {
    const gone = await world.app.make.user()
    await world.app.pool.query("update sessions set expires_at = now() - interval '1 second' where user_id = $1", [
      gone.id,
    ])
    for (const who of [null, gone])
      expect(await ask(who, 'GET /api/user/self')).toMatchObject({ status: 401, body: { success: false } })
    const refused = { status: 200, body: { success: false } }
    expect(await ask(user, 'GET /api/channel/')).toMatchObject(refused)
    expect(await ask(admin, 'GET /api/option/')).toMatchObject(refused)
    expect(await ask(user, 'PUT /api/user/self', {}, { password: 'short' })).toMatchObject(refused)
  })

  it('are 429 without a body, and kept by no cache, once an address has asked too often, billing of tokens included', async () => {
    await using limited = await startApp({ environment: { API_RATE_LIMIT: '3' }, on: world.on })
    for (const path of ['/api/status', '/dashboard/billing/usage', '/api/notice'])
      expect([path, (await fetch(limited.url + path)).status]).not.toEqual([path, 429])
    for (const path of [
      '/api/status',
      '/api/none',
      '/trpc/auth.whoami',
      '/dashboard/billing/usage',
      '/dashboard/billing/subscription',
    ]) {
      const reply = await fetch(limited.url + path)
      expect([path, reply.status, await reply.text()]).toEqual([path, 429, ''])
      if (/^\/(api|trpc)/.test(path)) expect(reply.headers.get('cache-control')).toBe('no-store')
    }
    // What programs call has limits of its own.
    expect((await fetch(`${limited.url}/v1/models`)).status).toBe(401)
  })
})

describe('the console’s own calls', () => {
  const cachingOf = async (path: string, init: RequestInit = {}) => {
    const { status, headers } = await fetch(world.app.url + path, init)
    return [status, headers.get('cache-control')]
  }
  const calling = (path: string, signedIn: TestUser) =>
    cachingOf(`/trpc/${path}`, {
      headers: { cookie: `session=${signedIn.sessionId}`, 'x-user-id': String(signedIn.id) },
    })

  it('are answered for no cache to keep, whole, in part or not at all', async () => {
    expect(await calling('user.account.get', user)).toEqual([200, 'no-store'])
    expect(await calling('user.account.get,user.none?batch=1', user)).toEqual([207, 'no-store'])
    expect(await calling('admin.options.list', user)).toEqual([403, 'no-store'])
    expect(await cachingOf('/trpc/user.account.get')).toEqual([401, 'no-store'])
    expect(await cachingOf('/trpc/user.none')).toEqual([404, 'no-store'])
    expect(await cachingOf('/trpc/%zz')).toEqual([400, 'no-store'])
    expect(await cachingOf('/trpc/auth.login', { method: 'POST', body: '{' })).toEqual([expect.any(Number), 'no-store'])
  })
})

it('every answer has a number of its own to name it by', async () => {
  const paths = ['/api/status', '/api/none', '/dashboard/billing/usage', '/v1/dashboard/billing/subscription']
  const seen = new Set<string | null>()
  for (const path of [...paths, '/mj/image/none', '/v1/models', '/v1/none']) {
    const id = (await fetch(world.app.url + path)).headers.get('x-request-id')
    expect([path, id]).toEqual([path, expect.stringMatching(/^\w{20,}$/)])
    seen.add(id)
  }
  expect(seen.size).toBe(paths.length + 3)
})

it('a login is a session of thirty days together with the id of its user, under any of its names', async () => {
  const asked = (headers: Record<string, string>) =>
    fetch(`${world.app.url}/api/user/self`, { headers: { cookie: `session=${user.sessionId}`, ...headers } })
  for (const name of ['veloera-user', 'new-api-user', 'x-user-id'])
    expect((await asked({ [name]: String(user.id) })).status).toBe(200)
  for (const value of [undefined, 'x', '-1', String(admin.id)])
    expect((await asked(value === undefined ? {} : { 'veloera-user': value })).status).toBe(401)
  const reply = await fetch(`${world.app.url}/api/user/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: world.app.url },
    body: JSON.stringify({ username: 'xiaochen', password: 'demo-password' }),
  })
  const [cookie] = reply.headers.getSetCookie()
  expect(cookie).toMatch(/^session=[\w-]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/)
})

describe('pages', () => {
  it.each([
    ['GET /api/user/', 100],
    ['GET /api/redemption/', 1000],
    ['GET /api/log/', 1000],
    ['GET /api/log/self', 100],
    ['GET /api/admin/messages', 100],
  ])(
    'of %s begin at 1, say which they are, and have at most %i rows, ten where nobody says how many',
    async (key, most) => {
      const pageOf = async (query: Record<string, string>) => {
        const { page, page_size: size, items } = (await ask(admin, key, query)).body.data as Record<string, Row[]>
        expect(items?.length).toBeLessThanOrEqual(Number(size))
        return [page, size]
      }
      for (const query of [{}, { p: '0' }, { p: '-3' }, { p: 'NaN', page_size: '' }])
        expect(await pageOf(query as Record<string, string>)).toEqual([1, 10])
      expect(await pageOf({ p: '2', page_size: '3' })).toEqual([2, 3])
      expect(await pageOf({ page_size: '1000000' })).toEqual([1, most])
    },
  )

  it.each([
    ['GET /api/channel/', 'root', { page_size: '3' }],
    ['GET /api/token/', 'root', { size: '1' }],
    ['GET /api/mj/', 'root', {}],
    ['GET /api/task/', 'root', {}],
  ] as const)('of %s are bare lists that begin at 0', async (key, _who, query) => {
    const first = await rowsOf(root, key, { ...query, p: '0' })
    const second = await rowsOf(root, key, { ...query, p: '1' })
    expect(first.length).toBeGreaterThan(0)
    expect(first).toEqual(await rowsOf(root, key, query))
    const shown = new Set(first.map(({ id }) => id))
    expect(second.filter(({ id }) => shown.has(id))).toEqual([])
  })

  it('are none of options, groups and hours of use, which are bare lists', async () => {
    for (const [who, key] of [
      [root, 'GET /api/option/'],
      [admin, 'GET /api/group/'],
      [admin, 'GET /api/data/'],
      [user, 'GET /api/mj/self'],
      [user, 'GET /api/task/self'],
      [admin, 'GET /api/channel/search'],
      [user, 'GET /api/token/search'],
    ] as const)
      expect([key, Array.isArray((await ask(who, key, everyHour)).body.data)]).toEqual([key, true])
  })
})

it('users who are there have DeletedAt, which is null, and those who left have a time', async () => {
  const left = await world.app.make.user()
  await world.app.pool.query('update users set deleted_at = now() where id = $1', [left.id])
  const rows = await rowsOf(admin, 'GET /api/user/', { page_size: '100' })
  for (const row of rows) {
    expect(row).toHaveProperty('DeletedAt')
    expect(row['DeletedAt'] === null).toBe(row.id !== left.id)
  }
  expect((await ask(user, 'GET /api/user/self')).body.data).toMatchObject({ DeletedAt: null })
})

it('changes of a status alone, and quick edits, answer with the new status', async () => {
  const owner = await world.app.make.user({ role: 10 })
  const { id } = await world.app.make.token(owner)
  const only = { status_only: 'true' }
  for (const status of [2, 1])
    expect((await ask(owner, 'PUT /api/token/', only, { id, status })).body.data).toMatchObject({ id, status })
  const [code] = await rowsOf(admin, 'GET /api/redemption/', { page_size: '100' }).then((rows) =>
    rows.filter(({ status }) => status === 1),
  )
  for (const status of [2, 1])
    expect((await ask(admin, 'PUT /api/redemption/', only, { id: code?.id, status })).body.data).toMatchObject({
      status,
    })
  const channel = await world.app.make.channel({ models: 'quickly-edited' })
  const edit = (fields: object) => ask(admin, 'PUT /api/channel/', {}, { id: channel.id, ...fields })
  expect((await edit({ status: 2 })).body.data).toMatchObject({ status: 2 })
  for (const fields of [{ priority: 3 }, { weight: 4 }, { models: 'edited' }])
    expect((await edit(fields)).body.data).toMatchObject({ status: 2, ...fields })
})

it('acts on a user answer with status and role, both', async () => {
  const { id } = await world.app.make.user()
  for (const [action, status, role] of [
    ['disable', 2, 1],
    ['enable', 1, 1],
    ['promote', 1, 10],
    ['demote', 1, 1],
    ['delete', 1, 1],
  ])
    expect((await ask(root, 'POST /api/user/manage', {}, { id, action })).body.data).toMatchObject({ status, role })
})

it('time, balance and what a price list is read with stand beside success, not below data', async () => {
  const { id } = await world.app.make.channel({ models: 'gpt-4o-mini' })
  await world.app.settled()
  const tested = (await callRest(world.app, admin, { key: 'GET /api/channel/test/:id', id })).text
  expect(JSON.parse(tested)).toEqual({ success: true, message: '', time: expect.any(Number) as number })
  const prices = (await ask(null, 'GET /api/pricing')).body
  expect(Object.keys(prices).toSorted()).toEqual(['data', 'group_ratio', 'message', 'success', 'usable_group'])
})

it('paths of payment are read by message: an amount as a text, a form as texts, an error as the data', async () => {
  const order = { amount: 10, payment_method: 'zfb' }
  expect((await ask(user, 'POST /api/user/amount', {}, { amount: 10.9 })).body).toEqual({
    message: 'success',
    data: '73.00',
  })
  const pay = (await ask(user, 'POST /api/user/pay', {}, order)).body
  expect(Object.keys(pay).toSorted()).toEqual(['data', 'message', 'url'])
  expect(pay).toMatchObject({ message: 'success', url: expect.stringMatching(/\/submit\.php$/) as string })
  const form = Object.entries(Object(pay.data) as Record<string, unknown>)
  expect(form.map(([name]) => name).toSorted()).toEqual(
    'device,money,name,notify_url,out_trade_no,pid,return_url,sign,sign_type,type'.split(','),
  )
  expect(form.filter(([, value]) => typeof value !== 'string')).toEqual([])
  for (const key of ['POST /api/user/amount', 'POST /api/user/pay'])
    expect((await ask(user, key, {}, { ...order, amount: 0 })).body).toEqual({
      message: 'error',
      data: expect.stringMatching(/./) as string,
    })
})

it('what a log says of a call is JSON or nothing, with a price of -1 where ratios priced it, and channels as texts', async () => {
  const rows = await rowsOf(admin, 'GET /api/log/', { page_size: '100', type: '2' })
  const facts = rows.map(({ other }) => JSON.parse(String(other)) as Record<string, unknown>)
  expect(facts.some((one) => one['model_price'] === -1)).toBe(true)
  for (const one of facts) {
    expect(typeof one['model_price']).toBe('number')
    const tried = (one['admin_info'] as { use_channel: unknown[] }).use_channel
    expect(tried.every((channel) => typeof channel === 'string' && /^\d+$/.test(channel))).toBe(true)
  }
  // A gift at the registration.
  const [newest] = await rowsOf(user, 'GET /api/log/self', { type: '4' })
  expect(newest).toMatchObject({ type: 4, other: '' })
})

it('pages of the site are texts, also when nobody wrote them, and the status has no null', async () => {
  await world.app.pool.query("delete from options where key in ('Notice', 'About', 'HomePageContent')")
  for (const name of ['notice', 'about', 'home_page_content'])
    expect(typeof (await ask(null, `GET /api/${name}`)).body.data).toBe('string')
  const status = (await ask(null, 'GET /api/status')).body.data as Record<string, unknown>
  expect(Object.entries(status).filter(([, value]) => value === null || value === undefined)).toEqual([])
  expect(status['chats']).toEqual(expect.arrayContaining([{ 'Cherry Studio': expect.any(String) as string }]))
})

it('drawings count in milliseconds, music in seconds, and progress is a percentage as a text', async () => {
  const drawings = await rowsOf(admin, 'GET /api/mj/')
  const songs = await rowsOf(admin, 'GET /api/task/')
  for (const [rows, scale] of [
    [drawings, 1],
    [songs, 1000],
  ] as const) {
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) {
      expect(Math.abs(Number(row['submit_time']) * scale - Date.now())).toBeLessThan(60 * 86_400_000)
      expect(row['progress']).toMatch(/^\d{1,3}%$/)
    }
  }
})

it('keys of tokens come without sk-, those of one channel whole to root, and lists of names as one text', async () => {
  for (const row of await rowsOf(root, 'GET /api/token/')) {
    expect(row['key']).toMatch(/^[0-9A-Za-z]{48}$/)
    expect(typeof row['model_limits']).toBe('string')
  }
  const channel = await world.app.make.channel({
    key: 'sk-one,sk-two',
    models: 'a-model,b-model',
    group: 'default,vip',
  })
  const shown = async (who: TestUser) =>
    JSON.parse((await callRest(world.app, who, { key: 'GET /api/channel/:id', id: channel.id })).text).data
  expect(await shown(root)).toMatchObject({ key: 'sk-one,sk-two', models: 'a-model,b-model', group: 'default,vip' })
  expect(await shown(admin)).toMatchObject({ key: '' })
})

describe('options', () => {
  const parsed = [
    'ModelRatio',
    'ModelPrice',
    'CompletionRatio',
    'CacheRatio',
    'GroupRatio',
    'UserUsableGroups',
    'TopupGroupRatio',
    'Chats',
    'gemini.safety_settings',
    'gemini.version_settings',
    'gemini.supported_imagine_models',
    'gemini.models_supported_thinking_budget',
    'claude.model_headers_settings',
    'claude.default_max_tokens',
  ]
  const all = async () =>
    new Map(
      ((await ask(root, 'GET /api/option/')).body.data as { key: string; value: unknown }[]).map(({ key, value }) => [
        key,
        value,
      ]),
    )

  it('are texts, those that clients parse always JSON, and none of them a secret', async () => {
    const options = await all()
    expect([...options].filter(([, value]) => typeof value !== 'string')).toEqual([])
    for (const key of parsed) {
      expect([key, JSON.parse(String(options.get(key)))]).toEqual([key, expect.anything()])
      await ask(root, 'PUT /api/option/', {}, { key, value: '' })
      expect(() => JSON.parse(String(options.get(key)))).not.toThrow()
    }
    const emptied = await all()
    for (const key of parsed) expect(() => JSON.parse(String(emptied.get(key))), key).not.toThrow()
    expect([...options.keys()].filter((key) => /(Token|Secret|Key|_secret)$/.test(key))).toEqual([])
  })

  it('take numbers and switches as values, and go back to the built-in ratios by the documented misspelling', async () => {
    await ask(root, 'PUT /api/option/', {}, { key: 'RetryTimes', value: 4 })
    await ask(root, 'PUT /api/option/', {}, { key: 'CheckInEnabled', value: true })
    await ask(root, 'PUT /api/option/', {}, { key: 'ModelRatio', value: '{"only-this":1}' })
    const options = await all()
    expect([options.get('RetryTimes'), options.get('CheckInEnabled')]).toEqual(['4', 'true'])
    expect((await ask(root, 'POST /api/option/rest_model_ratio')).body).toMatchObject({ success: true })
    const ratios = JSON.parse(String((await all()).get('ModelRatio'))) as Record<string, number>
    expect(ratios).toMatchObject({ 'gpt-4o': 1.25 })
    expect(ratios).not.toHaveProperty('only-this')
  })
})

it('every price has a list of groups and a number for what is written', async () => {
  const prices = (await ask(user, 'GET /api/pricing')).body.data as Record<string, unknown>[]
  expect(new Set(prices.map((price) => price['quota_type']))).toEqual(new Set([0, 1]))
  for (const price of prices)
    expect([Array.isArray(price['enable_groups']), typeof price['completion_ratio']]).toEqual([true, 'number'])
})
