import { afterEach, describe, expect, test } from 'vitest'
import { forgetSettledCalls } from '#features/ledger/node.ts'
import { SettleFailed } from '#features/ledger/service.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { startLedgerWorld, disconnectingPool, type HeldCall } from '../support/ledger-world.ts'

const world = await startLedgerWorld()
afterEach(async () => {
  if ((await ledgerViolations(world.pool, { everyCallIsLogged: false })).length > 0)
    throw new Error('the books do not balance')
})

/** What may have become of a hold while its call went on. */
const outcomes = {
  'is open': async () => {},
  'was given back because its process seemed dead': () => world.pool.query('select ledger_release_node(1)'),
  'was lost with the database': async ({ id }: HeldCall) => {
    await world.pool.query(
      `with lost as (delete from holds where id = $1 returning user_id, amount)
       update users u set quota = u.quota + lost.amount from lost where u.id = lost.user_id`,
      [id],
    )
  },
} as const

type Outcome = keyof typeof outcomes

const cases = [true, false].flatMap((log) =>
  (Object.keys(outcomes) as Outcome[]).map((outcome) => [log ? 'logged' : 'not logged', outcome, log] as const),
)

async function heldCall(outcome: Outcome) {
  const user = await world.make.user({ quota: 1000 })
  const call = { id: world.newId(), userId: user.id, tokenId: 0 }
  await world.ledgerWith().reserve({ ...call, amount: 400 })
  await outcomes[outcome](call)
  return call
}

const forgetSettlements = (times: number, when: 'before' | 'after') => {
  let left = times
  return disconnectingPool(world.hot, ({ name }) => (name === 'ledger_settle' && (left -= 1) >= 0 ? when : null))
}

describe.each(cases)('a call that is %s and whose hold %s', (_, fate, log) => {
  test('is charged once, whole', async () => {
    const call = await heldCall(fate)
    expect(await world.ledgerWith().settle(world.chargeOf({ ...call, quota: 120, log }), 'go-on')).toEqual({
      userQuota: 880,
      paid: 120,
    })
    expect(await world.openHolds(call.userId)).toBe(0)
    expect(await world.logRows(call.id)).toBe(log ? 1 : 0)
  })

  test('is charged once when the first commits were not acknowledged, its log row purged meanwhile', async () => {
    const call = await heldCall(fate)
    const pool = forgetSettlements(3, 'after')
    const ledger = world.ledgerWith({
      pool,
      onError: () => void world.pool.query('delete from logs where request_id = $1', [call.id]),
    })
    await ledger.settle(world.chargeOf({ ...call, quota: 120, log }), 'go-on')
    expect(await world.balanceOf(call.userId)).toBe(880)
  })

  test('costs nothing when it was refused after a commit that was not acknowledged', async () => {
    const call = await heldCall(fate)
    const ledger = world.ledgerWith({ pool: forgetSettlements(4, 'after'), settleDeadlineMs: 30 })
    const row = world.chargeOf({ ...call, quota: 120, log })
    await expect(ledger.settle(row, 'give-up')).rejects.toBeInstanceOf(SettleFailed)
    await ledger.drained()
    expect(await world.balanceOf(call.userId)).toBe(1000)
    expect(await world.openHolds(call.userId)).toBe(0)
    const { rows } = await world.pool.query("select amount::int from grants where kind = 'refund' and key = $1", [
      call.id,
    ])
    expect(rows).toEqual([{ amount: 120 }])
  })

  test('costs nothing, and is refunded nothing, when it was refused before any commit', async () => {
    const call = await heldCall(fate)
    const ledger = world.ledgerWith({ pool: forgetSettlements(4, 'before'), settleDeadlineMs: 30 })
    const row = world.chargeOf({ ...call, quota: 120, log })
    await expect(ledger.settle(row, 'give-up')).rejects.toBeInstanceOf(SettleFailed)
    await ledger.drained()
    // A statement that was held up on its way arrives after all.
    await world.ledgerWith().settle(row, 'go-on')
    expect(await world.balanceOf(call.userId)).toBe(1000)
    const { rows } = await world.pool.query("select from grants where kind = 'refund' and key = $1", [call.id])
    expect(rows).toEqual([])
  })
})

test('a raise that fails in the middle of a call leaves its hold, and the call is charged in full', async () => {
  const user = await world.make.user({ quota: 1000 })
  const call = { id: world.newId(), userId: user.id, tokenId: 0 }
  let cut = false
  const ledger = world.ledgerWith({
    pool: disconnectingPool(world.hot, ({ name }) => (cut && name === 'ledger_reserve' ? 'before' : null)),
  })
  await ledger.reserve({ ...call, amount: 100 })
  cut = true
  await expect(ledger.reserve({ ...call, amount: 300 })).rejects.toThrow('Connection terminated')
  expect(await world.heldBy(user.id)).toBe(100)
  await ledger.settle(world.chargeOf({ ...call, quota: 120 }), 'go-on')
  expect(await world.balanceOf(user.id)).toBe(880)
})

test('a raise that is still under way when its call ends does not open the hold anew', async () => {
  const user = await world.make.user({ quota: 1000 })
  let stalled: (() => void) | null = null
  let stalls = false
  const pool = disconnectingPool(world.hot, () => null)
  const slow = {
    query: async (query: { name?: string }) => {
      if (stalls && query.name === 'ledger_reserve') await new Promise<void>((resolve) => (stalled = resolve))
      return pool.query(query as never)
    },
  } as unknown as typeof pool
  const ledger = world.ledgerWith({ pool: slow })
  const call = { id: world.newId(), userId: user.id, tokenId: 0 }
  await ledger.reserve({ ...call, amount: 100 })
  stalls = true
  const raise = ledger.reserve({ ...call, amount: 300 })
  await expect.poll(() => stalled).not.toBeNull()
  const end = ledger.settle(world.chargeOf({ ...call, quota: 120 }), 'go-on')
  await expect(ledger.reserve({ ...call, amount: 500 })).rejects.toThrow('is over')
  stalls = false
  ;(stalled as (() => void) | null)?.()
  expect((await raise).verdict).toBe('ok')
  await end
  await ledger.drained()
  expect(await world.openHolds(user.id)).toBe(0)
  expect(await world.balanceOf(user.id)).toBe(880)
})

test('records of settled calls are purged by the hour, never those of the last hour, and another time while somebody reads them', async () => {
  const slotNow = async (): Promise<number> =>
    (await world.pool.query('select ledger_settled_slot(now())::int as n')).rows[0].n
  const now = await slotNow()
  await world.pool.query("insert into settled_calls (id, slot) select 'slot-' || n, n from generate_series(0, 2) n")
  const remaining = async () =>
    (await world.pool.query<{ slot: number }>("select slot from settled_calls where id like 'slot-%' order by slot"))
      .rows
  // As a backup does.
  const reader = await world.pool.connect()
  await reader.query('begin; select 1 from settled_calls limit 1')
  await forgetSettledCalls(world.hot)
  expect(await remaining()).toHaveLength(3)
  await reader.query('commit')
  reader.release()
  await forgetSettledCalls(world.hot)
  const rows = await remaining()
  // The hour may have turned in between.
  expect([(now + 1) % 3, ((await slotNow()) + 1) % 3]).toContain(
    [0, 1, 2].find((slot) => !rows.some((row) => row.slot === slot)),
  )
  expect(rows).toHaveLength(2)
})
