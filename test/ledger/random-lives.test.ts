import { setTimeout as pause } from 'node:timers/promises'
import type { Pool, QueryConfig } from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { grant, type Ledger } from '#features/ledger/service.ts'
import { setTokenQuota } from '#features/ledger/token-quota.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { disconnectingPool, type HeldCall, refuseRows, startLedgerWorld } from '../support/ledger-world.ts'
import { long } from '../support/long.ts'
import { randomOf } from '../support/random.ts'

const world = await startLedgerWorld()
await refuseRows(world.pool)
// Nothing was ever forgotten, so that what became of a charge is found, however late it is looked up.
await world.pool.query("update installation_facts set value = '0' where name = 'settled_calls_since'")
afterEach(() => vi.restoreAllMocks())

const startQuota = 1_000_000
const kinds = ['balance', 'small window', 'wide window', 'plan bought later'] as const

type Node = { ledger: Ledger; id: number; isDead: boolean; died: Promise<'died'>; kill: () => void }
const eachFate = ['yes', 'no', 'stored', 'unknown'] as const
type Fate = (typeof eachFate)[number]
const everyEvent = ['renewed', 'late', 'acts with leases', 'kill'] as const

test('calls, sessions and those of dead processes are charged once and whole, whatever is bought, granted, taken and disabled meanwhile', async () => {
  const seed = long ? Date.now() % 1_000_000 : 20_261_126
  const random = randomOf(seed)
  const seen = new Map<string, number>()
  const see = (what: string) => void seen.set(what, (seen.get(what) ?? 0) + 1)
  let stopping = false
  let lostTime = 0
  const realNow = Date.now.bind(Date)
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + lostTime)

  const payers = await Promise.all(
    Array.from({ length: kinds.length * 2 }, async (_, index) => {
      const kind = kinds[index % kinds.length] as (typeof kinds)[number]
      const user = await world.make.user({ quota: startQuota })
      const unlimited = index >= kinds.length
      const token = await world.make.token(user, { remainQuota: startQuota, unlimited })
      if (kind.endsWith('window'))
        await world.make.subscription(user, {
          windows: [{ amount: kind === 'small window' ? 3000 : 1e9 }, { period: 'week', amount: 1e9 }],
        })
      return { kind, userId: user.id, tokenId: token.id, unlimited, granted: startQuota, allowed: startQuota }
    }),
  )
  type Payer = (typeof payers)[number]

  let started = 0
  /** Every other one leases. One that has died answers nothing more; what it had sent arrives. */
  const startNode = (): Node => {
    started += 1
    const id = started
    let kill = (): void => {}
    const died = new Promise<'died'>((resolve) => {
      kill = () => resolve('died')
    })
    const losing = disconnectingPool(world.hot, ({ name }) => {
      if (stopping || !name?.startsWith('ledger_') || !random.boolean(0.15)) return null
      // The machine of all of them may have slept until it is sent again.
      if (random.boolean(0.1)) lostTime += 90 * 60_000
      return random.pick(['before', 'after'] as const)
    })
    const query = async (asked: QueryConfig) => {
      if (asked.name === 'ledger_act') see('acts with leases')
      if (asked.text.includes('ledger_settle_late')) see('late')
      if (node.isDead) return new Promise(() => {})
      const answer = await losing.query(asked).finally(() => (node.isDead ? new Promise(() => {}) : undefined))
      return answer
    }
    const ledger = world.ledgerWith({
      pool: { query } as unknown as Pool,
      nodeId: id,
      ...(id % 3 === 0 ? {} : { leases: { fromCalls: 2, idleMs: 3000 } }),
      settleDeadlineMs: 400,
    })
    const node: Node = {
      ledger,
      id,
      isDead: false,
      died,
      kill: () => {
        node.isDead = true
        if (id % 3 !== 0) world.bury(ledger)
        kill()
      },
    }
    return node
  }
  const nodes = [startNode(), startNode(), startNode()]

  const charges = new Map<string, { payer: Payer; quota: number; isCharged: () => Fate }>()

  /** What has to become of a charge; of one that was not acknowledged, only where its process lives to see it through. */
  const record = (
    { id, payer }: HeldCall & { payer: Payer },
    quota: number,
    { node, isAcknowledged, isCharged }: { node: Node; isAcknowledged: boolean; isCharged: Fate },
  ) => void charges.set(id, { payer, quota, isCharged: () => (isAcknowledged || !node.isDead ? isCharged : 'unknown') })

  const rounds = long ? 100 : 20
  let ended = 0
  const rowOf = (call: HeldCall & { payer: Payer }, quota: number) => {
    // In turn, so that every kind comes up however the calls fall.
    ended += 1
    const isRefused = ended % 10 === 0
    const log = isRefused || random.boolean(0.5)
    const { id, userId, tokenId } = call
    return {
      isRefused,
      afterwards: Math.floor(ended / 10) % 2 === 0 ? ('go-on' as const) : ('give-up' as const),
      row: world.chargeOf({ id, userId, tokenId, quota, log, ...(isRefused ? { modelName: 'refused-model' } : {}) }),
    }
  }

  const oneCall = async (): Promise<void> => {
    const node = random.pick(nodes)
    const payer = random.pick(payers)
    const ofNode = async <Result>(work: Promise<Result>): Promise<Result | 'died' | 'failed'> =>
      Promise.race([work.catch(() => 'failed' as const), node.died])
    let call = { id: world.newId(), userId: payer.userId, tokenId: payer.tokenId, payer }
    const asked = (amount: number) => ({ ...call, amount, model: 'gpt-4o' })
    const first = await ofNode(node.ledger.reserve(asked(random.below(300))))
    if (typeof first === 'string' || first.verdict !== 'ok') return
    for (let turn = 0; ; turn += 1) {
      // A grown call may have its part in a lease and its rest in a plan that was bought in between.
      if (random.boolean(0.4)) await pause(random.below(20))
      if (random.boolean(0.4)) await ofNode(node.ledger.reserve(asked(300 + random.below(300))))
      const quota = random.below(800)
      if (random.boolean(0.1)) {
        await ofNode(node.ledger.release(call))
        return
      }
      const { row, isRefused, afterwards } = rowOf(call, quota)
      if (turn < 3 && random.boolean(0.3)) {
        const next = { id: world.newId(), userId: payer.userId, tokenId: payer.tokenId }
        const remaining = random.boolean(0.5) ? random.below(300) : 0
        const amount = remaining + random.below(300)
        const renewed = await ofNode(node.ledger.renew({ row, next: { ...next, amount, model: 'gpt-4o' }, remaining }))
        const isAcknowledged = typeof renewed !== 'string'
        record(call, quota, { node, isAcknowledged, isCharged: isRefused ? 'stored' : 'yes' })
        see('renewed')
        if (typeof renewed === 'string' || (renewed.verdict !== 'ok' && remaining === 0)) return
        call = { ...next, payer }
        continue
      }
      const settled = await ofNode(node.ledger.settle(row, afterwards))
      const isAcknowledged = typeof settled !== 'string'
      const isGivenUp = !isAcknowledged && afterwards === 'give-up'
      record(call, quota, { node, isAcknowledged, isCharged: isGivenUp ? 'no' : isRefused ? 'stored' : 'yes' })
      return
    }
  }

  const acts = ['kill', 'plan', 'grant', 'token', 'quota', 'end', 'recover', 'recall'] as const
  let edits = 0
  // What has to come up is drawn, and calls and edits are as fast as the machine.
  const hasSeenEverything = (): boolean => {
    const fates = new Set([...charges.values()].map(({ isCharged }) => isCharged()))
    return (
      edits > 8 * acts.length && eachFate.every((fate) => fates.has(fate)) && everyEvent.every((what) => seen.has(what))
    )
  }
  const administer = async (): Promise<void> => {
    const what = acts[edits % acts.length]
    edits += 1
    const buyers = payers.filter(({ kind }) => kind === 'plan bought later')
    const payer =
      what === 'plan' ? (buyers[Math.floor(edits / acts.length) % buyers.length] as Payer) : random.pick(payers)
    const { userId, tokenId } = payer
    if (what === 'grant') {
      const amount = random.below(20_000) - 10_000
      if (await grant(world.em(), { kind: 'admin_edit', key: String(edits), userId, amount, log: null }))
        payer.granted += amount
    } else if (what === 'token') {
      await world.pool.query('update tokens set status = 3 - status where id = $1 and status in (1, 2)', [tokenId])
    } else if (what === 'quota' && !payer.unlimited) {
      const known = (await world.tokenOf(tokenId)).remain
      const more = random.below(5000)
      await setTokenQuota(world.em(), {
        id: tokenId,
        unlimitedQuota: false,
        remainQuota: known + more,
        knownQuota: known,
      })
      payer.allowed += more
    } else if (what === 'plan') {
      await world.make.subscription({ id: userId }, { windows: [{ amount: random.pick([500, 20_000]) }] })
    } else if (what === 'end') {
      await world.pool.query(
        `with payer as materialized (select id from users where id = $1 for no key update)
         update subscriptions set status = $2 where id = (select s.id from payer join subscriptions s on s.user_id = payer.id
           and s.status = 'active' order by s.id limit 1)`,
        [userId, random.pick(['expired', 'cancelled'])],
      )
      await world.make.subscription({ id: userId }, { windows: [{ amount: 5000 }] })
    } else if (what === 'kill' && (ended < rounds * 10 || !hasSeenEverything())) {
      // Those that are left see their calls through.
      see(what)
      const at = random.below(nodes.length)
      const [dead] = nodes.splice(at, 1, startNode())
      dead?.kill()
      if (random.boolean(0.5)) await world.pool.query('select ledger_release_node($1)', [dead?.id])
    } else if (what === 'recover') {
      await world.pool.query('select ledger_release_node($1)', [random.pick(nodes).id])
    }
    for (const { ledger } of nodes) ledger.returnLeases({ userId })
  }

  const administering = (async () => {
    while (!stopping) {
      await administer()
      await pause(random.below(60))
    }
  })()
  const callers = Array.from({ length: 40 }, async () => {
    for (let round = 0; round < rounds || !hasSeenEverything(); round += 1) await oneCall()
  })
  await Promise.race([Promise.all(callers), administering])
  stopping = true
  await administering
  await Promise.all(nodes.map(({ ledger }) => ledger.drained()))
  // What the dead had sent has arrived once nothing else runs; then their holds and leases are given back.
  for (let id = 1; id <= started; id += 1) await world.pool.query('select ledger_release_node($1)', [id])

  expect(await ledgerViolations(world.pool, { everyCallIsLogged: false }), `seed ${seed}`).toEqual([])
  // The operator books what was kept.
  const { rows: stored } = await world.pool.query<{ id: string; quota: string }>('select id, quota from failed_charges')
  for (const { id, quota } of stored) {
    expect(['stored', 'unknown'], id).toContain(charges.get(id)?.isCharged())
    await world.pool.query('select ledger_resolve_failed_charge($1, $2)', [id, quota])
  }
  expect(await ledgerViolations(world.pool, { everyCallIsLogged: false }), `seed ${seed}, resolved`).toEqual([])
  const { rows: facts } = await world.pool.query<{ id: string; refunded: boolean }>(
    "select s.id, exists (select from grants g where g.kind = 'refund' and g.key = s.id) as refunded from settled_calls s",
  )
  const isPaid = new Map(facts.map(({ id, refunded }) => [id, !refunded]))
  const due = new Map(payers.map(({ userId }) => [userId, 0]))
  for (const [id, { payer, quota, isCharged }] of charges) {
    const [paid, fate] = [quota > 0 && isPaid.get(id) === true, isCharged()]
    see(fate)
    if (quota > 0 && fate !== 'unknown') expect([id, fate, paid], `seed ${seed}`).toEqual([id, fate, fate !== 'no'])
    due.set(payer.userId, (due.get(payer.userId) ?? 0) + (paid ? quota : 0))
  }
  for (const { userId, tokenId, kind, unlimited, granted, allowed } of payers) {
    const { rows } = await world.pool.query<{ n: string }>(
      'select coalesce(sum(used_quota - refunded_quota), 0) as n from subscriptions where user_id = $1',
      [userId],
    )
    const what = `${kind} of user ${userId}, seed ${seed}`
    expect(granted - (await world.balanceOf(userId)) + Number(rows[0]?.n), what).toBe(due.get(userId))
    if (kind !== 'balance') expect(Number(rows[0]?.n), what).toBeGreaterThan(0)
    if (!unlimited) expect(allowed - (await world.tokenOf(tokenId)).remain, `token, ${what}`).toBe(due.get(userId))
  }
  const { rows: left } = await world.pool.query(
    "select id from holds where status = 'open' union all select id::text from leases",
  )
  expect(left).toEqual([])
  for (const what of [...eachFate, ...everyEvent]) expect(seen.get(what) ?? 0, what).toBeGreaterThan(0)
})
