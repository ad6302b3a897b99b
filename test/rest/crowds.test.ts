import { expect, test } from 'vitest'
import { startApp } from '#test/support/app.ts'

test('who finds no free connection to the database waits for more than ten seconds, and is then answered with a time to retry at', async () => {
  await using app = await startApp({ consoleConnections: 1, refusesAsUsual: ['waitMs'] })
  const user = await app.make.user()
  const taken = await app.pool.connect()
  const start = performance.now()
  try {
    const [rest, trpc] = await Promise.all([
      app.rest(user, 'GET', '/api/user/self'),
      fetch(`${app.url}/trpc/user.account.get`, { headers: { cookie: `session=${user.sessionId}`, origin: app.url } }),
    ])
    expect(performance.now() - start).toBeGreaterThan(10_000)
    expect([rest.status, trpc.status]).toEqual([503, 503])
    expect([rest.headers.get('retry-after'), trpc.headers.get('retry-after')]).toEqual(['5', '5'])
  } finally {
    taken.release()
  }
  expect((await app.rest(user, 'GET', '/api/user/self')).status).toBe(200)
})
