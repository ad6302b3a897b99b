import { beforeEach, expect, test } from 'vitest'
import { createHoldRecovery } from '#features/ledger/node.ts'
import { SettleFailed } from '#features/ledger/service.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { startLedgerWorld, type LedgerWorld, refuseRows } from '../support/ledger-world.ts'
import { until } from '../support/processes.ts'

const world = await startLedgerWorld()
await refuseRows(world.pool)
beforeEach(async () => {
  if ((await ledgerViolations(world.pool)).length > 0) throw new Error('the books do not balance')
})

/** One call of each of so many users, with something set aside for it. */
const heldCalls = (ledger: ReturnType<LedgerWorld['ledgerWith']>, count: number) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const user = await world.make.user({ quota: 1000 })
      const call = { id: world.newId(), userId: user.id, tokenId: 0 }
      await ledger.reserve({ ...call, amount: 400 })
      return call
    }),
  )

test('a name of twelve thousand characters is booked like any other, and so is the rest of its batch', async () => {
  const ledger = world.ledgerWith()
  const calls = await heldCalls(ledger, 20)
  const long = Array.from({ length: 12_000 }, () => String.fromCharCode(97 + Math.random() * 26)).join('')
  await Promise.all(
    calls.map((call, index) =>
      ledger.settle(
        world.chargeOf({
          ...call,
          quota: 30,
          ...(index === 7
            ? { modelName: long, tokenName: long, username: long, group: long, clientIp: long, content: long }
            : {}),
        }),
        'go-on',
      ),
    ),
  )
  for (const call of calls) expect(await world.balanceOf(call.userId)).toBe(970)
  const { rows } = await world.pool.query(
    'select length(model_name) as model, length(token_name) as token from logs where request_id = $1',
    [calls[7]?.id],
  )
  expect(rows).toEqual([{ model: 128, token: 128 }])
  expect(await ledgerViolations(world.pool)).toEqual([])
})

test('what the database refuses of one charge is left out, its money is booked, and the others of its batch are booked at once', async () => {
  const reports: string[] = []
  const ledger = world.ledgerWith({ onSetAside: ({ row, storedAs }) => reports.push(`${row.id} ${storedAs}`) })
  const calls = await heldCalls(ledger, 40)
  const [text, figure] = [calls[11], calls[33]]
  await Promise.all(
    calls.map((call) =>
      ledger.settle(
        world.chargeOf({
          ...call,
          quota: 30,
          ...(call === text ? { content: 'refused text' } : {}),
          ...(call === figure ? { promptTokens: 1e12 } : {}),
        }),
        'go-on',
      ),
    ),
  )
  for (const call of calls) {
    expect(await world.balanceOf(call.userId)).toBe(970)
    expect(await world.logRows(call.id)).toBe(1)
  }
  expect(reports.toSorted()).toEqual([`${text?.id} texts`, `${figure?.id} texts`].toSorted())
})

test('a charge that can be booked in no form is stored with its hold after three refusals, nobody waits for it, and an operator ends it', async () => {
  const reports: string[] = []
  const failures: unknown[] = []
  const ledger = world.ledgerWith({
    nodeId: 701,
    onSetAside: ({ row, storedAs }) => reports.push(`${row.id} ${storedAs}`),
    onError: (error) => failures.push(error),
  })
  const [refused, ...calls] = await heldCalls(ledger, 30)
  if (!refused) throw new Error('no call')
  const row = world.chargeOf({ ...refused, quota: 150, modelName: 'refused-model' })
  const end = ledger.settle(row, 'go-on').catch((error: unknown) => error)
  await Promise.all(calls.map((call) => ledger.settle(world.chargeOf({ ...call, quota: 30 }), 'go-on')))
  expect(await end).toBeInstanceOf(SettleFailed)
  await ledger.drained()
  expect(failures).toHaveLength(3)
  expect(reports).toEqual([`${refused.id} hold`])
  const { rows } = await world.pool.query(
    'select user_id, quota::int, "row", error from failed_charges where id = $1',
    [refused.id],
  )
  expect(rows).toMatchObject([{ user_id: refused.userId, quota: 150, error: 'this row is refused' }])
  expect(JSON.parse(rows[0]?.row)).toEqual(row)
  // The process is long gone, and the hold stays all the same.
  const recover = createHoldRecovery(world.pool)
  await recover()
  await recover()
  expect(await world.balanceOf(refused.userId)).toBe(600)
  expect(await world.heldBy(refused.userId)).toBe(400)
  expect(await ledgerViolations(world.pool)).toEqual([])

  await world.pool.query('select ledger_resolve_failed_charge($1, $2)', [refused.id, 150])
  await world.pool.query('select ledger_resolve_failed_charge($1, $2)', [refused.id, 150])
  expect(await world.balanceOf(refused.userId)).toBe(850)
  expect(await world.heldBy(refused.userId)).toBe(0)
})

