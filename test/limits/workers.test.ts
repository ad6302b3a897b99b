import { afterAll, describe, expect, test } from 'vitest'
import { callOnce } from '../faults/traffic.ts'
import { createWorld } from '../faults/world.ts'
import { freePort, startProduct, until } from '../support/processes.ts'

const world = await createWorld()
await world.make.channel()
await world.make.option('ModelRequestRateLimitEnabled', 'true')
await world.make.option('ModelRequestRateLimitDurationMinutes', '10')
await world.make.option('ModelRequestRateLimitCount', '100')
const product = await startProduct({ isPatient: true, environment: { ...world.environment, WORKERS: '2' } })
afterAll(async () => {
  await product.killAll()
  await world[Symbol.asyncDispose]()
})

test('limits of 100 let exactly 100 of 200 parallel requests through on two workers', async () => {
  const token = await world.make.token(await world.make.user())
  const limited = await world.make.token(await world.make.user(), {
    rateLimit: { period: 600, count: 0, success: 100 },
  })
  for (const caller of [token, limited]) {
    const calls = Array.from({ length: 200 }, () => callOnce(product.url, caller, { kind: 'plain', text: 'hello' }))
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(100)
    expect(statuses.filter((status) => status === 429)).toHaveLength(100)
  }
})

test('whichever worker is asked for the metrics, those of all are added up', async () => {
  const token = await world.make.token(await world.make.user())
  const charged = async (): Promise<number> => {
    const text = await (await fetch(`${product.url}/metrics`, { headers: { connection: 'close' } })).text()
    const lines = text.split('\n').filter((line) => line.startsWith('gateway_calls_total{'))
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }
  const calls = Array.from({ length: 30 }, () => callOnce(product.url, token, { kind: 'plain', text: 'hello' }))
  expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200]))
  const { rows } = await world.pool.query('select count(*)::int as calls from logs where type = 2')
  // A worker counts a call when it has been answered; one that is late with its figures is left out.
  await expect
    .poll(async () => new Set(await Promise.all(Array.from({ length: 4 }, charged))))
    .toEqual(new Set([rows[0].calls]))
})

describe('of forty logins at once ten are tried, by whichever worker', () => {
  const triedAt = async (url: string) => {
    const login = () =>
      fetch(`${url}/api/user/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ username: 'nobody', password: 'wrong password' }),
      })
    const statuses = (await Promise.all(Array.from({ length: 40 }, login))).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    return statuses.filter((status) => status === 200).length
  }

  test('without Redis', async () => {
    expect(await triedAt(product.url)).toBe(10)
  })

  test('while Redis is away', async () => {
    const REDIS_URL = `redis://127.0.0.1:${await freePort()}`
    const alone = await startProduct({
      isPatient: true,
      environment: { ...world.environment, WORKERS: '2', REDIS_URL },
    })
    try {
      expect(await triedAt(alone.url)).toBe(10)
    } finally {
      await alone.killAll()
    }
  })
})

test('a banned user’s next request is refused by every worker, whatever its limits still hold', async () => {
  const user = await world.make.user()
  const token = await world.make.token(user)
  const everywhere = async () => {
    const calls = Array.from({ length: 8 }, () => callOnce(product.url, token, { kind: 'plain', text: 'hello' }))
    return new Set((await Promise.all(calls)).map(({ status }) => status))
  }
  expect(await everywhere()).toEqual(new Set([200]))
  await world.pool.query('update users set status = 2 where id = $1', [user.id])
  const isRefused = async () => [...(await everywhere())].join() === '403'
  // Within a second; the slack is for a loaded machine.
  await until(isRefused, { what: 'a worker still serves the banned user' })
})
