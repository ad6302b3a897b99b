import { expect, test, vi } from 'vitest'
import { createHoldRecovery } from '#features/ledger/node.ts'
import type { Ledger } from '#features/ledger/service.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { startLedgerWorld, disconnectingPool, type HeldCall } from '../support/ledger-world.ts'

const world = await startLedgerWorld()

const calling = (payer: { userId: number; tokenId: number }): HeldCall => ({ id: world.newId(), ...payer })

const nodeOf = new Map<Ledger, number>()

/** A process that leases for tokens that are called forty times a second, and keeps what it leases however slow the machine is. */
function lessee(
  nodeId: number,
  { idleMs = 600_000, ...given }: { idleMs?: number } & Parameters<typeof world.ledgerWith>[0] = {},
): Ledger {
  const ledger = world.ledgerWith({ nodeId, leases: { fromCalls: 40, idleMs }, ...given })
  nodeOf.set(ledger, nodeId)
  return ledger
}

/** Calls of 10 units, sixty at once, until this process has one lease for the token and asks for no other. */
async function busy(ledger: Ledger, payer: { userId: number; tokenId: number }): Promise<void> {
  const nodeId = nodeOf.get(ledger) ?? 0
  while ((await world.leasesOf(payer.userId, nodeId)) !== 1) {
    await Promise.all(Array.from({ length: 60 }, () => charged(ledger, calling(payer), 10)))
    await ledger.leasesReturned()
  }
}

async function charged(ledger: Ledger, call: HeldCall, quota: number): Promise<void> {
  expect((await ledger.reserve({ ...call, amount: quota })).verdict).toBe('ok')
  await ledger.settle(world.chargeOf({ ...call, quota }), 'go-on')
}

async function payerWith(quota: number, remainQuota = quota) {
  const user = await world.make.user({ quota })
  const token = await world.make.token(user, { remainQuota })
  return { userId: user.id, tokenId: token.id }
}

