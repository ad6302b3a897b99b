import type { Pool, QueryConfig } from 'pg'
import { afterEach, expect, test } from 'vitest'
import type { Renewal } from '#features/ledger/charge-row.ts'
import { type Ledger, SettleFailed } from '#features/ledger/service.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { type HeldCall, startLedgerWorld } from '../support/ledger-world.ts'
import { until } from '../support/processes.ts'

const world = await startLedgerWorld()
afterEach(async () => {
  if ((await ledgerViolations(world.pool)).length > 0) throw new Error('the ledger does not balance')
})

/** A renewal of a hold whose part cost `quota`, with `amount` set aside for the next. */
const renewalOf = (
  { id, userId, tokenId }: HeldCall,
  { quota, amount, remaining }: { quota: number; amount: number; remaining?: number },
): Renewal => ({
  row: world.chargeOf({ id, userId, tokenId, quota }),
  next: { id: world.newId(), userId, tokenId, amount, model: 'gpt-4o' },
  remaining,
})

const holdsOf = async (userId: number) =>
  (
    await world.pool.query<{ id: string; amount: number; node_id: number }>(
      "select id, amount::int, node_id from holds where user_id = $1 and status = 'open'",
      [userId],
    )
  ).rows

const held = async (ledger: Ledger, input: { quota: number; remain: number; amount: number }) => {
  const user = await world.make.user({ quota: input.quota })
  const token = await world.make.token(user, { remainQuota: input.remain })
  const hold = { id: world.newId(), userId: user.id, tokenId: token.id }
  await ledger.reserve({ ...hold, amount: input.amount })
  return hold
}

test('a renewal charges one part and sets the next aside: the difference moves, one hold is open', async () => {
  const ledger = world.ledgerWith()
  const hold = await held(ledger, { quota: 1000, remain: 500, amount: 100 })
  const renewal = renewalOf(hold, { quota: 130, amount: 100 })
  expect(await ledger.renew(renewal)).toEqual({
    verdict: 'ok',
    userQuota: 870,
    payable: 870,
    tokenQuota: 370,
    capLeft: null,
    cap: null,
  })
  expect(await world.balanceOf(hold.userId)).toBe(770)
  expect(await world.tokenOf(hold.tokenId)).toEqual({ remain: 270, used: 130, status: 1 })
  expect(await holdsOf(hold.userId)).toEqual([{ id: renewal.next.id, amount: 100, node_id: 1 }])
  const { rows } = await world.pool.query('select quota::int from logs where request_id = $1', [hold.id])
  expect(rows).toEqual([{ quota: 130 }])
})

test('what cannot be set aside is refused although its predecessor is charged, and the spent token is exhausted', async () => {
  const ledger = world.ledgerWith()
  const poor = await held(ledger, { quota: 150, remain: 1000, amount: 100 })
  const refused = await ledger.renew(renewalOf(poor, { quota: 60, amount: 100 }))
  expect(refused).toMatchObject({ verdict: 'user_insufficient', userQuota: 90 })
  expect(await world.balanceOf(poor.userId)).toBe(90)
  expect(await holdsOf(poor.userId)).toEqual([])
  const thin = await held(ledger, { quota: 1000, remain: 150, amount: 100 })
  expect((await ledger.renew(renewalOf(thin, { quota: 60, amount: 100 }))).verdict).toBe('token_insufficient')
  expect(await world.tokenOf(thin.tokenId)).toEqual({ remain: 90, used: 60, status: 1 })
  const spent = await held(ledger, { quota: 1000, remain: 100, amount: 100 })
  expect((await ledger.renew(renewalOf(spent, { quota: 100, amount: 100 }))).verdict).toBe('token_exhausted')
  expect(await world.tokenOf(spent.tokenId)).toEqual({ remain: 0, used: 100, status: 4 })
})

