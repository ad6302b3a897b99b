import type { Pool, QueryConfig } from 'pg'
import { expect, test } from 'vitest'
import { createHoldRecovery } from '#features/ledger/node.ts'
import { createRunningTime, type RunningTime } from '#features/ledger/running-time.ts'
import { createLedger, SettleFailed } from '#features/ledger/service.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { startLedgerWorld, disconnectingPool } from '../support/ledger-world.ts'
import { until } from '../support/processes.ts'

const world = await startLedgerWorld()

/** A pool that loses the answers of its first statements, after or before they were carried out. */
function disconnecting(times: number, when: 'before' | 'after'): Pool {
  let left = times
  return disconnectingPool(world.hot, () => (left-- > 0 ? when : null))
}

test('a charge and a release of the same call that meet in one batch give back once', async () => {
  const user = await world.make.user({ quota: 1000 })
  const ledger = world.ledgerWith()
  const call = { id: world.newId(), userId: user.id, tokenId: 0 }
  await ledger.reserve({ ...call, amount: 400 })
  await Promise.all([
    ledger.settle(world.chargeOf({ ...call, quota: 100 }), 'go-on'),
    ledger.release(call),
    ledger.settle(world.chargeOf({ ...call, quota: 100 }), 'go-on'),
  ])
  expect(await world.balanceOf(user.id)).toBe(900)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a reservation whose answer got lost is taken once', async () => {
  const user = await world.make.user({ quota: 1000 })
  const ledger = world.ledgerWith({ pool: disconnecting(1, 'after') })
  const call = { id: world.newId(), userId: user.id, tokenId: 0 }
  expect(await ledger.reserve({ ...call, amount: 400 })).toMatchObject({ verdict: 'ok' })
  expect(await world.balanceOf(user.id)).toBe(600)
  await ledger.release(call)
  expect(await world.balanceOf(user.id)).toBe(1000)
})

test('a reservation is taken, once, though all connections that are there when it comes have broken', async () => {
  const user = await world.make.user({ quota: 1000 })
  const ledger = world.ledgerWith({ pool: disconnecting(3, 'after') })
  const call = { id: world.newId(), userId: user.id, tokenId: 0 }
  expect(await ledger.reserve({ ...call, amount: 400 })).toMatchObject({ verdict: 'ok' })
  expect(await world.balanceOf(user.id)).toBe(600)
})

