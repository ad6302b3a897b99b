import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { inject, expect, test } from 'vitest'
import { relayRoutes } from '#scripts/route-list.ts'
import { startEmbedded } from '#db/embedded.ts'
import { migrate } from '#db/orm.ts'
import { startProduct, sendSignal, until } from '../support/processes.ts'
import { alterDatabase } from './alter-database.ts'
import { chargeViolations, untilNothingIsHeld } from './ledger-check.ts'
import { callOnce, type Outcome, startTraffic } from './traffic.ts'
import { createWorld, long, type World } from './world.ts'

/** A connection outside the database that is to be lost. */
async function connectBeside() {
  const client = new Client({ ...inject('databaseServer'), database: 'postgres' })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

const endConnections = (beside: Client, { connection }: World) =>
  beside.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [connection.database])

const close = (beside: Client, { connection }: World) =>
  alterDatabase(beside, { database: connection.database, setting: 'allow_connections false' })

/** Every answer was complete, or refused in the form callers know, or a stream that says that it failed. */
function strangeAnswers(outcomes: Outcome[]): string[] {
  return outcomes
    .filter(({ status, complete, body, headers }) => {
      if (complete) return false
      if (status === 200) return !body.includes('"error"')
      return status !== 503 || headers.get('retry-after') === null || !body.startsWith('{"error":{"message":')
    })
    .map(({ kind, status, body }) => `${kind} ${status} ${body.slice(-300)}`)
}

/** None while it is being started. */
const postmaster = (folder: string): number | undefined => {
  try {
    return Number(readFileSync(join(folder, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return undefined
  }
}

const servesAgain = (url: string, token: Parameters<typeof callOnce>[1]) =>
  until(async () => (await callOnce(url, token, { kind: 'plain' })).complete, {
    what: 'it does not come back by itself',
  })

const untilAnswered = ({ outcomes }: { outcomes: Outcome[] }) =>
  until(() => outcomes.filter(({ complete }) => complete).length > 50, { what: 'too little is answered' })

test('connections killed under load cost no user quota, and a ban made while disconnected holds within seconds', async () => {
  await using world = await createWorld()
  await using beside = await connectBeside()
  const [user, banned] = await Promise.all([1, 2].map(() => world.make.user({ quota: 1_000_000_000 })))
  const token = await world.make.token(user as { id: number }, { remainQuota: 900_000_000 })
  const tokenOfBanned = await world.make.token(banned as { id: number })
  await world.make.channel()
  await using product = await startProduct({ environment: { ...world.environment, WORKERS: '2' } })
  const { url } = product
  // Every worker keeps the row of the one to be banned.
  const calls: Outcome[] = []
  await until(
    async () => {
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => callOnce(url, tokenOfBanned, { kind: 'plain' })),
      )
      calls.push(...answers)
      return answers.every(({ complete }) => complete)
    },
    { what: 'the one to be banned is not served' },
  )

  using traffic = startTraffic({ urls: [url], tokens: [token], kinds: ['plain', 'stream'], concurrency: 12 })
  for (let round = 0; round < (long ? 40 : 3); round += 1) {
    await pause(150 + Math.random() * 300)
    await endConnections(beside, world)
  }
  await close(beside, world)
  await pause(long ? 30_000 : 500)
  // What was under way may still wait for its settlement; nothing new is served that could not be booked.
  const whileAway = await Promise.all(
    (['plain', 'stream', 'plain', 'stream'] as const).map((kind) => callOnce(url, token, { kind })),
  )
  expect(whileAway.map(({ status }) => status)).toEqual([503, 503, 503, 503])
  expect(strangeAnswers(whileAway)).toEqual([])
  await beside.query(`alter database ${world.connection.database} allow_connections true`)
  await world.pool.query('update users set status = 2 where id = $1', [banned?.id])
  await endConnections(beside, world)
  await servesAgain(url, token)
  await until(
    async () => {
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => callOnce(url, tokenOfBanned, { kind: 'plain' })),
      )
      return answers.every(({ status }) => status === 403)
    },
    { what: 'the ban is not obeyed' },
  )
  await untilAnswered(traffic)
  const outcomes = await traffic.stop()
  await untilNothingIsHeld(world.pool)
  expect(strangeAnswers(outcomes)).toEqual([])
  expect(await chargeViolations(world.pool, [...calls, ...outcomes])).toEqual([])
  expect(product.output()).not.toContain('is replaced')
  expect(await product.stop()).toEqual({ code: 0, signal: null })
})

