import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, test, vi } from 'vitest'
import { startProduct, until } from '../support/processes.ts'
import { memoryOf, startAttackers } from './attackers.ts'
import { chargeViolations, untilNothingIsHeld } from './ledger-check.ts'
import { startTraffic } from './traffic.ts'
import { createWorld, long } from './world.ts'

// Real processes, on a machine that others may use too.
vi.setConfig({ testTimeout: 900_000 })

const megabyte = 1024 * 1024

const world = await createWorld()
await world.make.channel()
const product = await startProduct({
  isPatient: true,
  environment: {
    ...world.environment,
    WORKERS: '1',
    TRUST_PROXY: 'loopback',
    CRITICAL_RATE_LIMIT: '20',
    API_RATE_LIMIT: '180',
  },
})
afterAll(async () => {
  await product.killAll()
  await world[Symbol.asyncDispose]()
})

test('three hundred attackers make no good call fail, and the memory that they take is bounded and given back', async () => {
  const tokens = await Promise.all(
    Array.from({ length: 10 }, async () => world.make.token(await world.make.user({ quota: 1_000_000_000 }))),
  )
  using traffic = startTraffic({
    urls: [product.url],
    tokens,
    kinds: ['plain', 'stream'],
    concurrency: 50,
    pauseMs: 200,
    // Attackers and callers share what the machine has to give: on one that is busy with other things an answer of twelve
    // events takes a minute. That it comes, whole and without an error, is the guarantee.
    longestMs: 300_000,
  })
  const served = () => traffic.outcomes.filter(({ complete }) => complete).length
  // Warm: code that is loaded with the first calls, and what they fill, does not count.
  await until(() => served() > 300, { seconds: 300, what: 'no call is served' })
  const atStart = memoryOf(product.pid).now

  const attackers = startAttackers(300, {
    url: product.url,
    withoutQuota: await world.make.token(await world.make.user({ quota: 0 })),
    withQuota: await world.make.token(await world.make.user({ quota: 1_000_000_000 })),
  })
  const before = served()
  await pause(long ? 60_000 : 4000)
  // A busy machine needs longer for as much.
  await until(() => served() > before + 100, { seconds: 300, what: 'good callers are not served beside the attackers' })
  await attackers.stop()
  const { most } = memoryOf(product.pid)
  const atEnd = () => memoryOf(product.pid).now

  // The engine gives memory back as it collects, which it does as it works: on a busy machine that takes longer.
  await until(() => atEnd() < atStart + 150 * megabyte, {
    seconds: 300,
    what: () => `${Math.round(atEnd() / megabyte)} MB are held that were ${Math.round(atStart / megabyte)}`,
  })
  const outcomes = await traffic.stop()
  const failed = outcomes
    .filter(({ complete }) => !complete)
    .map(({ kind, status, ms, broken, body }) => `${kind} ${status} after ${ms} ms ${broken} ${body.slice(-200)}`)
  expect(failed, product.output().slice(-5000)).toEqual([])
  expect(Math.round(most / megabyte)).toBeLessThan(1024)
  await untilNothingIsHeld(world.pool)
  expect(await chargeViolations(world.pool, outcomes)).toEqual([])
})