test('a reservation and a charge that were refused can no more happen afterwards, wherever they were held up', async () => {
  const user = await world.make.user({ quota: 1000 })
  const lost = world.ledgerWith({ pool: disconnecting(4, 'before'), settleDeadlineMs: 30 })
  const reserved = { id: world.newId(), userId: user.id, tokenId: 0 }
  await expect(lost.reserve({ ...reserved, amount: 400 })).rejects.toThrow('Connection terminated')
  await lost.drained()
  const charged = { id: world.newId(), userId: user.id, tokenId: 0 }
  await world.ledgerWith().reserve({ ...charged, amount: 400 })
  const failing = world.ledgerWith({ pool: disconnecting(3, 'before'), settleDeadlineMs: 30 })
  await expect(failing.settle(world.chargeOf({ ...charged, quota: 100 }), 'give-up')).rejects.toThrow(SettleFailed)
  await failing.drained()
  expect(await world.balanceOf(user.id)).toBe(1000)
  // Now they arrive after all.
  const late = world.ledgerWith()
  await late.reserve({ ...reserved, amount: 400 })
  await late.settle(world.chargeOf({ ...charged, quota: 100 }), 'go-on')
  expect(await world.balanceOf(user.id)).toBe(1000)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a charge that was committed although its caller was refused is refunded', async () => {
  const user = await world.make.user({ quota: 1000 })
  const call = { id: world.newId(), userId: user.id, tokenId: 0 }
  await world.ledgerWith().reserve({ ...call, amount: 400 })
  const ledger = world.ledgerWith({ pool: disconnecting(3, 'after'), settleDeadlineMs: 30 })
  await expect(ledger.settle(world.chargeOf({ ...call, quota: 100 }), 'give-up')).rejects.toThrow(SettleFailed)
  await ledger.drained()
  expect(await world.balanceOf(user.id)).toBe(1000)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

/**
 * A pool at whose first statement the process is held up for as long, so that the driver gives up what was answered meanwhile; and what
 * of that the process counts as its running time. How long the database takes is left out.
 */
function heldUp(forMs: number): { pool: Pool; runningTime: RunningTime } {
  const running = createRunningTime(20)
  let counted = 0
  let isFirst = true
  const query = async (given: QueryConfig) => {
    const answer = await world.hot.query(given)
    if (!isFirst) return answer
    isFirst = false
    const before = running()
    const end = performance.now() + forMs
    while (performance.now() < end);
    counted = running() - before
    throw new Error('Query read timeout')
  }
  return { pool: { query } as unknown as Pool, runningTime: () => counted }
}

test('a process that was held up for longer than a call may wait refuses neither its reservation nor its charge', async () => {
  const user = await world.make.user({ quota: 1000 })
  const call = { id: world.newId(), userId: user.id, tokenId: 0 }
  const ledgerOf = () => world.ledgerWith({ ...heldUp(1200), reserveWaitMs: 800, settleDeadlineMs: 800 })
  expect(await ledgerOf().reserve({ ...call, amount: 400 })).toMatchObject({ verdict: 'ok' })
  expect(await world.balanceOf(user.id)).toBe(600)
  await ledgerOf().settle(world.chargeOf({ ...call, quota: 100 }), 'give-up')
  expect(await world.balanceOf(user.id)).toBe(900)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a hold that was given back while its call went on can be raised by a further attempt', async () => {
  const user = await world.make.user({ quota: 1000 })
  const ledger = world.ledgerWith()
  const call = { id: world.newId(), userId: user.id, tokenId: 0 }
  await ledger.reserve({ ...call, amount: 100 })
  await world.pool.query('select ledger_release_node(1)')
  expect(await world.balanceOf(user.id)).toBe(1000)
  await ledger.reserve({ ...call, amount: 300 })
  expect(await ledgerViolations(world.pool)).toEqual([])
  await ledger.settle(world.chargeOf({ ...call, quota: 50 }), 'go-on')
  expect(await world.balanceOf(user.id)).toBe(950)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a locked row delays its own user only', async () => {
  const [locked, free] = [await world.make.user({ quota: 1000 }), await world.make.user({ quota: 1000 })]
  const ledger = world.ledgerWith({ reserveWaitMs: 12_000, settleDeadlineMs: 12_000 })
  const calls = [locked, free].map((user) => ({ id: world.newId(), userId: user.id, tokenId: 0 }))
  for (const call of calls) await ledger.reserve({ ...call, amount: 100 })
  await using unlock = await world.lock('select 1 from users where id = $1 for update', [locked.id])
  const [first, second] = calls.map((call) => ledger.settle(world.chargeOf({ ...call, quota: 30 }), 'go-on'))
  const refusal = first?.catch((error: unknown) => error)
  expect(await second).toMatchObject({ userQuota: 970 })
  const others = [locked, free].map((user) => ({ id: world.newId(), userId: user.id, tokenId: 0 }))
  const reserves = await Promise.allSettled(others.map((call) => ledger.reserve({ ...call, amount: 100 })))
  expect(reserves.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  await Promise.all(others.slice(1).map(ledger.release))
  expect(await refusal).toBeInstanceOf(SettleFailed)
  await unlock()
  // The charge of an answer that was delivered goes on until it is booked.
  await until(async () => (await world.balanceOf(locked.id)) === 970, { what: 'the charge is not booked' })
  await ledger.drained()
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('processes that look for the dead at the same moment do not take each other for the living', async () => {
  const user = await world.make.user({ quota: 1000 })
  await createLedger({ pool: world.hot, nodeId: () => 601, refund: async () => {} }).reserve({
    id: world.newId(),
    userId: user.id,
    tokenId: 0,
    amount: 300,
  })
  const looker = await world.pool.connect()
  const recover = createHoldRecovery(world.pool)
  try {
    for (let look = 0; look < 2; look += 1) {
      await looker.query('begin')
      await looker.query('select pg_try_advisory_xact_lock_shared(7301, 601)')
      await recover()
      await looker.query('rollback')
    }
  } finally {
    looker.release()
  }
  expect(await world.balanceOf(user.id)).toBe(1000)
})

test('a reservation waits its turn for a few seconds only', async () => {
  const user = await world.make.user({ quota: 1000 })
  const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const stalled = {
    query: async (query: QueryConfig) => {
      asked.resolve()
      await goOn.promise
      return world.hot.query(query)
    },
  } as unknown as Pool
  let now = 0
  const ledger = world.ledgerWith({ pool: stalled, reserveWaitMs: 5000, runningTime: () => now })
  const first = ledger.reserve({ id: world.newId(), userId: user.id, tokenId: 0, amount: 1 })
  await asked.promise
  const second = ledger.reserve({ id: world.newId(), userId: user.id, tokenId: 0, amount: 1 })
  now = 6000
  goOn.resolve()
  await expect(second).rejects.toThrow('not wanted any more')
  expect(await first).toMatchObject({ verdict: 'ok' })
  expect(await world.balanceOf(user.id)).toBe(999)
})
