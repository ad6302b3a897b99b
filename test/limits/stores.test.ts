import { Redis } from 'ioredis'
import { afterAll, describe, expect, test } from 'vitest'
import type { RequestLimit } from '#core/limits/request-limit.ts'
import { createRedisStore } from '#features/limits/redis-store.ts'
import { createMemoryStore, type RequestStore } from '#features/limits/request-store.ts'
import { createLimits, type Limits } from '#features/limits/service.ts'
import { freePort } from '../support/processes.ts'

const redisUrl = process.env['TEST_REDIS_URL']
const somebody = `somebody-${process.pid}-${Date.now()}`
let named = 0

/** Asks in the name of somebody new. */
function asker(store: RequestStore, limit: RequestLimit) {
  named += 1
  const key = `${somebody}-${named}`
  let asked = 0
  return async () => {
    asked += 1
    const ask = { name: 'test', key, id: `request-${asked}`, limit }
    const verdict = await store.admit(ask)
    const end = (succeeded: boolean) => store.end({ ...ask, admittedAt: verdict.at, succeeded })
    return { ...verdict, end }
  }
}

const redis = redisUrl ? new Redis(redisUrl, { enableReadyCheck: false }) : null
afterAll(() => redis?.disconnect())
let clock = 0

/** Redis has a clock of its own: what it keeps of us becomes older instead. */
const age = `
for _, key in ipairs(redis.call('KEYS', 'requests:*' .. ARGV[1] .. '*')) do
  if redis.call('TYPE', key).ok == 'zset' then
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do redis.call('ZINCRBY', key, -ARGV[2], member) end
  else
    redis.call('HINCRBY', key, 'started', -ARGV[2])
  end
  redis.call('PEXPIRE', key, redis.call('PTTL', key) - ARGV[2])
end
`
const stores: { place: string; store: RequestStore; pass: (ms: number) => void | Promise<void> }[] = [
  { place: 'the memory of one process', store: createMemoryStore(() => clock), pass: (ms) => void (clock += ms) },
  // How long a call waits for it is not what is tested, on a machine that may be busy.
  ...(redis
    ? [
        {
          place: 'Redis',
          store: createRedisStore(redis, 60_000),
          pass: async (ms: number) => void (await redis.eval(age, 0, somebody, ms)),
        },
      ]
    : []),
]

describe.each(stores)('counting in $place', ({ store, pass }) => {
  test('a limit of 50 lets exactly 50 of 200 parallel requests in, by either number', async () => {
    for (const shape of ['sliding', 'fixed'] as const) {
      for (const [total, success, by] of [
        [50, 0, 'total'],
        [0, 50, 'success'],
        [50, 1000, 'total'],
      ] as const) {
        const ask = asker(store, { shape, windowMs: 60_000, total, success })
        const verdicts = await Promise.all(Array.from({ length: 200 }, ask))
        const refused = verdicts.filter(({ refusedBy }) => refusedBy !== null)
        expect([shape, total, verdicts.length - refused.length]).toEqual([shape, total, 50])
        expect(new Set(refused.map(({ refusedBy }) => refusedBy))).toEqual(new Set([by]))
        for (const { retryAfterMs } of refused) expect(retryAfterMs).toBeGreaterThan(0)
      }
    }
  })

  test('a failure gives its place among the successes back, and stays counted among all', async () => {
    for (const shape of ['sliding', 'fixed'] as const) {
      const ask = asker(store, { shape, windowMs: 60_000, total: 4, success: 1 })
      for (let index = 0; index < 2; index += 1) {
        const { refusedBy, end } = await ask()
        expect(refusedBy).toBeNull()
        await end(false)
      }
      const good = await ask()
      await good.end(true)
      expect((await ask()).refusedBy).toBe('success')
      expect(good).toMatchObject({ total: { limit: 4, remaining: 1 }, success: { limit: 1, remaining: 0 } })
    }
  })

  test('a look reads the state and counts nothing, before a window is open and in it', async () => {
    for (const shape of ['sliding', 'fixed'] as const) {
      const limit = { shape, windowMs: 60_000, total: 2, success: 1 }
      const input = { name: 'look', key: `${process.pid}-${Date.now()}-${shape}`, limit }
      const look = () => store.admit({ ...input, id: '', look: true })
      const untouched = { refusedBy: null, total: { limit: 2, remaining: 2 }, success: { limit: 1, remaining: 1 } }
      expect([await look(), await look()]).toMatchObject([untouched, untouched])
      expect((await store.admit({ ...input, id: 'one' })).refusedBy).toBeNull()
      const used = { refusedBy: 'success', total: { limit: 2, remaining: 1 }, success: { limit: 1, remaining: 0 } }
      expect([await look(), await look()]).toMatchObject([used, used])
    }
  })

  test('a window slides past each request by itself, a fixed one ends for all of them', async () => {
    const sliding = asker(store, { shape: 'sliding', windowMs: 1_000_000, total: 2, success: 0 })
    const fixed = asker(store, { shape: 'fixed', windowMs: 1_000_000, total: 2, success: 0 })
    await Promise.all([sliding(), fixed()])
    await pass(600_000)
    await Promise.all([sliding(), fixed()])
    expect([(await sliding()).refusedBy, (await fixed()).refusedBy]).toEqual(['total', 'total'])
    await pass(500_000)
    const again = async (ask: typeof sliding) => [(await ask()).refusedBy, (await ask()).refusedBy]
    expect([await again(sliding), await again(fixed)]).toEqual([
      [null, 'total'],
      [null, null],
    ])
  })
})

