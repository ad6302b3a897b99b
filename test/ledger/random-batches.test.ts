import { expect, test } from 'vitest'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ledger } from '#features/ledger/service.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { startLedgerWorld, disconnectingPool, type HeldCall, refuseRows } from '../support/ledger-world.ts'
import { long } from '../support/long.ts'
import { randomOf } from '../support/random.ts'

const world = await startLedgerWorld()
await refuseRows(world.pool)

/** Charged and held. */
const paidByPlans = async (userId: number): Promise<number> =>
  Number(
    (
      await world.pool.query(
        `select coalesce(sum(s.used_quota - s.refunded_quota), 0)
           + (select coalesce(sum(h.plan_amount), 0) from holds h where h.user_id = $1 and h.status = 'open') as n
         from subscriptions s where s.user_id = $1`,
        [userId],
      )
    ).rows[0]?.n,
  )

const limited = 12

type Outcome = 'charged' | 'refused' | 'given-up' | 'kept' | 'released'

test('random batches with refused rows, locked rows, lost commits, lost holds, leases and calls without a log lose no unit and make none, under spend caps and with plans too', async () => {
  const seed = long ? Date.now() % 1_000_000 : 20_261_122
  const random = randomOf(seed)
  // The last have enough for leases, and neither caps nor plans.
  const quotaOf = (index: number): number => (index < limited ? 100_000 : 1_000_000)
  const users = await Promise.all(
    Array.from({ length: limited + 2 }, (_, index) => world.make.user({ quota: quotaOf(index) })),
  )
  const tokens = await Promise.all(
    users.map((user, index) => world.make.token(user, { remainQuota: quotaOf(index), unlimited: index > limited })),
  )
  // Some are reached, some never; some count only a part of the calls.
  for (const [index, user] of users.slice(0, limited).entries()) {
    await world.make.spendCap({ scope: 'user', id: user.id }, { amount: index % 2 === 0 ? 4000 : 1e9 })
    await world.make.spendCap({ scope: 'token', id: tokens[index]?.id ?? 0 }, { period: 'day', amount: 3000 })
    if (index % 3 === 0)
      await world.make.subscription(user, {
        windows: [{ amount: index % 2 === 0 ? 1500 : 1e9 }, { period: 'week', amount: 1e9 }],
        balancePays: index !== 9,
      })
  }
  let stopping = false
  // A third of the statements that end calls or reserve are carried out, or not, without anybody being notified.
  let leasesTaken = 0
  const pool = disconnectingPool(world.hot, ({ name, values }) => {
    if (name === 'ledger_act' && Array.isArray(values?.[14])) leasesTaken += values[14].length
    return !stopping && name?.startsWith('ledger_') && random.boolean(0.3)
      ? random.pick(['before', 'after'] as const)
      : null
  })
  const setAside = new Set<string>()
  const nodes = [1, 2].map((nodeId) =>
    world.ledgerWith({
      pool,
      nodeId,
      leases: { fromCalls: 2, idleMs: 3000 },
      settleDeadlineMs: 400,
      onSetAside: ({ row, storedAs: what }) => void (what === 'hold' && setAside.add(row.id)),
    }),
  )
  const costs = new Map<string, { outcome: Outcome; userId: number; quota: number }>()

  const oneCall = async (): Promise<void> => {
    // Half of the calls are of those who are leased for.
    const at = random.boolean(0.5) ? random.below(limited) : limited + random.below(2)
    const call: HeldCall = {
      id: world.newId(),
      userId: users[at]?.id ?? 0,
      tokenId: random.boolean(0.8) ? (tokens[at]?.id ?? 0) : 0,
    }
    const ledger = random.pick(nodes)
    const record = (what: Outcome, quota: number) =>
      void costs.set(call.id, { outcome: what, userId: call.userId, quota })
    const verdict = await ledger.reserve({ ...call, amount: random.below(200), model: 'gpt-4o' }).then(
      (result) => result.verdict,
      () => 'failed' as const,
    )
    if (verdict !== 'ok') return record('refused', 0)
    if (random.boolean(0.3)) await ledger.reserve({ ...call, amount: 200 + random.below(200) }).catch(() => {})
    if (random.boolean(0.1)) {
      await ledger.release(call)
      return record('released', 0)
    }
    await end(ledger, call, record)
  }

  let ended = 0
  const end = async (ledger: Ledger, call: HeldCall, record: (what: Outcome, quota: number) => void): Promise<void> => {
    const quota = random.below(300)
    // In turn, so that every kind comes up however the calls fall.
    const turn = ended
    ended += 1
    const poison = turn % 40
    const row = world.chargeOf({
      ...call,
      quota,
      log: random.boolean(0.5),
      ...(poison === 0 ? { modelName: 'refused-model', log: true } : {}),
      ...(poison === 1 ? { content: 'refused text' } : {}),
      ...(poison === 2 ? { promptTokens: 1e15 } : {}),
      ...(poison === 3 ? { modelName: 'x\0\ud800'.repeat(5000) } : {}),
    })
    const afterwards = Math.floor(turn / 40) % 2 === 0 ? 'go-on' : 'give-up'
    const failed = await ledger.settle(row, afterwards).then(
      () => false,
      () => true,
    )
    record(failed && afterwards === 'give-up' ? 'given-up' : poison === 0 ? 'kept' : 'charged', quota)
  }

  /** Somebody's open transactions, and recoveries that take living processes for dead. */
  const disturb = async (): Promise<void> => {
    while (!stopping) {
      await pause(20 + random.below(150))
      if (random.boolean(0.3)) await world.pool.query('select ledger_release_node($1)', [random.pick([1, 2])])
      else if (random.boolean(0.2)) random.pick(nodes).returnLeases({ userId: random.pick(users).id })
      else {
        const [table, id] = random.pick([
          ['users', random.pick(users).id],
          ['tokens', random.pick(tokens).id],
          ['channels', world.channelId],
        ] as const)
        await using unlock = await world.lock(`select 1 from ${table} where id = $1 for update`, [id])
        await pause(random.below(table === 'channels' ? 200 : 1500))
        await unlock()
      }
    }
  }

  const disturbing = [disturb(), disturb()]
  const callers = Array.from({ length: 40 }, async () => {
    for (let round = 0; round < (long ? 200 : 12); round += 1) await oneCall()
  })
  await Promise.all(callers)
  stopping = true
  await Promise.all(disturbing)
  await Promise.all(nodes.map((node) => node.drained()))
  // What nobody received an answer to may have left holds behind; they are those of a process that ends now.
  for (const node of [1, 2]) await world.pool.query('select ledger_release_node($1)', [node])

  expect(await ledgerViolations(world.pool, { everyCallIsLogged: false }), `seed ${seed}`).toEqual([])
  const charged = new Map(users.map(({ id }) => [id, 0]))
  for (const { outcome, userId, quota } of costs.values())
    if (outcome === 'charged') charged.set(userId, (charged.get(userId) ?? 0) + quota)
  for (const [index, { id }] of users.entries()) {
    // A charge that can be booked in no form costs what is held for it.
    const due = (charged.get(id) ?? 0) + (await world.heldBy(id))
    expect(quotaOf(index) - (await world.balanceOf(id)) + (await paidByPlans(id)), `user ${id} of seed ${seed}`).toBe(
      due,
    )
  }
  const { rows } = await world.pool.query<{ id: string }>('select id from failed_charges')
  expect(new Set(rows.map(({ id }) => id))).toEqual(setAside)
  expect(
    [...costs]
      .filter(([, { outcome }]) => outcome === 'kept')
      .map(([id]) => id)
      .toSorted(),
  ).toEqual([...setAside].toSorted())
  expect((await world.pool.query('select id from leases')).rows).toEqual([])
  expect(leasesTaken, 'leases taken').toBeGreaterThan(0)
  const { rows: left } = await world.pool.query("select id from holds where status = 'open' and node_id <> 0")
  expect(left).toEqual([])
  // The test has seen what it is about.
  expect((await Promise.all(users.map(({ id }) => paidByPlans(id)))).filter((paid) => paid > 0).length).toBe(4)
  for (const outcome of ['charged', 'given-up', 'kept', 'released'] as const)
    expect(
      [...costs.values()].some((cost) => cost.outcome === outcome),
      outcome,
    ).toBe(true)
})
