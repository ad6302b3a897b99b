import { expect, test } from 'vitest'
import { type App, startApp } from '#test/support/app.ts'
import { allowUnpriced } from './serve.ts'

const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }

/** Two proxies stand in front, the outer one at an address of its own: whoever calls it is the caller. */
const trusted = '127.0.0.1, 10.9.0.0/16'

async function world(app: App, allowIps: string) {
  await allowUnpriced(app)
  await app.make.channel()
  const user = await app.make.user()
  await app.pool.query(`update users set setting = '{"show_ip_in_logs":true}' where id = $1`, [user.id])
  const token = await app.make.token(user, { allowIps })
  await app.settled()
  return {
    call: async (forwarded: string) =>
      (await app.relay(token, '/v1/chat/completions', body, { headers: { 'x-forwarded-for': forwarded } })).status,
    read: async (forwarded: string) =>
      (await fetch(`${app.url}/api/status`, { headers: { 'x-forwarded-for': forwarded } })).status,
    logged: async () =>
      (await app.pool.query<{ ip: string }>('select client_ip as ip from logs order by id')).rows.map(({ ip }) => ip),
  }
}

test('what a token allows, what a limit counts and what the log says is one address, whatever a caller claims to be', async () => {
  await using app = await startApp({ environment: { TRUST_PROXY: trusted, API_RATE_LIMIT: '2' } })
  const { call, read, logged } = await world(app, '203.0.113.7\n2001:db8::7')
  const claims = [
    '203.0.113.7',
    '198.51.100.1, 203.0.113.7',
    '::ffff:203.0.113.7',
    '2001:DB8:0:0::7',
    '[2001:db8::7]:99',
  ]
  for (const claim of claims) expect([claim, await call(`${claim}, 10.9.1.1`)]).toEqual([claim, 200])
  const addresses = ['203.0.113.7', '203.0.113.7', '203.0.113.7', '2001:db8::7', '2001:db8::7']
  expect(await logged()).toEqual(addresses)
  // The one that is allowed stands left of who really called.
  for (const forged of ['203.0.113.7, 198.51.100.9, 10.9.1.1', '203.0.113.7, 198.51.100.9', '203.0.113.7, unknown', ''])
    expect([forged, await call(forged)]).toEqual([forged, 403])
  expect(await logged()).toEqual(addresses)

  expect(await read('1.1.1.1, 203.0.113.50, 10.9.1.1')).toBe(200)
  expect(await read('2.2.2.2, 203.0.113.50')).toBe(200)
  expect(await read('3.3.3.3, ::ffff:203.0.113.50, 10.9.200.1')).toBe(429)
  expect(await read('203.0.113.50, 203.0.113.51, 10.9.1.1')).toBe(200)
})

test('where no proxy is trusted the peer is the caller, for what a token allows and in the log', async () => {
  await using app = await startApp()
  const { call, logged } = await world(app, '127.0.0.1')
  expect(await call('203.0.113.7')).toBe(200)
  expect(await logged()).toEqual(['127.0.0.1'])
  await using strict = await startApp()
  expect(await (await world(strict, '203.0.113.7')).call('203.0.113.7')).toBe(403)
})

test('the address stands in the log only of those who want it there', async () => {
  await using app = await startApp()
  const { call, logged } = await world(app, '')
  await app.pool.query("update users set setting = '{}'")
  await app.settled()
  expect(await call('')).toBe(200)
  expect(await logged()).toEqual([''])
})
