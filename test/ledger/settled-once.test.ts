import { afterEach, describe, expect, test, vi } from 'vitest'
import { forgetSettledCalls } from '#features/ledger/node.ts'
import { SettleFailed } from '#features/ledger/service.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { startLedgerWorld, disconnectingPool, type HeldCall } from '../support/ledger-world.ts'
import { withinAnHour } from '#test/support/within-an-hour.ts'

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

/**
 * A process that cannot reach the database for an hour and a half after it sent a charge, while others can. Its call had its hold in
 * a lease, so that no row shows what became of it.
 */
async function chargeAfterPause(
  first: 'committed' | 'lost',
  meanwhile: (call: HeldCall) => Promise<unknown>,
  // `next`: what is set aside for the next part, where there is one.
  {
    next = 0,
    log = true,
    afterwards = 'go-on',
  }: { next?: number; log?: boolean; afterwards?: 'go-on' | 'give-up' } = {},
) {
  const user = await world.make.user({ quota: 1000 })
  const call = { id: world.newId(), userId: user.id, tokenId: 0 }
  const setAside: string[] = []
  const clock = vi.spyOn(Date, 'now')
  let sent = 0
  const pool = disconnectingPool(world.hot, ({ name }) =>
    name === (next ? 'ledger_step' : 'ledger_settle') && (sent += 1) === 1
      ? first === 'committed'
        ? 'after'
        : 'before'
      : null,
  )
  let passed: Promise<unknown> | undefined
  const ledger = world.ledgerWith({
    pool: {
      query: async (query: { name?: string }) => {
        await passed
        return pool.query(query as never)
      },
    } as unknown as typeof pool,
    onError: () => {
      clock.mockReturnValue(performance.timeOrigin + performance.now() + 90 * 60_000)
      passed ??= meanwhile(call)
    },
    onSetAside: ({ row }) => setAside.push(row.id),
    ...(afterwards === 'give-up' ? { settleDeadlineMs: 0 } : {}),
  })
  const row = world.chargeOf({ ...call, quota: 120, log })
  const sending = next
    ? ledger.renew({ row, next: { ...call, id: world.newId(), amount: next } })
    : ledger.settle(row, afterwards)
  await sending.catch(() => {})
  await ledger.drained()
  clock.mockRestore()
  return { call, setAside }
}

/** As the first look after the full hour does, twice. */
const forgetEverything = () =>
  world.pool.query(
    `truncate settled_calls;
     update installation_facts set value = extract(epoch from clock_timestamp() - interval '5 minutes')::text
       where name = 'settled_calls_since'`,
  )

describe('a charge that is sent again after an hour and a half', () => {
  test.each(['committed', 'lost'] as const)(
    'is booked once where nothing was forgotten and the first was %s',
    async (first) => {
      await world.pool.query("update installation_facts set value = '0' where name = 'settled_calls_since'")
      const { call, setAside } = await chargeAfterPause(first, async () => {})
      expect(await world.balanceOf(call.userId)).toBe(880)
      expect(setAside).toEqual([])
    },
  )

  test('is not booked again where its log row shows that it was', async () => {
    const { call, setAside } = await chargeAfterPause('committed', forgetEverything)
    expect(await world.balanceOf(call.userId)).toBe(880)
    expect(await world.logRows(call.id)).toBe(1)
    expect(setAside).toEqual([])
  })

  test('is booked where its hold, given back meanwhile, shows that it was not', async () => {
    const { call, setAside } = await chargeAfterPause('lost', async ({ id, userId }) => {
      await forgetEverything()
      await world.pool.query(
        "insert into holds (id, user_id, token_id, node_id, status, released_at) values ($1, $2, 0, 1, 'released', now())",
        [id, userId],
      )
    })
    expect(await world.balanceOf(call.userId)).toBe(880)
    expect(setAside).toEqual([])
  })

  test.each(['committed', 'lost'] as const)(
    'waits for the operator where nothing shows whether it was; the first was %s',
    async (first) => {
      const { call, setAside } = await chargeAfterPause(first, async ({ id }) => {
        await forgetEverything()
        await world.pool.query('delete from logs where request_id = $1', [id])
      })
      expect(setAside).toEqual([call.id])
      expect(await world.openHolds(call.userId)).toBe(1)
      // What the operator knows: it was charged, or it was not.
      await world.pool.query('select ledger_resolve_failed_charge($1, $2)', [call.id, first === 'committed' ? 0 : 120])
      expect(await world.balanceOf(call.userId)).toBe(880)
    },
  )

  test('and waits for the operator leaves nothing set aside for the next part of its session, which nobody goes on with', async () => {
    const forgetAll = async ({ id }: HeldCall) => {
      await forgetEverything()
      await world.pool.query('delete from logs where request_id = $1', [id])
    }
    const { call, setAside } = await chargeAfterPause('committed', forgetAll, { next: 300 })
    expect(setAside).toEqual([call.id])
    await world.pool.query('select ledger_resolve_failed_charge($1, 0)', [call.id])
    expect(await world.openHolds(call.userId)).toBe(0)
    expect(await world.balanceOf(call.userId)).toBe(880)
  })
})

