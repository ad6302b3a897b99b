import { setTimeout as pause } from 'node:timers/promises'
import type { Pool, QueryConfig } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHotPool } from '#db/hot-pool.ts'
import { connect, type Database } from '#db/orm.ts'
import type { ChargeRow } from '#features/ledger/charge-row.ts'
import { createHoldRecovery } from '#features/ledger/node.ts'
import { createLedger, type Ledger, SettleFailed } from '#features/ledger/service.ts'
import { refundUndelivered } from '#features/ledger/refund.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { createFactories, type Factories } from '../support/factories.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { until } from '../support/processes.ts'

let testDatabase: TestDatabase
let database: Database
let make: Factories
let hot: Pool
let channelId = 0
let counter = 0

beforeAll(async () => {
  testDatabase = await createDatabase()
  database = await connect(testDatabase.connection)
  hot = createHotPool(testDatabase.connection, () => {})
  make = createFactories({
    pool: database.pool,
    secretKey: 'the key of these tests',
    upstreamUrl: 'http://127.0.0.1:1',
  })
  channelId = (await make.channel()).id
})
afterAll(async () => {
  await hot.end()
  await database.close()
  await testDatabase[Symbol.asyncDispose]()
})

const newId = (): string => `fault-${(counter += 1)}`

const ledgerWith = (given: { pool?: Pool; settleDeadlineMs?: number } = {}): Ledger =>
  createLedger({
    pool: given.pool ?? hot,
    nodeId: () => 1,
    refund: (row) => refundUndelivered(database.orm.em.fork(), row),
    ...(given.settleDeadlineMs === undefined ? {} : { settleDeadlineMs: given.settleDeadlineMs }),
  })

const chargeOf = (call: { id: string; userId: number; tokenId: number; quota: number; log?: boolean }): ChargeRow => ({
  channelId,
  counted: true,
  log: true,
  content: '',
  username: 'someone',
  tokenName: 'token',
  modelName: 'gpt-4o',
  promptTokens: 10,
  completionTokens: 5,
  cachedTokens: 0,
  useTimeMs: 12,
  firstTokenMs: 5,
  isStream: false,
  group: 'default',
  clientIp: '',
  other: {},
  ...call,
})

const balanceOf = async (userId: number): Promise<number> =>
  Number((await database.pool.query('select quota from users where id = $1', [userId])).rows[0]?.quota)

/** A pool that loses the answers of its first statements, after or before they were carried out. */
function forgetful(times: number, when: 'before' | 'after'): Pool {
  let left = times
  return {
    query: async (query: QueryConfig) => {
      if (left <= 0) return hot.query(query)
      left -= 1
      if (when === 'after') await hot.query(query)
      throw new Error('Connection terminated unexpectedly')
    },
  } as unknown as Pool
}

test('a charge and a release of the same call that meet in one batch give back once', async () => {
  const user = await make.user({ quota: 1000 })
  const ledger = ledgerWith()
  const call = { id: newId(), userId: user.id, tokenId: 0 }
  await ledger.reserve({ ...call, amount: 400 })
  await Promise.all([
    ledger.settle(chargeOf({ ...call, quota: 100 }), 'go-on'),
    ledger.release(call),
    ledger.settle(chargeOf({ ...call, quota: 100 }), 'go-on'),
  ])
  expect(await balanceOf(user.id)).toBe(900)
  expect(await ledgerViolations(database.pool)).toEqual([])
})

test('a reservation whose answer got lost is taken once', async () => {
  const user = await make.user({ quota: 1000 })
  const ledger = ledgerWith({ pool: forgetful(1, 'after') })
  const call = { id: newId(), userId: user.id, tokenId: 0 }
  expect(await ledger.reserve({ ...call, amount: 400 })).toMatchObject({ verdict: 'ok' })
  expect(await balanceOf(user.id)).toBe(600)
  await ledger.release(call)
  expect(await balanceOf(user.id)).toBe(1000)
})

test('a reservation and a charge that were refused can no more happen afterwards, wherever they were held up', async () => {
  const user = await make.user({ quota: 1000 })
  const lost = ledgerWith({ pool: forgetful(2, 'before'), settleDeadlineMs: 30 })
  const reserved = { id: newId(), userId: user.id, tokenId: 0 }
  await expect(lost.reserve({ ...reserved, amount: 400 })).rejects.toThrow('Connection terminated')
  await lost.drained()
  const charged = { id: newId(), userId: user.id, tokenId: 0 }
  await ledgerWith().reserve({ ...charged, amount: 400 })
  const failing = ledgerWith({ pool: forgetful(3, 'before'), settleDeadlineMs: 30 })
  await expect(failing.settle(chargeOf({ ...charged, quota: 100 }), 'give-up')).rejects.toThrow(SettleFailed)
  await failing.drained()
  expect(await balanceOf(user.id)).toBe(1000)
  // Now they arrive after all.
  const late = ledgerWith()
  await late.reserve({ ...reserved, amount: 400 })
  await late.settle(chargeOf({ ...charged, quota: 100 }), 'go-on')
  expect(await balanceOf(user.id)).toBe(1000)
  expect(await ledgerViolations(database.pool)).toEqual([])
})