test('a busy token is leased for: its calls open no holds, its balance is charged and shown as ever, and what is left goes back', async () => {
  const ledger = lessee(11)
  const payer = await payerWith(1_000_000)
  await busy(ledger, payer)
  const before = await world.balanceOf(payer.userId)
  const call = calling(payer)
  expect((await ledger.reserve({ ...call, amount: 10 })).verdict).toBe('ok')
  expect(await world.openHolds(payer.userId)).toBe(0)
  expect(await world.balanceOf(payer.userId)).toBe(before)
  const leased = await world.leasedOf(payer.userId)
  await ledger.settle(world.chargeOf({ ...call, quota: 7 }), 'go-on')
  expect(await world.balanceOf(payer.userId)).toBe(before - 7)
  expect(await world.leasedOf(payer.userId)).toBe(leased - 7)
  await ledger.drained()
  expect(await world.leasedOf(payer.userId)).toBe(0)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('what the failed attempts of a leased call cost is booked once, though the call is charged nothing and its end is sent again', async () => {
  let losing = 0
  const pool = disconnectingPool(world.hot, ({ name }) => {
    if (name !== 'ledger_settle') return null
    losing -= 1
    return losing >= 0 ? 'after' : null
  })
  const ledger = lessee(34, { pool })
  const payer = await payerWith(1_000_000)
  await busy(ledger, payer)
  const channel = await world.make.channel()
  const [call, before] = [calling(payer), await world.balanceOf(payer.userId)]
  expect((await ledger.reserve({ ...call, amount: 10 })).verdict).toBe('ok')
  expect(await world.openHolds(payer.userId)).toBe(0)
  losing = 2
  const costs = [{ channelId: channel.id, cost: 70 }]
  await ledger.release({ ...call, uncharged: { modelName: 'gpt-4o', group: 'default', costs } })
  expect(losing).toBeLessThan(0)
  const { rows } = await world.pool.query(
    'select used_cost, (select sum(cost) from usage_hourly where channel_id = c.id) as hourly from channels c where id = $1',
    [channel.id],
  )
  expect(rows).toEqual([{ used_cost: '70', hourly: '70' }])
  expect(await world.balanceOf(payer.userId)).toBe(before)
  await ledger.drained()
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a user whose row somebody keeps locked delays nobody to whom a lease is given back', async () => {
  const ledger = lessee(35)
  const [held, other] = [await payerWith(1_000_000), await payerWith(1_000_000)]
  for (const payer of [held, other]) await busy(ledger, payer)
  await using unlock = await world.lock('select 1 from users where id = $1 for update', [held.userId])
  for (const { userId } of [held, other]) ledger.returnLeases({ userId })
  let isReturned = false
  void ledger.leasesReturned().then(() => {
    isReturned = true
  })
  await expect.poll(() => isReturned).toBe(true)
  expect(await world.leasedOf(other.userId)).toBe(0)
  expect(await world.leasedOf(held.userId)).toBeGreaterThan(0)
  await unlock()
  await ledger.drained()
  expect(await world.leasedOf(held.userId)).toBe(0)
})

test('a lease that nothing is set aside from any more goes back by itself', async () => {
  const ledger = lessee(33, { idleMs: 0 })
  const payer = await payerWith(1_000_000)
  await busy(ledger, payer)
  await expect.poll(() => world.leasedOf(payer.userId)).toBe(0)
  expect(await ledgerViolations(world.pool)).toEqual([])
  await ledger.drained()
})

test('a lease of a dead process goes back with its holds; what that process still charges is paid in full, and it sets nothing more aside from it', async () => {
  const ledger = lessee(12)
  const payer = await payerWith(1_000_000)
  await busy(ledger, payer)
  const [delivered, lost] = [calling(payer), calling(payer)]
  for (const call of [delivered, lost]) await ledger.reserve({ ...call, amount: 10 })
  const before = await world.balanceOf(payer.userId)
  const recover = createHoldRecovery(world.pool)
  await recover()
  expect((await recover()).released).toBe(1)
  expect(await world.leasedOf(payer.userId)).toBe(0)
  // The whole balance is there for others.
  const other = lessee(13)
  const everything = calling(payer)
  expect((await other.reserve({ ...everything, amount: before })).verdict).toBe('ok')
  await other.release(everything)
  // Taken for dead, it lives: what it charges is charged, and from then on it asks.
  await ledger.settle(world.chargeOf({ ...delivered, quota: 9 }), 'go-on')
  expect(await world.balanceOf(payer.userId)).toBe(before - 9)
  const next = calling(payer)
  await ledger.reserve({ ...next, amount: 10 })
  expect(await world.openHolds(payer.userId)).toBe(1)
  for (const call of [lost, next]) await ledger.release(call)
  await ledger.drained()
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('what a process leases is given back before anybody is refused, except for what its calls under way have set aside', async () => {
  const [ledger, other] = [14, 15].map((nodeId) => lessee(nodeId)) as [Ledger, Ledger]
  const payer = await payerWith(1_000_000)
  await busy(ledger, payer)
  const underWay = calling(payer)
  await ledger.reserve({ ...underWay, amount: 10 })
  const balance = await world.balanceOf(payer.userId)
  const [tooMuch, all] = [calling(payer), calling(payer)]
  expect(await other.reserve({ ...tooMuch, amount: balance - 9 })).toMatchObject({
    verdict: 'user_insufficient',
    userQuota: balance - 10,
    payable: balance - 10,
  })
  expect((await other.reserve({ ...all, amount: balance - 10 })).verdict).toBe('ok')
  // The call that was under way grows; nothing is left for that.
  expect((await ledger.reserve({ ...underWay, amount: 11 })).verdict).toBe('user_insufficient')
  await other.release(all)
  expect((await ledger.reserve({ ...underWay, amount: 500 })).verdict).toBe('ok')
  await ledger.settle(world.chargeOf({ ...underWay, quota: 400 }), 'go-on')
  expect(await world.balanceOf(payer.userId)).toBe(balance - 400)
  expect(await world.leasedOf(payer.userId)).toBe(0)
  await Promise.all([ledger.drained(), other.drained()])
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test.each(['balance', 'token'] as const)(
  'two processes that lease from one small %s serve exactly what can be paid',
  async (limit) => {
    const ledgers = [16, 17].map((nodeId) => lessee(nodeId))
    const payer = await (limit === 'balance' ? payerWith(30_000, 1_000_000) : payerWith(1_000_000, 30_000))
    for (const ledger of ledgers) await busy(ledger, payer)
    let served = await world.logsOf(payer.userId)
    const refusals = new Set<string>()
    const caller = async (ledger: Ledger): Promise<void> => {
      for (;;) {
        const call = calling(payer)
        const { verdict } = await ledger.reserve({ ...call, amount: 10 })
        if (verdict !== 'ok') return void refusals.add(verdict)
        await ledger.settle(world.chargeOf({ ...call, quota: 10 }), 'go-on')
        served += 1
      }
    }
    await Promise.all(ledgers.flatMap((ledger) => Array.from({ length: 25 }, () => caller(ledger))))
    expect(served).toBe(3000)
    expect(await world.logsOf(payer.userId)).toBe(3000)
    expect(await world.balanceOf(payer.userId)).toBe(limit === 'balance' ? 0 : 970_000)
    await Promise.all(ledgers.map((ledger) => ledger.drained()))
    expect(await world.leasedOf(payer.userId)).toBe(0)
    // Nothing was left for those who were refused while others were under way, and in the end nothing at all.
    expect([...refusals].filter((verdict) => !verdict.startsWith(limit === 'balance' ? 'user' : 'token'))).toEqual([])
    expect(await ledgerViolations(world.pool)).toEqual([])
  },
)

test.each(['before', 'after'] as const)(
  'a batch that names a lease and whose answer is lost %s it is carried out lowers the lease once',
  async (when) => {
    let losing = 0
    let named = 0
    const pool = disconnectingPool(world.hot, ({ name }) => {
      if (name !== 'ledger_act') return null
      named += 1
      losing -= 1
      return losing >= 0 ? when : null
    })
    const ledger = lessee(when === 'before' ? 18 : 19, { pool })
    const payer = await payerWith(1_000_000)
    await busy(ledger, payer)
    const calls = Array.from({ length: 5 }, () => calling(payer))
    for (const call of calls) expect((await ledger.reserve({ ...call, amount: 10 })).verdict).toBe('ok')
    expect(await world.openHolds(payer.userId)).toBe(0)
    const [balance, leased] = [await world.balanceOf(payer.userId), await world.leasedOf(payer.userId)]
    losing = 3
    named = 0
    await Promise.all(calls.map((call) => ledger.settle(world.chargeOf({ ...call, quota: 8 }), 'go-on')))
    expect(named).toBeGreaterThan(3)
    expect(await world.balanceOf(payer.userId)).toBe(balance - 40)
    expect(await world.leasedOf(payer.userId)).toBe(leased - 40)
    // A lease that was granted without this process hearing of it goes back with the others.
    losing = 2
    await ledger.drained()
    expect(await world.leasedOf(payer.userId)).toBe(0)
    expect(await ledgerViolations(world.pool)).toEqual([])
  },
)

test('leases recalled while calls on them are charged, released and raised keep exactly what is under way', async () => {
  const ledger = lessee(20)
  const payer = await payerWith(10_000_000)
  await busy(ledger, payer)
  let spent = 0
  const before = await world.balanceOf(payer.userId)
  const one = async (turn: number): Promise<void> => {
    const call = calling(payer)
    expect((await ledger.reserve({ ...call, amount: 10 })).verdict).toBe('ok')
    if (turn % 3 === 0) expect((await ledger.reserve({ ...call, amount: 25 })).verdict).toBe('ok')
    if (turn % 5 === 0) return ledger.release(call)
    const quota = turn % 7
    spent += quota
    await ledger.settle(world.chargeOf({ ...call, quota }), 'go-on')
  }
  const open = calling(payer)
  await ledger.reserve({ ...open, amount: 33 })
  const recalling = (async () => {
    for (let round = 0; round < 20; round += 1) {
      ledger.returnLeases({ userId: payer.userId })
      await ledger.leasesReturned()
    }
  })()
  await Promise.all([...Array.from({ length: 300 }, (_, turn) => one(turn)), recalling])
  ledger.returnLeases({ userId: payer.userId })
  await ledger.leasesReturned()
  expect((await world.leasedOf(payer.userId)) + (await world.heldBy(payer.userId))).toBe(33)
  expect(await world.balanceOf(payer.userId)).toBe(before - spent - (await world.heldBy(payer.userId)))
  await ledger.release(open)
  await ledger.drained()
  expect(await world.leasedOf(payer.userId)).toBe(0)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('what a renewed part of a call has set aside goes back when it ends unused, also beside a lease', async () => {
  const ledger = lessee(31)
  const payer = await payerWith(1_000_000)
  const [part, next] = [calling(payer), calling(payer)]
  await ledger.reserve({ ...part, amount: 50 })
  await busy(ledger, payer)
  const renewed = await ledger.renew({ row: world.chargeOf({ ...part, quota: 20 }), next: { ...next, amount: 50 } })
  expect(renewed.verdict).toBe('ok')
  expect((await ledger.reserve({ ...next, amount: 80 })).verdict).toBe('ok')
  await ledger.release(next)
  expect(await world.openHolds(payer.userId)).toBe(0)
  await ledger.drained()
  expect(await world.leasedOf(payer.userId)).toBe(0)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a lease that its process does not know of goes back with the next recall', async () => {
  const ledger = lessee(32)
  const payer = await payerWith(1_000_000)
  await busy(ledger, payer)
  await ledger.recallLeases(payer.userId)
  expect(await world.leasedOf(payer.userId)).toBe(0)
  // As a take that is committed long after its answer was given up.
  await world.pool.query('insert into leases (id, node_id, user_id, token_id, amount) values (1, 32, $1, $2, 900)', [
    payer.userId,
    payer.tokenId,
  ])
  await ledger.recallLeases(payer.userId)
  expect(await world.leasedOf(payer.userId)).toBe(0)
  await ledger.drained()
})

test('a charge that was sent so long ago that it is looked up first comes out of the lease of its call', async () => {
  let losing = false
  const pool = disconnectingPool(world.hot, ({ name }) => (losing && name === 'ledger_act' ? 'before' : null))
  const ledger = lessee(36, { pool })
  const payer = await payerWith(1_000_000)
  await busy(ledger, payer)
  const [late, next] = [calling(payer), calling(payer)]
  for (const call of [late, next]) expect((await ledger.reserve({ ...call, amount: 10 })).verdict).toBe('ok')
  const [balance, leased] = [await world.balanceOf(payer.userId), await world.leasedOf(payer.userId)]
  await world.pool.query("update installation_facts set value = '0' where name = 'settled_calls_since'")
  const clock = vi.spyOn(Date, 'now')
  try {
    losing = true
    const sending = ledger.settle(world.chargeOf({ ...late, quota: 8 }), 'go-on')
    clock.mockReturnValue(performance.timeOrigin + performance.now() + 90 * 60_000)
    await sending
  } finally {
    clock.mockRestore()
    losing = false
  }
  await ledger.settle(world.chargeOf({ ...next, quota: 7 }), 'go-on')
  expect(await world.balanceOf(payer.userId)).toBe(balance - 15)
  expect(await world.leasedOf(payer.userId)).toBe(leased - 15)
  await ledger.drained()
  expect(await world.leasedOf(payer.userId)).toBe(0)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test.each(['before', 'after'] as const)(
  'of a lease, what a charge that was given up may have taken is not set aside again; its answer was lost %s it was carried out',
  async (when) => {
    let losing = false
    let clock = 0
    const pool = disconnectingPool(world.hot, ({ name }) => {
      if (!losing || name !== 'ledger_act') return null
      clock = 1
      return when
    })
    const nodeId = when === 'before' ? 38 : 39
    const ledger = lessee(nodeId, { pool, settleDeadlineMs: 1, runningTime: () => clock })
    const payer = await payerWith(1_000_000)
    await busy(ledger, payer)
    const call = calling(payer)
    expect((await ledger.reserve({ ...call, amount: 10 })).verdict).toBe('ok')
    const before = await world.balanceOf(payer.userId)
    losing = true
    await expect(ledger.settle(world.chargeOf({ ...call, quota: 8 }), 'give-up')).rejects.toThrow('in time')
    losing = false
    await expect.poll(() => ledger.openCalls()).toBe(0)
    expect(await world.balanceOf(payer.userId)).toBe(before)
    // A process that has nothing given back takes all that is not leased.
    const [others, most, one] = [calling(payer), calling(payer), calling(payer)]
    const leased = await world.leasedOf(payer.userId)
    const other = world.ledgerWith({ nodeId: 40 })
    expect((await other.reserve({ ...others, amount: before - leased })).verdict).toBe('ok')
    expect((await ledger.reserve({ ...most, amount: leased })).verdict).toBe('ok')
    expect((await ledger.reserve({ ...one, amount: 1 })).verdict).toBe('user_insufficient')
    await Promise.all([other.release(others), ledger.release(most)])
    await ledger.drained()
    expect(await world.leasedOf(payer.userId)).toBe(0)
    expect(await ledgerViolations(world.pool)).toEqual([])
  },
)

test('a leased call that grows on a plan bought in the middle of it is paid by the plan for what that set aside, by the balance for the rest', async () => {
  const ledger = lessee(37)
  const user = await world.make.user({ quota: 1_000_000 })
  const token = await world.make.token(user, { remainQuota: 1_000_000 })
  const payer = { userId: user.id, tokenId: token.id }
  await busy(ledger, payer)
  const call = calling(payer)
  expect((await ledger.reserve({ ...call, amount: 10 })).verdict).toBe('ok')
  expect(await world.openHolds(user.id)).toBe(0)
  const before = await world.balanceOf(user.id)
  const plan = await world.make.subscription(user, { windows: [{ amount: 20 }] })
  ledger.returnLeases({ userId: user.id })
  await ledger.leasesReturned()
  expect((await ledger.reserve({ ...call, amount: 30, model: 'gpt-4o' })).verdict).toBe('ok')
  await ledger.settle(world.chargeOf({ ...call, quota: 30 }), 'go-on')
  const { rows } = await world.pool.query(
    `select s.used_quota::int as used, (select sum(b.amount)::int from spend_cap_buckets b where b.cap_id = $2) as window
     from subscriptions s where s.id = $1`,
    [plan.id, plan.windows[0]],
  )
  expect(rows).toEqual([{ used: 20, window: 20 }])
  expect(await world.balanceOf(user.id)).toBe(before - 10)
  await ledger.drained()
  expect(await world.leasedOf(user.id)).toBe(0)
  expect(await ledgerViolations(world.pool)).toEqual([])
})
