import { beforeEach, expect, test } from 'vitest'
import { refundCharge } from '#features/ledger/refund.ts'
import { connect } from '#db/orm.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { admitted, startLedgerWorld, createTwoNodes, type HeldCall, verdicts } from '../support/ledger-world.ts'

const { prepare, restart, moveClock, nodeAt, reserveAtOnce, spentOf } = createTwoNodes(() => world)

const world = await startLedgerWorld()
await prepare()
beforeEach(restart)

const usedOf = async (id: number): Promise<number> =>
  Number((await world.pool.query('select used_quota as n from subscriptions where id = $1', [id])).rows[0]?.n)
const paidByPlan = async (call: HeldCall) =>
  (await world.pool.query("select other -> 'plan' as plan from logs where request_id = $1", [call.id])).rows[0]?.plan
const violations = () => ledgerViolations(world.pool)

test('of 200 parallel calls on a plan that pays for 20 and keeps the balance out, exactly 20 run; the balance is untouched, and each refusal names the window', async () => {
  const user = await world.make.user({ quota: 1_000_000 })
  const plan = await world.make.subscription(user, {
    balancePays: false,
    windows: [{ amount: 2050 }, { period: 'week', amount: 50_000 }],
  })
  const calls = await reserveAtOnce({ userId: user.id, count: 200 })
  expect(admitted(calls)).toHaveLength(20)
  expect(verdicts(calls)).toEqual(['ok', 'plan_spent'])
  expect(calls.find(({ result }) => result.verdict === 'plan_spent')?.result).toMatchObject({
    payable: 50,
    cap: { id: plan.windows[0], scope: 'subscription', name: 'Team', period: 'rolling', amount: 2050, left: 50 },
  })
  expect(await world.balanceOf(user.id)).toBe(1_000_000)
  expect(await violations()).toEqual([])

  // What was held and not used comes back to every window; what was used beyond a hold is the plan's, too.
  await Promise.all(
    admitted(calls).map(({ call, node }, index) =>
      index < 10
        ? node.settle(world.chargeOf({ ...call, quota: index === 0 ? 160 : 40 }), 'go-on')
        : node.release(call),
    ),
  )
  expect(await Promise.all(plan.windows.map(spentOf))).toEqual([160 + 9 * 40, 160 + 9 * 40])
  expect(await usedOf(plan.id)).toBe(520)
  expect(await world.balanceOf(user.id)).toBe(1_000_000)
  expect(await violations()).toEqual([])
  expect(admitted(await reserveAtOnce({ userId: user.id, count: 200 }))).toHaveLength(15)
})

test('where the balance pays beyond the windows, 200 parallel calls take the plan to its last unit and the rest from the balance, which the log row says', async () => {
  const user = await world.make.user({ quota: 1030 })
  const plan = await world.make.subscription(user, { windows: [{ amount: 2050 }] })
  const calls = await reserveAtOnce({ userId: user.id, count: 200 })
  expect(admitted(calls)).toHaveLength(30)
  expect(verdicts(calls)).toEqual(['ok', 'user_insufficient'])
  expect(await world.balanceOf(user.id)).toBe(80)
  expect(await spentOf(plan.windows[0])).toBe(2050)
  const settled = await Promise.all(
    admitted(calls).map(async ({ call, node }) => {
      await node.settle(world.chargeOf({ ...call, quota: 100 }), 'go-on')
      return (await paidByPlan(call))?.quota ?? 0
    }),
  )
  expect(settled.toSorted((left: number, right: number) => right - left)).toEqual([
    ...Array.from({ length: 20 }, () => 100),
    50,
    ...Array.from({ length: 9 }, () => 0),
  ])
  expect(await world.balanceOf(user.id)).toBe(80)
  expect(await violations()).toEqual([])
})

