import { afterAll, expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'

let lostConnections = 0

const app = await startApp()
afterAll(() => app[Symbol.asyncDispose]())
await app.pool.query("insert into setup_records (id, version, initialized_at) values (1, '0', now())")
const root = await app.make.user({ role: 100 })
// Idle connections end by themselves; one that is given back with an error is lost.
app.pool.on('release', (error) => (lostConnections += error instanceof Error ? 1 : 0))

test('a NUL in what a caller sends is the caller’s mistake and costs no connection of the database', async () => {
  const replies = [
    await app.rest(null, 'POST', '/api/user/register', { username: 'abcd', password: 'long enough', aff_code: 'a\0' }),
    await app.rest(root, 'GET', '/api/log/?username=a%00b'),
    await app.rest(root, 'GET', '/api/log/?model_name=%00'),
    await app.rest(root, 'GET', '/api/data/?username=%00'),
  ]
  for (const reply of replies) {
    expect(reply.status, reply.text).toBe(200)
    expect(reply.json).toMatchObject({ success: false, message: expect.stringContaining('请求参数无效') })
  }
  const reset = await app.rest(null, 'POST', '/api/user/reset', { email: 'a\0@example.com', token: 'a\0' })
  expect([reset.status, reset.json?.success]).toEqual([200, false])
  expect((await fetch(`${app.url}/mj/image/%00`)).status).toBeGreaterThanOrEqual(400)
  expect(lostConnections).toBe(0)
})

test('settings whose address holds a NUL or half a character are refused as the wrong address that it is', async () => {
  const user = await app.make.user()
  for (const unstorable of ['\0', '\ud800', '\udc00']) {
    for (const [settings, message] of [
      [{ notify_type: 'webhook', webhook_url: `https://a.example/${unstorable}` }, 'Webhook'],
      [{ notify_type: 'email', notification_email: `a${unstorable}@example.com` }, '邮箱'],
    ] as const) {
      const reply = await app.rest(user, 'PUT', '/api/user/setting', settings)
      expect([reply.status, reply.json]).toEqual([
        200,
        expect.objectContaining({ success: false, message: expect.stringContaining(message) }),
      ])
    }
  }
})

const farDates = ['-271821-04-20', '-004713-01-01', '0000-12-31', '+010000-01-01', '+275760-09-13']
test.each(farDates)('a time as far away as %s is refused wherever one is taken, and no fault of ours', async (day) => {
  const far = new Date(`${day}T00:00:00Z`)
  const [user, site] = [app.trpc(root).user, app.trpc(root).admin]
  const range = { start: far, end: far }
  const cap = await app.make.spendCap({ scope: 'user', id: root.id }, { amount: 5 })
  const code = { name: 'far', quota: 1 }
  const acts = [
    () => user.tokens.create.mutate({ name: 'far', expiresAt: far, isDocumented: true }),
    () => site.redemptions.create.mutate({ ...code, validFrom: far }),
    () => site.redemptions.create.mutate({ ...code, validUntil: far }),
    () => site.redemptions.update.mutate({ ...code, id: 1, validUntil: far }),
    () => site.spendCaps.raise.mutate({ id: cap, raise: { amount: 9, until: far } }),
    () => site.messages.list.query(range),
    () => site.orders.list.query(range),
    () => site.audit.list.query(range),
    () => site.logs.list.query(range),
    () => user.logs.list.query(range),
  ]
  for (const act of acts) {
    await expect(act(), String(act)).rejects.toMatchObject({ data: { httpStatus: 400 } })
  }
  const asked = `start_date=${encodeURIComponent(far.toISOString())}&end_date=2026-01-01`
  const found = await app.rest(root, 'GET', `/api/admin/messages/search?${asked}`)
  expect([found.status, found.json?.success]).toEqual([200, false])
})

test('the first and the last time that is taken are read back as they were', async () => {
  for (const time of ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']) {
    const expiresAt = new Date(time)
    const { id } = await app.trpc(root).user.tokens.create.mutate({ name: 'far', expiresAt, isDocumented: true })
    expect((await app.trpc(root).user.tokens.get.query({ id })).expiresAt).toEqual(expiresAt)
  }
})

test('a NUL in the id a caller names is refused with 400', async () => {
  const token = await app.make.token(await app.make.user())
  await app.settled()
  const authorization = `Bearer sk-${token.key}`
  for (const path of ['/v1/responses/%00', '/mj/task/%00/fetch', '/suno/fetch/%00']) {
    const reply = await fetch(app.url + path, { headers: { authorization } })
    expect([path, reply.status]).toEqual([path, 400])
  }
  const named = { model: 'gpt-4o-mini', input: 'hi', previous_response_id: '\0' }
  expect((await app.relay(token, '/v1/responses', named)).status).toBe(400)
})

test('the test of a channel whose model has no price answers 200 and says so', async () => {
  const channel = await app.make.channel({ models: 'never-priced' })
  const reply = await app.rest(root, 'GET', `/api/channel/test/${channel.id}`)
  expect(reply.status).toBe(200)
  expect(reply.json).toMatchObject({ success: false, time: 0, message: expect.stringContaining('never-priced') })
})