test('a charge that was committed although its caller was refused is refunded', async () => {
  const user = await make.user({ quota: 1000 })
  const call = { id: newId(), userId: user.id, tokenId: 0 }
  await ledgerWith().reserve({ ...call, amount: 400 })
  const ledger = ledgerWith({ pool: forgetful(3, 'after'), settleDeadlineMs: 30 })
  await expect(ledger.settle(chargeOf({ ...call, quota: 100 }), 'give-up')).rejects.toThrow(SettleFailed)
  await ledger.drained()
  expect(await balanceOf(user.id)).toBe(1000)
  expect(await ledgerViolations(database.pool)).toEqual([])
})

test('a hold that was given back while its call went on can be raised by a further attempt', async () => {
  const user = await make.user({ quota: 1000 })
  const ledger = ledgerWith()
  const call = { id: newId(), userId: user.id, tokenId: 0 }
  await ledger.reserve({ ...call, amount: 100 })
  await database.pool.query('select ledger_release_node(1)')
  expect(await balanceOf(user.id)).toBe(1000)
  await ledger.reserve({ ...call, amount: 300 })
  expect(await ledgerViolations(database.pool)).toEqual([])
  await ledger.settle(chargeOf({ ...call, quota: 50 }), 'go-on')
  expect(await balanceOf(user.id)).toBe(950)
  expect(await ledgerViolations(database.pool)).toEqual([])
})

test('a locked row delays its own user only', async () => {
  const [locked, free] = [await make.user({ quota: 1000 }), await make.user({ quota: 1000 })]
  const ledger = ledgerWith({ settleDeadlineMs: 8000 })
  const calls = [locked, free].map((user) => ({ id: newId(), userId: user.id, tokenId: 0 }))
  for (const call of calls) await ledger.reserve({ ...call, amount: 100 })
  const blocker = await database.pool.connect()
  await blocker.query('begin')
  await blocker.query('select 1 from users where id = $1 for update', [locked.id])
  try {
    const [first, second] = calls.map((call) => ledger.settle(chargeOf({ ...call, quota: 30 }), 'go-on'))
    const refusal = first?.catch((error: unknown) => error)
    expect(await second).toMatchObject({ userQuota: 970 })
    const others = [locked, free].map((user) => ({ id: newId(), userId: user.id, tokenId: 0 }))
    const reserves = await Promise.allSettled(others.map((call) => ledger.reserve({ ...call, amount: 100 })))
    expect(reserves.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    await Promise.all(others.slice(1).map(ledger.release))
    expect(await refusal).toBeInstanceOf(SettleFailed)
  } finally {
    await blocker.query('rollback')
    blocker.release()
  }
  // The charge of an answer that was delivered goes on until it is booked.
  await until(async () => (await balanceOf(locked.id)) === 970, { what: 'the charge is not booked' })
  await ledger.drained()
  expect(await ledgerViolations(database.pool)).toEqual([])
})

test('processes that look for the dead at the same moment do not take each other for the living', async () => {
  const user = await make.user({ quota: 1000 })
  await createLedger({ pool: hot, nodeId: () => 601, refund: async () => {} }).reserve({
    id: newId(),
    userId: user.id,
    tokenId: 0,
    amount: 300,
  })
  const looker = await database.pool.connect()
  const recover = createHoldRecovery(database.pool)
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
  expect(await balanceOf(user.id)).toBe(1000)
})

test('a reservation waits its turn for a few seconds only', async () => {
  const user = await make.user({ quota: 1000 })
  const stalled = {
    query: async (query: QueryConfig) => {
      await pause(5500)
      return hot.query(query)
    },
  } as unknown as Pool
  const ledger = ledgerWith({ pool: stalled })
  const first = ledger.reserve({ id: newId(), userId: user.id, tokenId: 0, amount: 1 })
  await pause(10)
  const second = ledger.reserve({ id: newId(), userId: user.id, tokenId: 0, amount: 1 })
  await expect(second).rejects.toThrow()
  expect(await first).toMatchObject({ verdict: 'ok' })
  expect(await balanceOf(user.id)).toBe(999)
})