test('a plan pays first: a charge below its hold gives back to the balance, then to the plan; one above it is the balance’s where the balance has part in the hold', async () => {
  const user = await world.make.user({ quota: 1000 })
  const plan = await world.make.subscription(user, { windows: [{ amount: 60 }] })
  const [mixed] = await reserveAtOnce({ userId: user.id, count: 1 })
  expect(await world.balanceOf(user.id)).toBe(960)
  await mixed?.node.settle(world.chargeOf({ ...mixed.call, quota: 70 }), 'go-on')
  expect([await world.balanceOf(user.id), await spentOf(plan.windows[0])]).toEqual([990, 60])

  const other = await world.make.user({ quota: 1000 })
  const second = await world.make.subscription(other, { windows: [{ amount: 60 }] })
  const [low] = await reserveAtOnce({ userId: other.id, count: 1 })
  await low?.node.settle(world.chargeOf({ ...low.call, quota: 45 }), 'go-on')
  expect([await world.balanceOf(other.id), await spentOf(second.windows[0])]).toEqual([1000, 45])
  const [high] = await reserveAtOnce({ userId: other.id, count: 1 })
  await high?.node.settle(world.chargeOf({ ...high.call, quota: 130 }), 'go-on')
  expect([await world.balanceOf(other.id), await spentOf(second.windows[0])]).toEqual([885, 60])
  expect(await violations()).toEqual([])
})

test('a growing call raises its hold from the plan, then from the balance; its log row says what each paid', async () => {
  const user = await world.make.user({ quota: 1000 })
  const plan = await world.make.subscription(user, { windows: [{ amount: 250 }] })
  const call: HeldCall = { id: world.newId(), userId: user.id, tokenId: 0 }
  const node = nodeAt(0)
  const raise = (amount: number) => node.reserve({ ...call, amount, model: 'gpt-4o' })
  expect((await raise(100)).payable).toBe(1250)
  await raise(200)
  expect(await world.balanceOf(user.id)).toBe(1000)
  expect((await raise(400)).payable).toBe(1050)
  expect(await world.balanceOf(user.id)).toBe(850)
  expect((await raise(1400)).verdict).toBe('user_insufficient')
  await node.settle(world.chargeOf({ ...call, quota: 390 }), 'go-on')
  expect(await paidByPlan(call)).toEqual({ id: plan.id, name: 'Team', quota: 250 })
  expect(await world.balanceOf(user.id)).toBe(860)
  expect(await violations()).toEqual([])
})

test('a plan covers its models only; of several, one that has enough and ends first pays, and one that keeps the balance out does so for its models', async () => {
  const user = await world.make.user({ quota: 1000 })
  const later = await world.make.subscription(user, { windows: [{ amount: 500 }], endsAt: new Date('2099-01-01') })
  const sooner = await world.make.subscription(user, {
    windows: [{ amount: 150 }],
    models: ['gpt-4o*'],
    balancePays: false,
    endsAt: new Date('2098-01-01'),
  })
  const [first, second] = [
    await reserveAtOnce({ userId: user.id, count: 1 }),
    await reserveAtOnce({ userId: user.id, count: 1 }),
  ]
  expect([...first, ...second].map(({ result }) => result.verdict)).toEqual(['ok', 'ok'])
  expect([await spentOf(sooner.windows[0]), await spentOf(later.windows[0])]).toEqual([100, 100])
  expect(verdicts(await reserveAtOnce({ userId: user.id, amount: 450, count: 1 }))).toEqual(['plan_spent'])
  expect(verdicts(await reserveAtOnce({ userId: user.id, amount: 450, model: 'claude-sonnet-4', count: 1 }))).toEqual([
    'ok',
  ])
  expect(await world.balanceOf(user.id)).toBe(950)
  expect(await violations()).toEqual([])
})

test('caps and token quota count what a plan pays like what the balance pays', async () => {
  const user = await world.make.user({ quota: 0 })
  const token = await world.make.token(user, { remainQuota: 700 })
  const plan = await world.make.subscription(user, { windows: [{ amount: 10_000 }] })
  await world.make.spendCap({ scope: 'user', id: user.id }, { amount: 900 })
  const capped = await reserveAtOnce({ userId: user.id, tokenId: token.id, count: 50 })
  expect([admitted(capped).length, verdicts(capped)]).toEqual([7, ['ok', 'token_insufficient']])
  const without = await reserveAtOnce({ userId: user.id, count: 50 })
  expect([admitted(without).length, verdicts(without)]).toEqual([2, ['cap_reached', 'ok']])
  expect(await spentOf(plan.windows[0])).toBe(900)
  await Promise.all(
    admitted(capped).map(({ call, node }) => node.settle(world.chargeOf({ ...call, quota: 60 }), 'go-on')),
  )
  expect(await spentOf(plan.windows[0])).toBe(7 * 60 + 200)
  expect(await violations()).toEqual([])
})

