import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { startProduct, until } from '../support/processes.ts'
import { chargeViolations, untilNothingIsHeld } from './ledger-check.ts'
import { startTraffic } from './traffic.ts'
import { createWorld, long } from './world.ts'
import { holdLock } from '#test/support/held-lock.ts'

const world = await createWorld()
await world.make.channel()
// What is queued without bound ends the process.
const environment = { ...world.environment, WORKERS: '1', NODE_OPTIONS: '--max-old-space-size=320' }
const product = await startProduct({ environment })
afterAll(async () => {
  await product.killAll()
  await world[Symbol.asyncDispose]()
})

test('while nothing can be written callers wait or are refused, and every complete answer is charged afterwards', async () => {
  const tokens = await Promise.all(
    Array.from({ length: 8 }, async () => world.make.token(await world.make.user({ quota: 1_000_000_000 }))),
  )
  using traffic = startTraffic({
    urls: [product.url],
    tokens,
    kinds: ['plain', 'stream', 'failing', 'hung-up'],
    concurrency: 60,
  })
  const served = () => traffic.outcomes.filter(({ complete }) => complete).length
  await until(() => served() > 50, { what: 'no call is served' })

  // Settling takes both tables too, the other way round: the error of a circle goes to the product, which tries again.
  await using unlock = await holdLock(
    world.pool,
    `set local deadlock_timeout = '10min'; lock table logs, holds in exclusive mode`,
  )
  const atStall = served()
  await pause(long ? 60_000 : 3000)
  // What was being written may have been sent; nobody else is served meanwhile.
  expect(served() - atStall).toBeLessThanOrEqual(60)
  await unlock()

  const before = served()
  await until(() => served() > before + 50, { what: 'it does not serve again' })
  const outcomes = await traffic.stop()
  await untilNothingIsHeld(world.pool)
  expect(await chargeViolations(world.pool, outcomes)).toEqual([])
  expect(product.output()).not.toContain('heap out of memory')
  expect(await product.health()).toBe(200)
})
