import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isConnectionLost } from '#core/database-errors.ts'
import type { TestUser } from '../support/factories.ts'
import { ledgerViolations } from '../support/ledger-invariant.ts'
import { type Product, startProduct, sendSignal, until } from '../support/processes.ts'
import { ask, creditViolations, type Customer, makeBuyer, pick, startBuying } from './buyers.ts'
import { chargeViolations, untilNothingIsHeld } from './ledger-check.ts'
import { startTraffic } from './traffic.ts'
import { createWorld, long, type World } from './world.ts'

const seconds = long ? 600 : 6
/** More than all callers' calls together set aside, those of killed processes included: a figure that is set counts it. */
const mostUnderWay = 100_000
const below = (most: number): number => Math.floor(Math.random() * most)

/** What people do in the console meanwhile: balances set and tokens filled, switched off and on, days checked in. */
function startAdministrators(urls: string[], root: TestUser, customers: Customer[]) {
  let stopping = false
  const done = { edits: 0, checkIns: 0 }
  const acts = [
    () => {
      const { user } = pick(customers)
      // What calls under way have set aside is part of it.
      const body = { id: user.id, username: user.username, quota: mostUnderWay + below(400_000) }
      return ask(urls, root, { method: 'PUT', path: '/api/user/', body })
    },
    () => {
      const { user, token } = pick(customers)
      const body = {
        id: token.id,
        name: 'edited',
        expired_time: -1,
        remain_quota: below(300_000),
        unlimited_quota: false,
      }
      return ask(urls, user, { method: 'PUT', path: '/api/token/', body })
    },
    () => {
      const { user, token } = pick(customers)
      const body = { id: token.id, status: pick([1, 1, 2]) }
      return ask(urls, user, { method: 'PUT', path: '/api/token/?status_only=true', body })
    },
  ]
  const checkIn = () => ask(urls, pick(customers).user, { method: 'POST', path: '/api/user/check_in', body: {} })
  const administrate = async (): Promise<void> => {
    while (!stopping) {
      if ((await pick(acts)()).includes('"success":true')) done.edits += 1
      if (done.edits % 4 === 0 && (await checkIn()).includes('"success":true')) done.checkIns += 1
      await pause(30)
    }
  }
  const administrators = [administrate(), administrate()]
  const stop = async (): Promise<void> => {
    stopping = true
    await Promise.all(administrators)
  }
  return { done, stop }
}

/** Ends a worker, a whole instance or every connection to the database, and sees to it that the instance comes back. */
async function disturb(world: World, instances: Product[], start: (port: string) => Promise<Product>): Promise<void> {
  const at = below(instances.length)
  const instance = instances[at] as Product
  switch (below(4)) {
    case 0: {
      const port = new URL(instance.url).port
      await instance.killAll()
      instances[at] = await start(port)
      return
    }
    case 1:
      await world.pool.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      return
    default: {
      const [victim] = instance.workers()
      if (victim !== undefined) sendSignal(victim, 'SIGKILL')
      await until(() => instance.workers().length === 2, { what: 'a worker is not replaced' })
    }
  }
}

/**
 * A stream that ends with the balance is charged for what was delivered, which is counted exactly only then: a token or two more than was
 * set aside. To spend what another call holds is more.
 */
const lowest = -60

/** Equation, sums, credits and balances, while everything goes on. */
async function snapshotViolations(world: World, buyer: TestUser): Promise<string[]> {
  const { rows } = await world.pool.query<{ id: number; quota: string }>(
    'select id, quota from users where quota < $1',
    [lowest],
  )
  const violations = [...(await ledgerViolations(world.pool)), ...(await creditViolations(world.pool, buyer))]
  return [...violations, ...rows.map(({ id, quota }) => `user ${id} stands at ${quota}`)]
}

test(
  'whatever is called, redeemed, paid, taken back, edited and killed on two instances, no unit is lost or made',
  { timeout: 900_000 },
  async () => {
    await using world = await createWorld()
    await world.make.channel()
    await world.make.option('ModelRatio', JSON.stringify({ 'gpt-4o-mini': 3 }))
    await world.make.option('CheckInEnabled', 'true')
    await world.make.option('CheckInQuota', '777')
    const root = await world.make.user({ role: 100 })
    const customers = await Promise.all(
      [2_000, 50_000, 200_000, 1_000_000].map(async (quota): Promise<Customer> => {
        const user = await world.make.user({ quota })
        return { user, token: await world.make.token(user, { remainQuota: quota }) }
      }),
    )
    const buyer = await makeBuyer(world)
    const start = (port?: string): Promise<Product> =>
      startProduct({ environment: { ...world.environment, WORKERS: '2', ...(port ? { PORT: port } : {}) } })
    const instances = await Promise.all([start(), start()])
    const urls = instances.map(({ url }) => url)
    try {
      const tokens = [...customers, buyer].map(({ token }) => token)
      const kinds = ['plain', 'plain', 'stream', 'failing', 'hung-up'] as const
      using traffic = startTraffic({ urls, tokens, kinds: [...kinds], concurrency: 12 })
      const administrators = startAdministrators(urls, root, customers)
      const buying = startBuying(world, { urls, root, buyer: buyer.user, customers })
      const end = Date.now() + seconds * 1000
      const snapshots: string[] = []
      let looks = 0
      const watching = (async () => {
        for (; Date.now() < end; await pause(500)) {
          try {
            snapshots.push(...(await snapshotViolations(world, buyer.user)))
            looks += 1
          } catch (error) {
            // A connection of ours may be among those that are ended.
            if (!isConnectionLost(error)) snapshots.push(String(error))
          }
        }
      })()
      // The test has to see what it is about.
      const hasSeenEnough = (): boolean =>
        administrators.done.edits > 20 &&
        administrators.done.checkIns > 0 &&
        Object.values(buying.done).every((times) => times > 0) &&
        traffic.outcomes.some(({ status }) => status === 403) &&
        (['plain', 'stream'] as const).every(
          (kind) => traffic.outcomes.filter((outcome) => outcome.complete && outcome.kind === kind).length > 20,
        )
      while (Date.now() < end || !hasSeenEnough()) {
        await pause(500 + below(1500))
        await disturb(world, instances, start)
      }
      await watching
      await administrators.stop()
      await buying.stop()
      const outcomes = await traffic.stop()
      await untilNothingIsHeld(world.pool)
      expect(snapshots).toEqual([])
      expect(looks).toBeGreaterThan(0)
      expect(await chargeViolations(world.pool, outcomes)).toEqual([])
      expect(await snapshotViolations(world, buyer.user)).toEqual([])
      expect(hasSeenEnough()).toBe(true)
      const { rows } = await world.pool.query('select kind, count(*)::int as n from grants group by kind')
      expect(rows.map(({ kind }) => kind)).toContain('check_in')
    } finally {
      await Promise.all(instances.map((instance) => instance.killAll()))
    }
  },
)
