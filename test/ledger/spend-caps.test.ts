import { readFile } from 'node:fs/promises'
import { beforeEach, expect, test } from 'vitest'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { admitted, startLedgerWorld, createTwoNodes, type HeldCall, verdicts } from '../support/ledger-world.ts'
import { withinAnHour } from '#test/support/within-an-hour.ts'

const { prepare, restart, moveClock, nodeAt, reserveAtOnce, spentOf } = createTwoNodes(() => world)

const world = await startLedgerWorld()
await prepare()
beforeEach(restart)

const rich = () => world.make.user({ quota: 1_000_000 })

test('of 200 parallel calls on a cap that pays for 20, exactly 20 run; each refusal names the cap, what is left and when it turns', async () => {
  const user = await rich()
  const token = await world.make.token(user)
  const cap = await world.make.spendCap({ scope: 'token', id: token.id }, { amount: 2050 })
  const calls = await reserveAtOnce({ userId: user.id, tokenId: token.id, count: 200 })
  expect(admitted(calls)).toHaveLength(20)
  expect(verdicts(calls)).toEqual(['cap_reached', 'ok'])
  const refused = calls.find(({ result }) => result.verdict === 'cap_reached')?.result
  expect(refused).toMatchObject({
    capLeft: 50,
    cap: { id: cap, scope: 'token', period: 'rolling', seconds: 18_000, amount: 2050, left: 50 },
  })
  // A piece is a sixtieth of the window, and counts until its last moment has left.
  expect(refused?.cap?.inSeconds).toBeGreaterThanOrEqual(18_000)
  expect(refused?.cap?.inSeconds).toBeLessThanOrEqual(18_300)
  expect(await world.heldBy(user.id)).toBe(2000)
  expect(await ledgerViolations(world.pool)).toEqual([])

  // What was held and not used comes back to the window, what was used and not held does not.
  await Promise.all(
    admitted(calls).map(({ call, node }, index) =>
      index < 10
        ? node.settle(world.chargeOf({ ...call, quota: index === 0 ? 160 : 40 }), 'go-on')
        : node.release(call),
    ),
  )
  expect(await spentOf(cap)).toBe(160 + 9 * 40)
  expect(await ledgerViolations(world.pool)).toEqual([])
  expect(admitted(await reserveAtOnce({ userId: user.id, tokenId: token.id, count: 200 }))).toHaveLength(15)
})

test('caps of user and token, rolling and by the day, hold together: the tightest decides, and nothing is counted for who is refused', async () => {
  await withinAnHour()
  const user = await rich()
  const token = await world.make.token(user, { remainQuota: 100_000 })
  const subject = { scope: 'user' as const, id: user.id }
  const daily = await world.make.spendCap(subject, { period: 'day', zone: 'Asia/Shanghai', amount: 3000 })
  const weekly = await world.make.spendCap({ scope: 'token', id: token.id }, { seconds: 604_800, amount: 1200 })
  const monthly = await world.make.spendCap(subject, { period: 'month', amount: 5000 })
  expect(admitted(await reserveAtOnce({ userId: user.id, tokenId: token.id, count: 50 }))).toHaveLength(12)
  // Without the token the user's own caps are left.
  expect(admitted(await reserveAtOnce({ userId: user.id, count: 50 }))).toHaveLength(18)
  expect(await Promise.all([daily, weekly, monthly].map(spentOf))).toEqual([3000, 1200, 3000])
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a spent balance is reported before a spent cap, and a free call needs neither', async () => {
  const user = await world.make.user({ quota: 50 })
  await world.make.spendCap({ scope: 'user', id: user.id }, { amount: 0 })
  expect(verdicts(await reserveAtOnce({ userId: user.id, count: 1 }))).toEqual(['user_insufficient'])
  expect(verdicts(await reserveAtOnce({ userId: user.id, amount: 10, count: 1 }))).toEqual(['cap_reached'])
  expect(verdicts(await reserveAtOnce({ userId: user.id, amount: 0, count: 1 }))).toEqual(['ok'])
})

