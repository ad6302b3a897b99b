import { afterEach, expect, test, vi } from 'vitest'
import { setTimeout as pause } from 'node:timers/promises'
import type { QueryConfig } from 'pg'
import { type Ledger, QueueFull } from '#features/ledger/service.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { startLedgerWorld, disconnectingPool, type HeldCall, type LedgerWorld } from '../support/ledger-world.ts'
import { until } from '../support/processes.ts'

const world = await startLedgerWorld()
afterEach(async () => {
  if ((await ledgerViolations(world.pool)).length > 0) throw new Error('the books do not balance')
})

const userRow = 'select 1 from users where id = $1 for update'

const callOf = async (): Promise<HeldCall> => {
  const user = await world.make.user({ quota: 1_000_000 })
  return { id: world.newId(), userId: user.id, tokenId: 0 }
}

/** How many statements ran into the lock, which is how often everybody in their batch had to wait. */
function countingPool() {
  let waits = 0
  const pool = {
    query: async (query: QueryConfig) => {
      try {
        return await world.hot.query(query)
      } catch (error) {
        if ((error as { code?: string }).code === '55P03') waits += 1
        throw error
      }
    },
  } as unknown as LedgerWorld['hot']
  return { pool, waits: () => waits }
}

/** A call from its reservation to its charge. */
const completeCall = async (ledger: Ledger, call: HeldCall): Promise<string> => {
  const { verdict } = await ledger.reserve({ ...call, amount: 100 })
  await ledger.settle(world.chargeOf({ ...call, quota: 30 }), 'go-on')
  return verdict
}

test('while an open transaction keeps a user, the others together wait for it once, and that user is served when it ends', async () => {
  const locked = await callOf()
  const others = await Promise.all(Array.from({ length: 50 }, callOf))
  const { pool, waits } = countingPool()
  const ledger = world.ledgerWith({ pool, reserveWaitMs: 15_000 })
  const held = { ...locked, id: world.newId() }
  await ledger.reserve({ ...held, amount: 100 })
  await using unlock = await world.lock(userRow, [locked.userId])
  let settled = false
  const end = ledger.settle(world.chargeOf({ ...held, quota: 50 }), 'go-on').then(() => (settled = true))
  // Four calls of each, one after the other, and the locked user tries again and again beside them.
  const knocking = Array.from({ length: 10 }, () => ledger.reserve({ ...locked, id: world.newId(), amount: 1 }))
  const knocked = Promise.allSettled(knocking)
  for (let round = 0; round < 4; round += 1)
    await Promise.all(others.map((call) => completeCall(ledger, { ...call, id: world.newId() })))
  // What was gathered before anybody knew of the lock: one batch of reservations and one of charges.
  expect(waits()).toBeLessThanOrEqual(2)
  expect(settled).toBe(false)
  expect((await knocked).map(({ status }) => status)).toEqual(knocking.map(() => 'rejected'))
  expect(waits()).toBeLessThanOrEqual(2)
  await unlock()
  await end
  expect(await completeCall(ledger, { ...locked, id: world.newId() })).toBe('ok')
  expect(await world.balanceOf(locked.userId)).toBe(1_000_000 - 80)
})

test('work of one user whose row is locked is done in order once it is free', async () => {
  const locked = await callOf()
  const order: number[] = []
  const ledger = world.ledgerWith()
  await using unlock = await world.lock(userRow, [locked.userId])
  const calls = Array.from({ length: 30 }, (_, index) =>
    ledger
      .settle(world.chargeOf({ ...locked, id: world.newId(), quota: 10 }), 'go-on')
      .then(() => void order.push(index)),
  )
  await pause(2000)
  await unlock()
  await Promise.all(calls)
  expect(order).toEqual(order.toSorted((left, right) => left - right))
  expect(await world.balanceOf(locked.userId)).toBe(1_000_000 - 300)
})

test('a hold that is still to be raised when its call ends is no error to report', async () => {
  const call = await callOf()
  const reports: unknown[] = []
  const ledger = world.ledgerWith({ onError: (error) => reports.push(error) })
  await ledger.reserve({ ...call, amount: 100 })
  await using unlock = await world.lock(userRow, [call.userId])
  const raise = ledger.reserve({ ...call, amount: 200 }).catch((error: unknown) => error)
  const end = ledger.release(call)
  await unlock()
  expect(await raise).toBeInstanceOf(QueueFull)
  await end
  expect(reports).toEqual([])
  expect(await world.balanceOf(call.userId)).toBe(1_000_000)
})