test('windows of a plan turn at their instant, with 200 parallel calls on either side of it; before it begins and after its end a plan pays nothing', async () => {
  const user = await world.make.user({ quota: 0 })
  const plan = await world.make.subscription(user, {
    windows: [
      { period: 'day', zone: 'Asia/Shanghai', amount: 2000 },
      { period: 'week', zone: 'Asia/Shanghai', amount: 5000 },
    ],
    startsAt: new Date('2027-03-09T00:00:00Z'),
    endsAt: new Date('2027-03-12T00:00:00Z'),
  })
  const runsAt = async (at: string) => {
    await moveClock(at)
    return admitted(await reserveAtOnce({ userId: user.id, count: 200 })).length
  }
  expect(await runsAt('2027-03-08T23:59:59.999Z')).toBe(0)
  expect(await runsAt('2027-03-09T15:59:59.999Z')).toBe(20)
  expect(await runsAt('2027-03-09T16:00:00Z')).toBe(20)
  expect(await runsAt('2027-03-10T16:00:00Z')).toBe(10)
  expect(await runsAt('2027-03-12T00:00:00Z')).toBe(0)
  expect(await Promise.all(plan.windows.map(spentOf))).toEqual([5000, 5000])
  await world.pool.query('select ledger_expire_plans()')
  expect((await world.pool.query('select status from subscriptions where id = $1', [plan.id])).rows[0]?.status).toBe(
    'expired',
  )
  expect((await world.pool.query('select has_plan from users where id = $1', [user.id])).rows[0]?.has_plan).toBe(false)
  expect(await violations()).toEqual([])
})

test('plans end without waiting for a user whose row somebody keeps locked, and hold up nobody else meanwhile', async () => {
  const [first, held] = [await world.make.user(), await world.make.user()]
  const terms = { windows: [{ amount: 100 }], endsAt: new Date('2027-03-12T00:00:00Z') }
  const plans = [await world.make.subscription(first, terms), await world.make.subscription(held, terms)]
  const statuses = async () =>
    (
      await world.pool.query('select status from subscriptions where id = any ($1) order by id', [
        plans.map(({ id }) => id),
      ])
    ).rows.map(({ status }) => status)
  await moveClock('2027-03-12T00:00:00Z')
  await using unlock = await world.lock('select 1 from users where id = $1 for update', [held.id])
  await world.hot.query('select ledger_expire_plans()')
  expect(await statuses()).toEqual(['expired', 'active'])
  await unlock()
  await world.hot.query('select ledger_expire_plans()')
  expect(await statuses()).toEqual(['expired', 'expired'])
})

test('what a dead process held of a plan comes back to its windows; a charge that comes after all is the plan’s', async () => {
  const user = await world.make.user({ quota: 1000 })
  const plan = await world.make.subscription(user, { windows: [{ amount: 300 }], balancePays: false })
  const node = world.ledgerWith({ nodeId: 91 })
  const calls = Array.from({ length: 3 }, (): HeldCall => ({ id: world.newId(), userId: user.id, tokenId: 0 }))
  for (const call of calls) await node.reserve({ ...call, amount: 100, model: 'gpt-4o' })
  expect(await spentOf(plan.windows[0])).toBe(300)
  await world.pool.query('select ledger_release_node(91)')
  expect([await spentOf(plan.windows[0]), await world.balanceOf(user.id)]).toEqual([0, 1000])
  const [late, lost] = calls as [HeldCall, HeldCall]
  await node.settle(world.chargeOf({ ...late, quota: 80 }), 'go-on')
  await world.pool.query('delete from holds where id = $1', [lost.id])
  await node.settle(world.chargeOf({ ...lost, quota: 70 }), 'go-on')
  expect([await spentOf(plan.windows[0]), await world.balanceOf(user.id)]).toEqual([150, 1000])
  expect(await violations()).toEqual([])
})

test('what is locked of a dead process’s users is left to a later look, the others have theirs at once', async () => {
  const users = [await world.make.user({ quota: 1000 }), await world.make.user({ quota: 1000 })] as const
  const node = world.ledgerWith({ nodeId: 92 })
  for (const user of users) await node.reserve({ id: world.newId(), userId: user.id, tokenId: 0, amount: 100 })
  await using unlock = await world.lock('select 1 from users where id = $1 for update', [users[0].id])
  await world.pool.query('select ledger_release_node(92)')
  expect(await Promise.all(users.map(({ id }) => world.balanceOf(id)))).toEqual([900, 1000])
  await unlock()
  await world.pool.query('select ledger_release_node(92)')
  expect(await world.balanceOf(users[0].id)).toBe(1000)
  expect(await violations()).toEqual([])
})

