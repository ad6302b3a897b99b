import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { Pool } from 'undici'
import { expect, test } from 'vitest'
import { createSecrets } from '#features/secrets/service.ts'
import { freePort, secretKey, startProduct, until } from '../support/processes.ts'
import { alterDatabase } from './alter-database.ts'
import { startBalancer } from './balancer.ts'
import { chargeViolations, untilNothingIsHeld } from './ledger-check.ts'
import { callOnce } from './traffic.ts'
import { createWorld, long } from './world.ts'

type Answer = { status: number; closing: boolean; body: string }

/** Between two calls of one client: what is left of the cores is for the nodes that start meanwhile. */
const pauseMs = long ? 0 : 60

/** So many clients that keep their connections and call again and again, until asked to stop. */
function startClients(url: string, key: string, clients: number) {
  const pool = new Pool(url, { connections: clients })
  const answers: Answer[] = []
  let stopping = false
  const call = async (): Promise<Answer> => {
    try {
      const reply = await pool.request({
        path: '/v1/chat/completions',
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer sk-${key}` },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: '[[delay=15]] say' }] }),
      })
      const closing = reply.headers.connection === 'close'
      return { status: reply.statusCode, closing, body: await reply.body.text() }
    } catch (error) {
      return { status: 0, closing: false, body: String(error) }
    }
  }
  const callers = Array.from({ length: clients }, async () => {
    while (!stopping) {
      answers.push(await call())
      await pause(pauseMs)
    }
  })
  return {
    answers,
    stop: async () => {
      stopping = true
      await Promise.all(callers)
      await pool.close()
      return answers
    },
  }
}

const failed = (answers: Answer[]) => answers.filter(({ status }) => status !== 200)

test('two nodes restarted in turn behind a proxy that follows their readiness fail no call; sessions and reset links survive', async () => {
  await using world = await createWorld()
  await world.make.channel()
  const person = await world.make.user({ quota: 1_000_000_000 })
  const token = await world.make.token(person)
  const email = `${person.username}@example.com`.toLowerCase()
  await world.pool.query('update users set email = $2, email_normalized = $2 where id = $1', [person.id, email])
  const code = 'c0ffee'.repeat(6)
  await world.pool.query(
    `insert into one_time_codes (purpose, subject, code_hash, attempts, created_at, expires_at)
     values ('password-reset', $1, $2, 0, now(), now() + interval '10 minutes')`,
    [email, createSecrets(secretKey).hmac(`password-reset:${email}:${code}`)],
  )
  // One of them serves by itself, the other by workers, whose ends its first process waits for.
  const start = (port: number, index: number) =>
    startProduct({
      isPatient: true,
      environment: { ...world.environment, WORKERS: String(index + 1), PORT: String(port), DRAIN_SECONDS: '15' },
    })
  const ports = [await freePort(), await freePort()]
  const nodes = await Promise.all(ports.map(start))
  try {
    await using balancer = await startBalancer(nodes.map(({ url }) => url))
    await until(() => nodes.every(({ url }) => balancer.isReady(url)), { what: 'a node is not ready' })
    const clients = startClients(balancer.url, token.key, 8)
    for (const [index, port] of ports.entries()) {
      const node = nodes[index] as (typeof nodes)[number]
      const before = clients.answers.length
      await until(() => clients.answers.length > before + 100, { what: 'nothing is answered' })
      expect(await node.stop()).toEqual({ code: 0, signal: null })
      const next = await start(port, index)
      nodes[index] = next
      const served = balancer.served(next.url)
      await until(() => balancer.served(next.url) > served + 20, { what: 'the new node gets no calls' })
    }
    const answers = await clients.stop()
    expect(failed(answers)).toEqual([])
    expect(answers.length).toBeGreaterThan(300)
    const self = await fetch(`${balancer.url}/api/user/self`, {
      headers: { cookie: `session=${person.sessionId}`, 'x-user-id': String(person.id) },
    })
    expect(await self.json()).toMatchObject({ success: true, data: { id: person.id } })
    const reset = await fetch(`${balancer.url}/api/user/reset`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, token: code }),
    })
    expect(await reset.json()).toMatchObject({ success: true })
    await untilNothingIsHeld(world.pool)
    expect(await chargeViolations(world.pool, [])).toEqual([])
  } finally {
    await Promise.all(nodes.map((node) => node.killAll()))
  }
})

test('on SIGTERM a node is not ready at once, serves on, and closes every connection with its answer', async () => {
  await using world = await createWorld()
  await world.make.channel()
  const token = await world.make.token(await world.make.user({ quota: 1_000_000_000 }))
  await using product = await startProduct({
    isPatient: true,
    environment: { ...world.environment, WORKERS: '2', DRAIN_SECONDS: '20', STOP_SECONDS: '60' },
  })
  const ready = () =>
    fetch(`${product.url}/readyz`).then(async (reply) => ({ ...(await reply.json()), status: reply.status }))
  await expect.poll(ready).toEqual({ status: 200, ready: true })
  // One that never says anything must not hold up the end.
  const silent = connect(Number(new URL(product.url).port), '127.0.0.1').on('error', () => {})
  const clients = startClients(product.url, token.key, 8)
  const stream = callOnce(product.url, token, {
    kind: 'stream',
    text: '[[words=40,gate=go-on,gateat=5]] tell something',
    longestMs: 300_000,
  })
  await until(() => clients.answers.length > 100, { what: 'nothing is answered' })
  expect(clients.answers.some(({ closing }) => closing)).toBe(false)
  const ending = product.stop()
  await until(async () => (await ready()).status === 503, { what: 'it still says that it is ready' })
  const isAskedBack = () => clients.answers.slice(-20).every(({ closing }) => closing)
  await until(isAskedBack, { what: 'connections are not asked back' })
  const answers = await clients.stop()
  expect(failed(answers)).toEqual([])
  // A stream goes on although nobody new is taken any more.
  await until(async () => (await product.health()) === 0, { what: 'it still takes connections' })
  world.upstream.openGate('go-on')
  expect(await stream).toMatchObject({ complete: true })
  expect(await ending).toEqual({ code: 0, signal: null })
  await expect.poll(() => silent.destroyed || silent.readableEnded || silent.closed).toBe(true)
  await untilNothingIsHeld(world.pool)
  expect(await chargeViolations(world.pool, [await stream])).toEqual([])
})

test('a node whose database is unreachable is not ready, and is ready again when it is back', async () => {
  await using world = await createWorld()
  await using product = await startProduct({ environment: { ...world.environment, WORKERS: '1' } })
  const status = () => fetch(`${product.url}/readyz`).then(({ status: code, body }) => body?.cancel().then(() => code))
  await expect.poll(status).toBe(200)
  const { database } = world.connection
  const beside = new Client({ ...world.connection, database: 'postgres' })
  await beside.connect()
  try {
    await alterDatabase(beside, { database, setting: 'allow_connections false' })
    await until(async () => (await status()) === 503, { what: 'it says that it is ready' })
    await beside.query(`alter database ${database} allow_connections true`)
    await until(async () => (await status()) === 200, { what: 'it is not ready again' })
  } finally {
    await beside.query(`alter database ${database} allow_connections true`)
    await beside.end()
  }
})