const refundsOf = async ({ id }: HeldCall): Promise<number[]> => {
  const { rows } = await world.pool.query<{ amount: number }>(
    "select amount::int from grants where kind = 'refund' and key = $1",
    [id],
  )
  return rows.map(({ amount }) => amount)
}

describe('a charge that is not logged, whose caller was sent that nothing is charged, and which is looked up after an hour and a half', () => {
  const given = { log: false, afterwards: 'give-up' } as const

  test('is refunded where nothing shows any more that it was committed', async () => {
    const { call, setAside } = await chargeAfterPause('committed', forgetEverything, given)
    expect(await refundsOf(call)).toEqual([120])
    expect(await world.balanceOf(call.userId)).toBe(1000)
    expect(setAside).toEqual([])
  })

  test('is refunded nothing where its hold, given back meanwhile, shows that it was not committed', async () => {
    const { call } = await chargeAfterPause(
      'lost',
      async ({ id, userId }) => {
        await forgetEverything()
        await world.pool.query(
          "insert into holds (id, user_id, token_id, node_id, status, released_at) values ($1, $2, 0, 1, 'released', now())",
          [id, userId],
        )
      },
      given,
    )
    expect(await refundsOf(call)).toEqual([])
    expect(await world.balanceOf(call.userId)).toBe(1000)
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
  await withinAnHour()
  await world.pool.query("update installation_facts set value = '0' where name = 'settled_calls_since'")
  const now: number = (await world.pool.query('select ledger_settled_slot(now())::int as n')).rows[0].n
  await world.pool.query("insert into settled_calls (id, slot) select 'slot-' || n, n from generate_series(0, 2) n")
  const remaining = async () =>
    (await world.pool.query<{ slot: number }>("select slot from settled_calls where id like 'slot-%' order by slot"))
      .rows
  // As a backup does.
  await using unlock = await world.lock('select 1 from settled_calls limit 1')
  await forgetSettledCalls(world.hot)
  expect(await remaining()).toHaveLength(3)
  await unlock()
  await forgetSettledCalls(world.hot)
  const rows = await remaining()
  expect(rows.map(({ slot }) => slot)).toEqual([0, 1, 2].filter((slot) => slot !== (now + 1) % 3))
  const { rows: since } = await world.pool.query<{ hours: number }>(
    `select floor(extract(epoch from clock_timestamp() - to_timestamp(value::float8)) / 3600)::int as hours
     from installation_facts where name = 'settled_calls_since'`,
  )
  expect([1, 2]).toContain(since[0]?.hours)
})

test('one who read the hour before it was full does not take back since when ids are kept', async () => {
  await withinAnHour()
  await world.pool.query(
    "insert into settled_calls (id, slot) select 'late-' || n, n from generate_series(0, 2) n on conflict do nothing",
  )
  const sinceIs = 'value::bigint = (select extract(epoch from clock_timestamp())::bigint / 3600 * 3600)'
  // As one who came after it, while the former waited.
  await world.pool.query(
    `update installation_facts set value = (extract(epoch from clock_timestamp())::bigint / 3600 * 3600)::text
     where name = 'settled_calls_since'`,
  )
  await forgetSettledCalls(world.hot)
  const { rows } = await world.pool.query(
    `select ${sinceIs} as stands from installation_facts where name = 'settled_calls_since'`,
  )
  expect(rows).toEqual([{ stands: true }])
})

test('nothing is forgotten while a charge of long ago is looked up', async () => {
  await world.pool.query(
    "insert into settled_calls (id, slot) select 'kept-' || n, n from generate_series(0, 2) n on conflict do nothing",
  )
  await using unlock = await world.lock("select from installation_facts where name = 'settled_calls_since' for share")
  await forgetSettledCalls(world.hot)
  const { rows } = await world.pool.query("select from settled_calls where id like 'kept-%'")
  expect(rows).toHaveLength(3)
  await unlock()
})