test('a locked token or channel holds up the calls that need it and nobody else', async () => {
  const user = await world.make.user({ quota: 1_000_000 })
  const token = await world.make.token(user, { remainQuota: 1_000_000 })
  const channel = await world.make.channel()
  const ledger = world.ledgerWith()
  const ofToken = { id: world.newId(), userId: user.id, tokenId: token.id }
  const ofChannel = await callOf()
  const free = await callOf()
  for (const call of [ofToken, ofChannel, free]) await ledger.reserve({ ...call, amount: 100 })
  await using unlockToken = await world.lock('select 1 from tokens where id = $1 for update', [token.id])
  await using unlockChannel = await world.lock('select 1 from channels where id = $1 for update', [channel.id])
  const done = new Set<string>()
  const settle = (call: HeldCall, channelId = world.channelId) =>
    ledger.settle(world.chargeOf({ ...call, quota: 30, channelId }), 'go-on').then(() => done.add(call.id))
  const waiting = [settle(ofToken), settle(ofChannel, channel.id)]
  await settle(free)
  for (let round = 0; round < 3; round += 1) await completeCall(ledger, { ...free, id: world.newId() })
  expect(done).toEqual(new Set([free.id]))
  await unlockToken()
  await waiting[0]
  expect(done.has(ofChannel.id)).toBe(false)
  await unlockChannel()
  await Promise.all(waiting)
})

test('a locked channel on which only a failed attempt of a call cost something holds up that call and nobody else', async () => {
  const channel = await world.make.channel()
  const ledger = world.ledgerWith()
  const call = await callOf()
  await ledger.reserve({ ...call, amount: 100 })
  await using unlock = await world.lock('select 1 from channels where id = $1 for update', [channel.id])
  let isDone = false
  const row = world.chargeOf({ ...call, quota: 30, costs: [{ channelId: channel.id, cost: 5 }], cost: 7 })
  const settled = ledger.settle(row, 'go-on').then(() => (isDone = true))
  for (let round = 0; round < 3; round += 1) await completeCall(ledger, await callOf())
  expect(isDone).toBe(false)
  await unlock()
  await settled
})

test('a user whose row is locked has a bounded queue; what exceeds it is refused, not lost', async () => {
  const locked = await callOf()
  const ledger = world.ledgerWith({ reserveWaitMs: 5000 })
  await using unlock = await world.lock(userRow, [locked.userId])
  const asked = Array.from({ length: 1300 }, () => ledger.reserve({ ...locked, id: world.newId(), amount: 1 }))
  const charged = ledger.settle(world.chargeOf({ ...locked, id: world.newId(), quota: 5 }), 'go-on')
  const refusals = await Promise.allSettled(asked)
  expect(refusals.every(({ status }) => status === 'rejected')).toBe(true)
  await unlock()
  await charged
  expect(await world.balanceOf(locked.userId)).toBe(1_000_000 - 5)
  expect(await world.openHolds(locked.userId)).toBe(0)
})

test('a batch that meets a lock which is gone when it is looked for is sent again at once', async () => {
  const call = await callOf()
  let refusals = 1
  const pool = disconnectingPool(world.hot, () => null)
  const ledger = world.ledgerWith({
    pool: {
      query: (query: { name?: string }) => {
        if (query.name !== 'ledger_settle' || (refusals -= 1) < 0) return pool.query(query as never)
        return Promise.reject(Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' }))
      },
    } as unknown as typeof pool,
  })
  expect(await completeCall(ledger, call)).toBe('ok')
  expect(await world.balanceOf(call.userId)).toBe(1_000_000 - 30)
})

test('charges that are looked up after an hour without the database leave a locked user to himself too', async () => {
  const locked = await callOf()
  const other = await callOf()
  await world.pool.query("update installation_facts set value = '0' where name = 'settled_calls_since'")
  const { pool, waits } = countingPool()
  const clock = vi.spyOn(Date, 'now')
  let lost = true
  const passed = Promise.withResolvers<void>()
  const ledger = world.ledgerWith({
    pool: disconnectingPool(pool, ({ name }) => (lost && name === 'ledger_settle' ? 'before' : null)),
    onError: () => {
      lost = false
      clock.mockReturnValue(performance.timeOrigin + performance.now() + 90 * 60_000)
      passed.resolve()
    },
  })
  await using unlock = await world.lock(userRow, [locked.userId])
  const ends = Array.from({ length: 20 }, () =>
    ledger.settle(world.chargeOf({ ...locked, id: world.newId(), quota: 50 }), 'go-on'),
  )
  try {
    await passed.promise
    await until(() => waits() > 0, { what: 'no late charge met the lock' })
    for (let round = 0; round < 4; round += 1) await completeCall(ledger, { ...other, id: world.newId() })
    expect(waits()).toBe(1)
  } finally {
    await unlock()
    await Promise.all(ends)
    clock.mockRestore()
  }
  expect(await world.balanceOf(locked.userId)).toBe(999_000)
})