test('a call that began under a plan may grow under it after the plan’s end, unless it was cancelled', async () => {
  const user = await world.make.user({ quota: 0 })
  const plan = await world.make.subscription(user, {
    balancePays: false,
    windows: [{ amount: 1000 }],
    startsAt: new Date('2027-03-09T00:00:00Z'),
    endsAt: new Date('2027-03-12T00:00:00Z'),
  })
  await moveClock('2027-03-11T23:59:59Z')
  const call: HeldCall = { id: world.newId(), userId: user.id, tokenId: 0 }
  const grow = (amount: number) => nodeAt(0).reserve({ ...call, amount, model: 'gpt-4o' })
  expect((await grow(100)).verdict).toBe('ok')
  await moveClock('2027-03-12T00:00:10Z')
  expect((await grow(300)).verdict).toBe('ok')
  expect(await spentOf(plan.windows[0])).toBe(300)
  await world.pool.query("update subscriptions set status = 'cancelled' where id = $1", [plan.id])
  expect((await grow(400)).verdict).not.toBe('ok')
  await nodeAt(0).settle(world.chargeOf({ ...call, quota: 250 }), 'go-on')
  expect(await violations()).toEqual([])
})

test('windows of a plan leave the token that has the plan’s number alone', async () => {
  const user = await world.make.user({ quota: 1000 })
  const token = await world.make.token(user, { remainQuota: 100 })
  await world.pool.query('update tokens set id = 1000000 where id = $1', [token.id])
  await world.pool.query("select setval('subscriptions_id_seq', 999999)")
  const plan = await world.make.subscription(user, { windows: [{ amount: 300 }] })
  expect(plan.id).toBe(1_000_000)
  const { rows } = await world.pool.query('select has_spend_caps from tokens where id = 1000000')
  expect(rows).toEqual([{ has_spend_caps: false }])
})

test('one part after another of a long call is paid by the plan, then by the balance', async () => {
  const user = await world.make.user({ quota: 1000 })
  const plan = await world.make.subscription(user, { windows: [{ amount: 250 }] })
  let call: HeldCall = { id: world.newId(), userId: user.id, tokenId: 0 }
  const node = nodeAt(0)
  await node.reserve({ ...call, amount: 100, model: 'gpt-4o' })
  for (let part = 0; part < 4; part += 1) {
    const next = { ...call, id: world.newId() }
    await node.renew({ row: world.chargeOf({ ...call, quota: 90 }), next: { ...next, amount: 100, model: 'gpt-4o' } })
    call = next
  }
  await node.release(call)
  expect([await spentOf(plan.windows[0]), await world.balanceOf(user.id)]).toEqual([250, 890])
  expect(await violations()).toEqual([])
})

test('a refund, asked for 50 times at once, goes back once: to the windows what the plan had paid, to the balance the rest, to the token all of it', async () => {
  const user = await world.make.user({ quota: 1000 })
  const token = await world.make.token(user, { remainQuota: 500 })
  const plan = await world.make.subscription(user, { windows: [{ amount: 250 }, { period: 'day', amount: 400 }] })
  const [held] = await reserveAtOnce({ userId: user.id, tokenId: token.id, amount: 300, count: 1 })
  if (!held) throw new Error('one call was made')
  await held.node.settle(world.chargeOf({ ...held.call, quota: 300 }), 'go-on')
  expect(await world.balanceOf(user.id)).toBe(950)
  const database = await connect(world.connection, 4)
  try {
    await Promise.all(
      Array.from({ length: 50 }, () => refundCharge(database.orm.em.fork(), { ...held.call, quota: 300 }, () => null)),
    )
  } finally {
    await database.close()
  }
  expect([await world.balanceOf(user.id), ...(await Promise.all(plan.windows.map(spentOf)))]).toEqual([1000, 0, 0])
  const { rows } = await world.pool.query('select remain_quota from tokens where id = $1', [token.id])
  expect(Number(rows[0]?.remain_quota)).toBe(500)
  expect(await violations()).toEqual([])
})