test('calendar windows turn at the very instant of their zone, with 200 parallel calls on either side of it', async () => {
  for (const { period, zone, before, at } of [
    { period: 'day', zone: 'Asia/Shanghai', before: '2027-03-09T15:59:59.999Z', at: '2027-03-09T16:00:00Z' },
    // The clocks of New York are put forward within this week.
    { period: 'week', zone: 'America/New_York', before: '2027-03-15T03:59:59.999Z', at: '2027-03-15T04:00:00Z' },
    { period: 'month', zone: 'UTC', before: '2027-02-28T23:59:59.999Z', at: '2027-03-01T00:00:00Z' },
  ]) {
    const user = await rich()
    const cap = await world.make.spendCap({ scope: 'user', id: user.id }, { period, zone, amount: 2000 })
    await moveClock(before)
    const early = await reserveAtOnce({ userId: user.id, count: 200 })
    expect(admitted(early), period).toHaveLength(20)
    const refused = early.find(({ result }) => result.verdict === 'cap_reached')?.result.cap
    expect(new Date((refused?.turnsAt ?? 0) * 1000).toISOString()).toBe(new Date(at).toISOString())
    expect(refused?.inSeconds).toBe(1)
    await moveClock(at)
    expect(admitted(await reserveAtOnce({ userId: user.id, count: 200 })), period).toHaveLength(20)
    expect(await spentOf(cap)).toBe(4000)
  }
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a cap in a zone that the database does not know counts by the days of UTC, and fails no call', async () => {
  const user = await rich()
  const cap = await world.make.spendCap(
    { scope: 'user', id: user.id },
    { period: 'day', zone: 'Asia/Gone', amount: 2000 },
  )
  await moveClock('2027-03-09T23:59:59Z')
  const early = await reserveAtOnce({ userId: user.id, count: 50 })
  expect(admitted(early)).toHaveLength(20)
  const refused = early.find(({ result }) => result.verdict === 'cap_reached')?.result.cap
  expect(refused?.turnsAt).toBe(Date.parse('2027-03-10T00:00:00Z') / 1000)
  await Promise.all(
    admitted(early).map(({ call, node }) => node.settle(world.chargeOf({ ...call, quota: 40 }), 'go-on')),
  )
  expect(await spentOf(cap)).toBe(800)
  await moveClock('2027-03-10T00:00:00Z')
  expect(admitted(await reserveAtOnce({ userId: user.id, count: 50 }))).toHaveLength(20)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('caps, plans and orders with an old name of their zone get the current one, and keep what was spent', async () => {
  const user = await rich()
  const cap = await world.make.spendCap(
    { scope: 'user', id: user.id },
    { period: 'day', zone: 'Asia/Calcutta', amount: 2000 },
  )
  await moveClock('2027-03-09T10:00:00Z')
  await reserveAtOnce({ userId: user.id, count: 3 })
  const windows = JSON.stringify([
    { period: 'week', seconds: 0, zone: 'America/Buenos_Aires', amount: 5 },
    { period: 'day', seconds: 0, zone: 'Asia/Shanghai', amount: 4 },
  ])
  const plan = await world.pool.query(
    `insert into plans (name, price, term, windows) values ('old', 1, 'month', $1) returning id`,
    [windows],
  )
  const order = await world.pool.query(
    `insert into top_up_orders (user_id, quota, currency, money_minor, gateway, trade_no, plan)
     values ($1, 1, 'CNY', 1, 'epay', 'old', jsonb_build_object('windows', $2::jsonb)) returning id`,
    [user.id, windows],
  )
  const migration = await readFile(new URL('../../db/migrations/0226-current-zone-names.sql', import.meta.url), 'utf8')
  await world.pool.query(`begin; ${migration}; commit`)
  const zones = ['America/Argentina/Buenos_Aires', 'Asia/Shanghai']
  const { rows } = await world.pool.query(
    `select (select zone from spend_caps where id = $1) as cap,
       (select jsonb_path_query_array(windows, '$[*].zone') from plans where id = $2) as plan,
       (select jsonb_path_query_array(plan, '$.windows[*].zone') from top_up_orders where id = $3) as order`,
    [cap, plan.rows[0].id, order.rows[0].id],
  )
  expect(rows).toEqual([{ cap: 'Asia/Kolkata', plan: zones, order: zones }])
  expect(admitted(await reserveAtOnce({ userId: user.id, count: 50 }))).toHaveLength(17)
})

test('a rolling window frees what left it, never sooner, and at most a sixtieth of its length later', async () => {
  const user = await rich()
  await world.make.spendCap({ scope: 'user', id: user.id }, { seconds: 18_000, amount: 2000 })
  const left = async () => admitted(await reserveAtOnce({ userId: user.id, count: 200 })).length
  await moveClock('2027-03-09T10:01:00Z')
  expect(admitted(await reserveAtOnce({ userId: user.id, count: 5 }))).toHaveLength(5)
  await moveClock('2027-03-09T12:30:00Z')
  expect(await left()).toBe(15)
  // Five hours after the first five: one is not free before the last moment of its piece has left.
  for (const [at, count] of [
    ['2027-03-09T15:01:00Z', 0],
    ['2027-03-09T15:04:59Z', 0],
    ['2027-03-09T15:05:00Z', 5],
    ['2027-03-09T17:34:59Z', 0],
    ['2027-03-09T17:35:00Z', 15],
  ] as const) {
    await moveClock(at)
    expect(await left(), at).toBe(count)
  }
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a refusal says when enough comes free for this very call', async () => {
  const user = await rich()
  await world.make.spendCap({ scope: 'user', id: user.id }, { seconds: 3600, amount: 1000 })
  await moveClock('2027-03-09T10:00:30Z')
  await reserveAtOnce({ userId: user.id, amount: 300, count: 1 })
  await moveClock('2027-03-09T10:20:30Z')
  await reserveAtOnce({ userId: user.id, amount: 600, count: 1 })
  const turnOf = async (amount: number) => {
    const [call] = await reserveAtOnce({ userId: user.id, amount, count: 1 })
    return new Date((call?.result.cap?.turnsAt ?? 0) * 1000).toISOString()
  }
  expect(await turnOf(350)).toBe('2027-03-09T11:01:00.000Z')
  expect(await turnOf(700)).toBe('2027-03-09T11:21:00.000Z')
})

test('a hold that grows counts in the window in which it was made, and is refused where that one is full', async () => {
  const user = await rich()
  const cap = await world.make.spendCap({ scope: 'user', id: user.id }, { period: 'day', amount: 1000 })
  await moveClock('2027-03-09T23:59:00Z')
  const [first] = await reserveAtOnce({ userId: user.id, amount: 300, count: 1 })
  if (!first) throw new Error('there is one')
  await moveClock('2027-03-10T00:01:00Z')
  await reserveAtOnce({ userId: user.id, amount: 1000, count: 1 })
  expect(await first.node.reserve({ ...first.call, amount: 900 })).toMatchObject({ verdict: 'ok', capLeft: 700 })
  expect(await first.node.reserve({ ...first.call, amount: 1100 })).toMatchObject({
    verdict: 'cap_reached',
    capLeft: 100,
  })
  const { rows } = await world.pool.query('select amount from spend_cap_buckets where cap_id = $1 order by bucket', [
    cap,
  ])
  expect(rows.map(({ amount }) => Number(amount))).toEqual([900, 1000])
  await first.node.settle(world.chargeOf({ ...first.call, quota: 950 }), 'go-on')
  expect(await spentOf(cap)).toBe(1950)
})

test('200 parallel raises of 20 holds never pass the cap of their window', async () => {
  const user = await rich()
  const cap = await world.make.spendCap({ scope: 'user', id: user.id }, { amount: 5000 })
  const calls = admitted(await reserveAtOnce({ userId: user.id, count: 20 }))
  await Promise.all(
    Array.from({ length: 200 }, (_, index) => {
      const { call, node } = calls[index % calls.length] as (typeof calls)[number]
      return node.reserve({ ...call, amount: 100 + 10 * index })
    }),
  )
  expect(await spentOf(cap)).toBeLessThanOrEqual(5000)
  expect(await spentOf(cap)).toBe(await world.heldBy(user.id))
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a cap that is raised while calls run lets in just as many more; a raise with an end is over at its end', async () => {
  await withinAnHour()
  const user = await rich()
  const cap = await world.make.spendCap({ scope: 'user', id: user.id }, { period: 'day', amount: 1000 })
  const [calls] = await Promise.all([
    reserveAtOnce({ userId: user.id, count: 200 }),
    world.pool.query('update spend_caps set amount = 2500 where id = $1', [cap]),
  ])
  const first = admitted(calls).length
  const second = admitted(await reserveAtOnce({ userId: user.id, count: 200 })).length
  expect(first).toBeGreaterThanOrEqual(10)
  expect(first + second).toBe(25)

  await moveClock('2027-03-09T10:00:00Z')
  await world.pool.query(
    "update spend_caps set raised_amount = 4000, raised_until = '2027-03-09T11:00:00Z' where id = $1",
    [cap],
  )
  expect(admitted(await reserveAtOnce({ userId: user.id, count: 200 }))).toHaveLength(40)
  await moveClock('2027-03-09T11:00:00Z')
  expect(verdicts(await reserveAtOnce({ userId: user.id, count: 3 }))).toEqual(['cap_reached'])
})

test('a cap on some models counts those only, by name or by beginning', async () => {
  const user = await rich()
  const cap = await world.make.spendCap({ scope: 'user', id: user.id }, { amount: 500, models: ['o3', 'gpt-4o*'] })
  expect(admitted(await reserveAtOnce({ userId: user.id, model: 'claude-sonnet-4', count: 20 }))).toHaveLength(20)
  expect(admitted(await reserveAtOnce({ userId: user.id, model: 'o3', count: 3 }))).toHaveLength(3)
  expect(admitted(await reserveAtOnce({ userId: user.id, model: 'o3-mini', count: 3 }))).toHaveLength(3)
  expect(admitted(await reserveAtOnce({ userId: user.id, model: 'gpt-4o-mini', count: 20 }))).toHaveLength(2)
  expect(await spentOf(cap)).toBe(500)
})

test('a process that dies gives its holds back to their windows, and a charge that was on its way counts whole', async () => {
  const user = await rich()
  const token = await world.make.token(user)
  const cap = await world.make.spendCap({ scope: 'token', id: token.id }, { amount: 2000 })
  const dying = world.ledgerWith({ nodeId: 91 })
  const holds = Array.from({ length: 50 }, () => ({ id: world.newId(), userId: user.id, tokenId: token.id }))
  await Promise.all(holds.map((hold) => dying.reserve({ ...hold, amount: 100, model: 'gpt-4o' })))
  expect(await spentOf(cap)).toBe(2000)
  await world.pool.query('select ledger_release_node(91)')
  expect(await spentOf(cap)).toBe(0)
  expect(await ledgerViolations(world.pool)).toEqual([])
  await dying.settle(world.chargeOf({ ...(holds[0] as HeldCall), quota: 130 }), 'go-on')
  expect(await spentOf(cap)).toBe(130)
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('a charge counts once in caps that came while its call ran, whose hold was lost, or that was sent twice; without a log row too', async () => {
  const user = await rich()
  const call = { id: world.newId(), userId: user.id, tokenId: 0 }
  const node = nodeAt(0)
  await node.reserve({ ...call, amount: 100, model: 'gpt-4o' })
  const cap = await world.make.spendCap({ scope: 'user', id: user.id }, { amount: 1000 })
  expect(await node.reserve({ ...call, amount: 300 })).toMatchObject({ verdict: 'ok', capLeft: null })
  await node.settle(world.chargeOf({ ...call, quota: 250 }), 'go-on')
  await node.settle(world.chargeOf({ ...call, quota: 250 }), 'go-on')
  expect(await spentOf(cap)).toBe(250)
  const lost = { id: world.newId(), userId: user.id, tokenId: 0 }
  await node.settle(world.chargeOf({ ...lost, quota: 90, log: false }), 'go-on')
  expect(await spentOf(cap)).toBe(340)
  const renewed = { id: world.newId(), userId: user.id, tokenId: 0 }
  await node.reserve({ ...renewed, amount: 100, model: 'gpt-4o' })
  const next = { ...renewed, id: world.newId(), amount: 600, model: 'gpt-4o' }
  expect(await node.renew({ row: world.chargeOf({ ...renewed, quota: 120, log: false }), next })).toMatchObject({
    verdict: 'cap_reached',
    capLeft: 540,
  })
  expect(await spentOf(cap)).toBe(460)
  expect(await ledgerViolations(world.pool, { everyCallIsLogged: false })).toEqual([])
})

test('whoever loses the last cap is looked at no further, and what no window reaches is forgotten', async () => {
  const user = await rich()
  const flag = async () =>
    (await world.pool.query('select has_spend_caps as on from users where id = $1', [user.id])).rows[0]?.on
  expect(await flag()).toBe(false)
  const cap = await world.make.spendCap({ scope: 'user', id: user.id }, { seconds: 3600, amount: 1000 })
  expect(await flag()).toBe(true)
  await moveClock('2027-01-01T00:00:00Z')
  const [call] = await reserveAtOnce({ userId: user.id, count: 1 })
  await moveClock('2027-01-01T01:30:00Z')
  await world.pool.query('select ledger_forget_buckets()')
  expect(await spentOf(cap)).toBe(100)
  await moveClock('2027-01-01T02:01:00Z')
  await world.pool.query('select ledger_forget_buckets()')
  expect(await spentOf(cap)).toBe(0)
  await world.pool.query('delete from spend_caps where id = $1', [cap])
  expect(await flag()).toBe(false)
  await call?.node.settle(world.chargeOf({ ...call.call, quota: 70 }), 'go-on')
  expect(await world.heldBy(user.id)).toBe(0)
})
