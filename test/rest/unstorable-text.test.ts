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
