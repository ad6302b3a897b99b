import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { nodeLockClass } from '#features/ledger/node.ts'
import { startProduct, sendSignal, until } from '../support/processes.ts'
import { chargeViolations, untilNothingIsHeld } from './ledger-check.ts'
import { callOnce, type Outcome, startTraffic } from './traffic.ts'
import { createWorld, long } from './world.ts'

const kills = long ? 25 : 2
const rounds = long ? 4 : 2

const livingNodes = `select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
  where datname = current_database() and locktype = 'advisory' and classid = $1`

/** Processes, living or dead, for which something is set aside. */
async function nodesThatHold(pool: Pool): Promise<number[]> {
  const { rows } = await pool.query<{ node: number }>(
    "select node_id as node from holds where status = 'open' union select node_id from leases",
  )
  return rows.map((row) => row.node)
}

test(
  'a worker or the whole product killed under load costs nobody money and loses no answer',
  // The long form kills a hundred times.
  { timeout: long ? 7_200_000 : 600_000 },
  async () => {
    await using world = await createWorld()
    const user = await world.make.user({ quota: 1_000_000_000 })
    const token = await world.make.token(user, { remainQuota: 900_000_000 })
    await world.make.channel()
    const environment = { ...world.environment, WORKERS: '2', LEDGER_LEASES: 'off' }
    let product = await startProduct({ environment })
    let leftBehind = 0
    const cuts: Outcome[] = []
    const refused: Outcome[] = []
    const isLeasing = async (): Promise<boolean> => (await world.pool.query('select 1 from leases')).rowCount !== 0
    try {
      const { url } = product
      const port = new URL(url).port
      using traffic = startTraffic({
        urls: [url],
        tokens: [token],
        kinds: ['plain', 'stream'],
        concurrency: 12,
        pauseMs: 20,
      })
      for (let round = 0; round < rounds; round += 1) {
        for (let kill = 0; kill < kills; kill += 1) {
          await pause(200 + Math.random() * 500)
          // Every second round what is under way stands in leases, not in holds.
          if (round % 2 === 1) await until(isLeasing, { what: 'nothing is leased' })
          const [victim] = product.workers()
          sendSignal(victim, 'SIGKILL')
          const before = traffic.outcomes.filter((outcome) => outcome.complete).length
          // The survivor serves on and the dead one is replaced.
          await until(
            () =>
              product.workers().length === 2 &&
              !product.workers().includes(victim as number) &&
              traffic.outcomes.filter((outcome) => outcome.complete).length > before,
            { what: 'the killed worker is not replaced' },
          )
        }
        await pause(300 + Math.random() * 500)
        await until(async () => (await nodesThatHold(world.pool)).length > 0, {
          what: 'nothing is set aside',
          everyMs: 5,
        })
        // One answer at least is in its middle. Another worker may take a moment to be there after one was killed.
        let cut: Promise<Outcome>
        for (;;) {
          const begun = Promise.withResolvers<true>()
          cut = callOnce(url, token, {
            kind: 'stream',
            text: '[[words=40,gate=never,gateat=5]] tell something',
            onChunk: () => begun.resolve(true),
          })
          if (await Promise.race([begun.promise, cut.then(() => false)])) break
          refused.push(await cut)
        }
        await product.killAll()
        cuts.push(await cut)
        const left = await nodesThatHold(world.pool)
        leftBehind += left.length
        // The database takes those for living whose sessions it has not ended yet.
        await until(async () => (await world.pool.query(livingNodes, [nodeLockClass])).rowCount === 0, {
          what: 'the sessions of the dead do not end',
        })
        product = await startProduct({
          environment: { ...environment, PORT: port, LEDGER_LEASES: round % 2 === 0 ? 'on' : 'off' },
        })
        // On the machine where they ran they are known to be over, and the first call finds every balance whole.
        const holding = await nodesThatHold(world.pool)
        expect(holding.filter((node) => left.includes(node))).toEqual([])
      }
      await until(() => traffic.outcomes.filter(({ complete }) => complete).length > 100, {
        what: 'too little is answered',
      })
      const outcomes = await traffic.stop()
      await untilNothingIsHeld(world.pool)
      expect(outcomes.filter((outcome) => outcome.complete).length).toBeGreaterThan(100)
      expect(cuts.map(({ status, complete }) => ({ status, complete }))).toEqual(
        cuts.map(() => ({ status: 200, complete: false })),
      )
      expect(await chargeViolations(world.pool, [...outcomes, ...cuts, ...refused])).toEqual([])
      expect(leftBehind).toBeGreaterThan(0)
      const { rows } = await world.pool.query("select count(*)::int as released from holds where status = 'released'")
      expect(rows[0].released).toBeGreaterThan(0)
    } finally {
      await product.killAll()
    }
  },
)