test('what a renewal keeps of its hold is the next one whatever the verdict, though others were charged more than anybody had', async () => {
  const ledger = world.ledgerWith()
  const hold = await held(ledger, { quota: 1000, remain: 1000, amount: 900 })
  const other = { id: world.newId(), userId: hold.userId, tokenId: hold.tokenId }
  await ledger.reserve({ ...other, amount: 100 })
  await ledger.settle(world.chargeOf({ ...other, quota: 300 }), 'go-on')
  expect(await world.balanceOf(hold.userId)).toBe(-200)
  const refused = renewalOf(hold, { quota: 300, remaining: 500, amount: 700 })
  expect(await ledger.renew(refused)).toMatchObject({ verdict: 'user_insufficient', userQuota: -100 })
  expect(await holdsOf(hold.userId)).toMatchObject([{ id: refused.next.id, amount: 500 }])
  expect(await world.tokenOf(hold.tokenId)).toMatchObject({ remain: -100, used: 600 })
  expect(ledger.openCalls()).toBe(1)
  const again = renewalOf(refused.next, { quota: 200, remaining: 300, amount: 300 })
  expect((await ledger.renew(again)).verdict).toBe('ok')
  expect(await holdsOf(hold.userId)).toMatchObject([{ id: again.next.id, amount: 300 }])
  expect(await world.balanceOf(hold.userId)).toBe(-100)
  await ledger.release(again.next)
  expect(await world.balanceOf(hold.userId)).toBe(200)
  expect(await world.tokenOf(hold.tokenId)).toMatchObject({ remain: 200, used: 800 })
})

test('what is kept stays where it counts, in a plan and its windows, under a cap and below what is set aside anew', async () => {
  const ledger = world.ledgerWith()
  const user = await world.make.user({ quota: 1000 })
  const plan = await world.make.subscription(user, { windows: [{ amount: 500 }] })
  await world.make.spendCap({ scope: 'user', id: user.id }, { amount: 1200 })
  const hold = { id: world.newId(), userId: user.id, tokenId: 0 }
  await ledger.reserve({ ...hold, amount: 900, model: 'gpt-4o' })
  const capped = renewalOf(hold, { quota: 300, remaining: 600, amount: 1000 })
  expect(await ledger.renew(capped)).toMatchObject({ verdict: 'cap_reached', capLeft: 300 })
  const raised = renewalOf(capped.next, { quota: 100, remaining: 500, amount: 700 })
  expect((await ledger.renew(raised)).verdict).toBe('ok')
  expect(await holdsOf(user.id)).toMatchObject([{ id: raised.next.id, amount: 700 }])
  await ledger.settle(world.chargeOf({ ...hold, id: raised.next.id, quota: 250 }), 'go-on')
  const { rows } = await world.pool.query('select used_quota::int as used from subscriptions where id = $1', [plan.id])
  expect(rows).toEqual([{ used: 500 }])
  expect(await world.balanceOf(user.id)).toBe(1000 - 150)
})

test('of two parts that end at once on a balance for one more, one goes on', async () => {
  const user = await world.make.user({ quota: 300 })
  const nodes = [world.ledgerWith({ nodeId: 1 }), world.ledgerWith({ nodeId: 2 })]
  const holds = nodes.map(() => ({ id: world.newId(), userId: user.id, tokenId: 0 }))
  await Promise.all(nodes.map((node, index) => node.reserve({ ...(holds[index] as (typeof holds)[0]), amount: 100 })))
  const verdicts = await Promise.all(
    nodes.map((node, index) => node.renew(renewalOf(holds[index] as (typeof holds)[0], { quota: 100, amount: 100 }))),
  )
  expect(verdicts.map(({ verdict }) => verdict).toSorted()).toEqual(['ok', 'user_insufficient'])
  expect(await world.balanceOf(user.id)).toBe(0)
})

/** A pool that carries its first renewals out and loses the answers. */
function disconnecting(times: number): Pool {
  let left = times
  return {
    query: async (query: QueryConfig) => {
      const result = await world.pool.query(query)
      if (query.name !== 'ledger_step' || left <= 0) return result
      left -= 1
      throw new Error('Connection terminated unexpectedly')
    },
  } as unknown as Pool
}

test('a renewal whose commit was not acknowledged is sent again and happens once', async () => {
  const ledger = world.ledgerWith({ pool: disconnecting(2) })
  const hold = await held(ledger, { quota: 1000, remain: 500, amount: 100 })
  const renewal = renewalOf(hold, { quota: 130, amount: 100 })
  expect((await ledger.renew(renewal)).verdict).toBe('ok')
  expect(await world.balanceOf(hold.userId)).toBe(770)
  expect(await world.tokenOf(hold.tokenId)).toEqual({ remain: 270, used: 130, status: 1 })
  expect(await holdsOf(hold.userId)).toMatchObject([{ id: renewal.next.id, amount: 100 }])
})

