import { expect, test } from 'vitest'
import { serviceAccount } from '#test/simulator/vertex/account.ts'
import { chat, consumed, say } from './caller-dialects.ts'
import { startRelay } from './relay-world.ts'

const { app, token } = await startRelay({ options: { RetryTimes: '0' } })
await app.make.channel({
  type: 41,
  models: 'gemini-2.5-flash',
  other: 'us-central1',
  key: serviceAccount(app.upstream.url),
})
await app.settled()

const ask = (text: string) => say(app, chat, { token, model: 'gemini-2.5-flash', text })
const logins = () => app.upstream.requests.filter(({ path }) => path === '/token').length

test('a cached access token that the upstream has revoked is exchanged again, without a failure for the caller', async () => {
  expect((await ask('hello')).status).toBe(200)
  expect((await ask('hello')).status).toBe(200)
  expect(logins()).toBe(1)
  expect((await ask('[[status=401,fail=1]] hello')).status).toBe(200)
  expect(logins()).toBe(2)
  expect(await consumed(app)).toHaveLength(3)
})

test('ten callers at once find it revoked, are all served, and share one new exchange', async () => {
  const before = logins()
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, index) => ask(`[[status=401,fail=1,message=w${index}]] hello`)),
  )
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  expect(logins() - before).toBeLessThan(10)
})

test('an access token refused right after its exchange counts as a failure of the key', async () => {
  const before = logins()
  expect((await ask('[[status=401]] hello')).status).toBe(401)
  expect(logins() - before).toBe(1)
})