test('a charge that was stored although its hold was lost is taken out of the balance, and given back by an operator in full', async () => {
  const user = await world.make.user({ quota: 1000 })
  const token = await world.make.token(user, { remainQuota: 500 })
  const ledger = world.ledgerWith()
  const call = { id: world.newId(), userId: user.id, tokenId: token.id }
  await ledger.settle(world.chargeOf({ ...call, quota: 150, modelName: 'refused-model' }), 'go-on').catch(() => {})
  await ledger.drained()
  expect(await world.balanceOf(user.id)).toBe(850)
  expect(await world.heldBy(user.id)).toBe(150)
  expect(await ledgerViolations(world.pool)).toEqual([])
  await world.pool.query('select ledger_resolve_failed_charge($1, 0)', [call.id])
  expect(await world.balanceOf(user.id)).toBe(1000)
  expect(await world.heldBy(user.id)).toBe(0)
})

test.each(['is open', 'was given back'])(
  'a charge of a leased call that grew on a plan bought meanwhile is stored whole where its hold %s, and paid by the plan for what that set aside',
  async (fate) => {
    const nodeId = fate === 'is open' ? 710 : 711
    const ledger = world.ledgerWith({ nodeId, leases: { fromCalls: 2, idleMs: 600_000 } })
    const user = await world.make.user({ quota: 1_000_000 })
    const token = await world.make.token(user, { remainQuota: 1_000_000 })
    const callOf = () => ({ id: world.newId(), userId: user.id, tokenId: token.id })
    const one = async (): Promise<void> => {
      const call = callOf()
      await ledger.reserve({ ...call, amount: 10 })
      await ledger.settle(world.chargeOf({ ...call, quota: 10 }), 'go-on')
    }
    while ((await world.leasesOf(user.id, nodeId)) !== 1) {
      await Promise.all(Array.from({ length: 60 }, one))
      await ledger.leasesReturned()
    }
    const call = callOf()
    await ledger.reserve({ ...call, amount: 10 })
    expect(await world.openHolds(user.id)).toBe(0)
    const [balance, { remain }] = [await world.balanceOf(user.id), await world.tokenOf(token.id)]
    const plan = await world.make.subscription(user, { windows: [{ amount: 1000 }] })
    ledger.returnLeases({ userId: user.id })
    await ledger.leasesReturned()
    expect((await ledger.reserve({ ...call, amount: 30, model: 'gpt-4o' })).verdict).toBe('ok')
    expect(await world.heldBy(user.id)).toBe(20)
    if (fate === 'was given back') await world.pool.query('select ledger_release_node($1)', [nodeId])
    await ledger.settle(world.chargeOf({ ...call, quota: 45, modelName: 'refused-model' }), 'go-on').catch(() => {})
    await ledger.drained()
    expect(await world.heldBy(user.id)).toBe(45)
    expect(await world.balanceOf(user.id)).toBe(balance - 25)
    expect((await world.tokenOf(token.id)).remain).toBe(remain - 45)
    expect(await ledgerViolations(world.pool)).toEqual([])
    await world.pool.query('select ledger_resolve_failed_charge($1, 45)', [call.id])
    expect(await world.balanceOf(user.id)).toBe(balance - 25)
    expect((await world.tokenOf(token.id)).remain).toBe(remain - 45)
    const { rows } = await world.pool.query('select used_quota::int as used from subscriptions where id = $1', [
      plan.id,
    ])
    expect(rows).toEqual([{ used: 20 }])
    expect(await world.leasedOf(user.id)).toBe(0)
  },
)

test('a charge that can be booked in no form costs nothing where the caller was refused', async () => {
  const ledger = world.ledgerWith()
  const [call] = await heldCalls(ledger, 1)
  if (!call) throw new Error('no call')
  const row = world.chargeOf({ ...call, quota: 150, modelName: 'refused-model' })
  await expect(ledger.settle(row, 'give-up')).rejects.toBeInstanceOf(SettleFailed)
  await ledger.drained()
  expect(await world.balanceOf(call.userId)).toBe(1000)
})

test('a part of a session whose row is refused is stored, and the parts of the other sessions go on', async () => {
  const ledger = world.ledgerWith()
  const calls = await heldCalls(ledger, 12)
  const ends = await Promise.allSettled(
    calls.map((call, index) =>
      ledger.renew({
        row: world.chargeOf({ ...call, quota: 30, ...(index === 5 ? { modelName: 'refused-model' } : {}) }),
        next: { ...call, id: world.newId(), amount: 100 },
      }),
    ),
  )
  expect(ends.map(({ status }) => status)).toEqual(calls.map((_, index) => (index === 5 ? 'rejected' : 'fulfilled')))
  await until(async () => (await world.heldBy(calls[5]?.userId ?? 0)) === 400, { what: 'it is not kept' })
  for (const [index, call] of calls.entries()) expect(await world.heldBy(call.userId)).toBe(index === 5 ? 400 : 100)
})

test('a reservation that the database refuses fails alone and at once', async () => {
  const ledger = world.ledgerWith()
  const users = await Promise.all(Array.from({ length: 20 }, () => world.make.user({ quota: 1000 })))
  const asked = await Promise.allSettled(
    users.map((user, index) =>
      ledger.reserve({ id: world.newId(), userId: user.id, tokenId: 0, amount: index === 3 ? 1e30 : 100 }),
    ),
  )
  expect(asked.map(({ status }) => status)).toEqual(users.map((_, index) => (index === 3 ? 'rejected' : 'fulfilled')))
  expect(await world.balanceOf(users[3]?.id ?? 0)).toBe(1000)
})