test('what is kept is kept once, although the renewal is sent again', async () => {
  const ledger = world.ledgerWith({ pool: disconnecting(2) })
  const hold = await held(ledger, { quota: 1000, remain: 500, amount: 400 })
  const renewal = renewalOf(hold, { quota: 130, remaining: 200, amount: 300 })
  expect((await ledger.renew(renewal)).verdict).toBe('ok')
  expect(await world.balanceOf(hold.userId)).toBe(570)
  expect(await world.tokenOf(hold.tokenId)).toEqual({ remain: 70, used: 130, status: 1 })
  expect(await holdsOf(hold.userId)).toMatchObject([{ id: renewal.next.id, amount: 300 }])
})

test('a renewal that is booked too late for its caller keeps the charge and gives the next hold back', async () => {
  const ledger = world.ledgerWith({ pool: disconnecting(6), settleDeadlineMs: 100 })
  const hold = await held(ledger, { quota: 1000, remain: 500, amount: 100 })
  await expect(ledger.renew(renewalOf(hold, { quota: 130, amount: 100 }))).rejects.toBeInstanceOf(SettleFailed)
  await until(async () => (await holdsOf(hold.userId)).length === 0, { what: 'the next hold stays open' })
  await ledger.drained()
  expect(await world.balanceOf(hold.userId)).toBe(870)
  expect(await world.tokenOf(hold.tokenId)).toEqual({ remain: 370, used: 130, status: 1 })
})

test('the next hold of a process that died is given back, the charge before it stays', async () => {
  const hold = await held(world.ledgerWith({ nodeId: 903 }), { quota: 1000, remain: 500, amount: 100 })
  await world.ledgerWith({ nodeId: 903 }).renew(renewalOf(hold, { quota: 130, amount: 100 }))
  await world.pool.query('select ledger_release_node(903)')
  expect(await world.balanceOf(hold.userId)).toBe(870)
  expect(await world.tokenOf(hold.tokenId)).toEqual({ remain: 370, used: 130, status: 1 })
})

test('renewals, settlements and releases of the same users from four nodes neither deadlock nor lose a unit', async () => {
  const users = await Promise.all(Array.from({ length: 4 }, () => world.make.user({ quota: 1_000_000 })))
  const tokens = await Promise.all(users.map((user) => world.make.token(user, { remainQuota: 1_000_000 })))
  const nodes = [21, 22, 23, 24].map((nodeId) => world.ledgerWith({ nodeId }))
  await Promise.all(
    Array.from({ length: 120 }, async (_, index) => {
      const node = nodes[index % 4] as Ledger
      const at = (index * 3) % 4
      let hold = { id: world.newId(), userId: users[at]?.id ?? 0, tokenId: tokens[at]?.id ?? 0 }
      await node.reserve({ ...hold, amount: 50 })
      for (let part = 0; part < 3; part += 1) {
        const renewal = renewalOf(hold, { quota: 30 + (index % 40), amount: 50 })
        expect((await node.renew(renewal)).verdict).toBe('ok')
        hold = { ...hold, id: renewal.next.id }
      }
      if (index % 2 === 0) return node.release(hold)
      return void (await node.settle(world.chargeOf({ ...hold, quota: 7 }), 'go-on'))
    }),
  )
  for (const user of users) expect(await holdsOf(user.id)).toEqual([])
})

test('a charge committed with a renewal is as durable as any other', async () => {
  const { rows } = await world.pool.query<{ before: string }>("select current_setting('synchronous_commit') as before")
  const user = await world.make.user({ quota: 1000 })
  const client = await world.pool.connect()
  try {
    await client.query('begin')
    await client.query(
      "select ledger_step('[]'::json, array[$1::int], array[0], 1, array['durable'], array[$1::int], array[0], array[10::bigint], array[null])",
      [user.id],
    )
    const inside = await client.query("select current_setting('synchronous_commit') as after")
    expect(inside.rows[0]?.after).toBe(rows[0]?.before)
    await client.query('rollback')
    await client.query("begin; set local synchronous_commit = 'remote_write'")
    await client.query(
      "select ledger_step('[]'::json, array[$1::int], array[0], 1, array['durable'], array[$1::int], array[0], array[10::bigint], array[null])",
      [user.id],
    )
    const chosen = await client.query("select current_setting('synchronous_commit') as after")
    expect(chosen.rows[0]?.after).toBe('remote_write')
    await client.query('rollback')
  } finally {
    client.release()
  }
})