test('while Redis is away this machine counts for itself', async () => {
  const absent = new Redis(await freePort(), '127.0.0.1', { maxRetriesPerRequest: 1 })
  const errors: unknown[] = []
  absent.on('error', () => {})
  const limits = createLimits({ redis: absent, onError: (error) => errors.push(error) })
  const ask = asker(
    { admit: limits.admit, end: limits.ended },
    { shape: 'sliding', windowMs: 60_000, total: 3, success: 0 },
  )
  const verdicts = await Promise.all(Array.from({ length: 5 }, ask))
  expect(verdicts.filter(({ refusedBy }) => refusedBy === null)).toHaveLength(3)
  expect(errors).toHaveLength(5)
  absent.disconnect()
})

test('what was counted without Redis ends where it was counted, though Redis is back', async () => {
  let asked = 0
  const evalOf = () => {
    asked += 1
    return Promise.reject(new Error('away'))
  }
  const limits = createLimits({ redis: { eval: evalOf } as unknown as Redis })
  const ask = {
    name: 'test',
    key: 'one',
    id: 'a',
    limit: { shape: 'fixed', windowMs: 60_000, total: 0, success: 1 },
  } as const
  const { at: admittedAt, byFallback, refusedBy } = await limits.admit(ask)
  expect([refusedBy, byFallback, asked]).toEqual([null, true, 1])
  await limits.ended({ ...ask, admittedAt, byFallback, succeeded: false })
  expect(asked).toBe(1)
  expect((await limits.admit({ ...ask, id: 'b' })).refusedBy).toBeNull()
})

test('while an answer of Redis is overdue nothing else is asked of it, and once it has come Redis counts again', async () => {
  const limit = { shape: 'sliding', windowMs: 60_000, total: 9, success: 0 } as const
  const window = { name: 'test', key: 'one', points: 9, seconds: 60 }
  const ways: { count: (limits: Limits) => Promise<unknown>; answer: number[] }[] = [
    { count: ({ admit, ended }) => asker({ admit, end: ended }, limit)(), answer: [0, 0, 0, 8, 60_000, -1, 0] },
    { count: ({ consume }) => consume(window), answer: [1, 60_000] },
  ]
  for (const { count, answer } of ways) {
    const { promise: overdue, resolve } = Promise.withResolvers<number[]>()
    let asked = 0
    const evalOf = () => {
      asked += 1
      return asked === 1 ? overdue : Promise.resolve(answer)
    }
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const limits = createLimits({ redis: { eval: evalOf } as unknown as Redis, onError })
    await count(limits)
    await Promise.all([count(limits), count(limits), count(limits)])
    expect([asked, errors.length]).toEqual([1, 4])
    resolve(answer)
    await overdue
    await expect.poll(async () => (await count(limits), asked)).toBeGreaterThan(1)
    expect(errors).toHaveLength(4)
  }
})

test.runIf(redis)('an answer of Redis that came while this process was busy is in time', async () => {
  const errors: unknown[] = []
  await redis?.ping()
  const limits = createLimits({ redis: redis ?? undefined, onError: (error) => errors.push(error) })
  const ask = asker(
    { admit: limits.admit, end: limits.ended },
    { shape: 'fixed', windowMs: 60_000, total: 3, success: 3 },
  )
  const asked = Array.from({ length: 5 }, ask)
  // Redis has the processor for itself meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000)
  const verdicts = await Promise.all(asked)
  expect([verdicts.filter(({ refusedBy }) => refusedBy === null).length, errors]).toEqual([3, []])
})

test('an address may not come more often than its limit in any span, and a refused visit does not count', async () => {
  const clock = { now: 0 }
  const limits = createLimits({ now: () => clock.now })
  const visit = () => limits.slide({ name: 'api', key: '10.0.0.1', points: 3, seconds: 180 })
  const at = async (second: number) => {
    clock.now = second * 1000
    return visit()
  }
  expect([await at(0), await at(100), await at(170)].every(({ allowed }) => allowed)).toBe(true)
  expect(await at(175)).toMatchObject({ allowed: false, retryAfterSeconds: 5 })
  expect((await at(181)).allowed).toBe(true)
  // A window that began with its first visit would let three in again.
  expect(await at(190)).toMatchObject({ allowed: false, retryAfterSeconds: 90 })
  expect((await limits.slide({ name: 'api', key: '10.0.0.2', points: 3, seconds: 180 })).allowed).toBe(true)
})