test('a database stopped immediately under load and restarted has a charge for every answer', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lost-'))
  const embedded = await startEmbedded({ dataDir: folder })
  try {
    await migrate(embedded.connection)
    await using world = await createWorld({ connection: embedded.connection })
    const token = await world.make.token(await world.make.user({ quota: 1_000_000_000 }), { remainQuota: 900_000_000 })
    await world.make.channel()
    await using product = await startProduct({ environment: { ...world.environment, WORKERS: '1' } })
    using traffic = startTraffic({ urls: [product.url], tokens: [token], kinds: ['plain', 'stream'], concurrency: 12 })
    for (let stop = 0; stop < (long ? 10 : 2); stop += 1) {
      await pause(800)
      // What `pg_ctl stop -m immediate` sends; whoever started the database starts it again.
      const stopped = postmaster(folder)
      sendSignal(stopped, 'SIGQUIT')
      await until(() => postmaster(folder) !== stopped, { what: 'the database is not started again' })
      await servesAgain(product.url, token)
    }
    await untilAnswered(traffic)
    const outcomes = await traffic.stop()
    await untilNothingIsHeld(world.pool)
    expect(strangeAnswers(outcomes)).toEqual([])
    expect(await chargeViolations(world.pool, outcomes)).toEqual([])
    expect(await product.stop()).toEqual({ code: 0, signal: null })
  } finally {
    await embedded.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Nothing is there, a balance that cannot be read is documented with status 200, and the playground is the console's. */
const answeredOtherwise = /^GET (?:\/v1)?\/dashboard\/|^GET \/v1\/responses$|\/pg\//

test('while the database is away every path of the relay says so in its own form, and when to come again', async () => {
  await using world = await createWorld()
  await using beside = await connectBeside()
  const token = await world.make.token(await world.make.user())
  await using product = await startProduct({ environment: { ...world.environment, WORKERS: '1' } })
  await close(beside, world)
  const routes = relayRoutes().filter(({ kind, path }) => !answeredOtherwise.test(`${kind} ${path}`))
  expect(routes.length).toBeGreaterThan(80)
  const wrong: string[] = []
  for (const { kind, path } of routes) {
    const method = kind === 'any' ? 'POST' : kind
    const address = path.replace(/(?<!\\)[:*]\w+/g, 'x').replaceAll('\\', '')
    const reply = await fetch(product.url + address, {
      method,
      headers: { authorization: `Bearer sk-${token.key}`, 'content-type': 'application/json' },
      ...(method === 'POST' ? { body: '{"model":"gpt-4o-mini"}' } : {}),
    })
    const text = await reply.text()
    // What is below none of the paths is known without the database.
    if (kind === 'any' && text.includes('Invalid URL')) continue
    const isInForm = /^\{.*(?:"error"|"description"|"message")/.test(text)
    if (reply.status !== 503 || reply.headers.get('retry-after') !== '5' || !isInForm)
      wrong.push(`${method} ${address}: ${reply.status} ${reply.headers.get('retry-after')} ${text.slice(0, 200)}`)
  }
  expect(wrong).toEqual([])
})

test('a node whose database is lost for good still stops on SIGTERM', async () => {
  await using world = await createWorld()
  await using beside = await connectBeside()
  const token = await world.make.token(await world.make.user({ quota: 1_000_000_000 }))
  await world.make.channel()
  await using product = await startProduct({ environment: { ...world.environment, WORKERS: '2', STOP_SECONDS: '1' } })
  using traffic = startTraffic({ urls: [product.url], tokens: [token], kinds: ['plain', 'stream'], concurrency: 6 })
  await pause(500)
  await close(beside, world)
  await pause(500)
  const stoppedAt = Date.now()
  expect(await product.stop()).toEqual({ code: 0, signal: null })
  expect(Date.now() - stoppedAt).toBeLessThan(150_000)
  await traffic.stop()
})
