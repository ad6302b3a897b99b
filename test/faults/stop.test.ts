import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TestToken } from '../support/factories.ts'
import { type Product, startProduct, sendSignal, until } from '../support/processes.ts'
import { chargeViolations, untilNothingIsHeld } from './ledger-check.ts'
import { callOnce, type Outcome, startTraffic } from './traffic.ts'
import { createWorld, type World } from './world.ts'

type Begun = {
  /** What becomes of them. */
  ending: Promise<Outcome[]>
  goOn: () => void
}

/** Streams that have begun, all of them, and go on only when they are let. */
async function begunStreams(
  { upstream }: World,
  { url }: Product,
  caller: { token: TestToken; count: number },
): Promise<Begun> {
  const { token, count } = caller
  const begun = new Set<number>()
  const text = '[[words=40,gate=go-on,gateat=5]] tell something'
  const ending = Promise.all(
    Array.from({ length: count }, (_, index) =>
      callOnce(url, token, { kind: 'stream', text, longestMs: 300_000, onChunk: () => void begun.add(index) }),
    ),
  )
  await until(() => begun.size === count, { what: () => `${begun.size} of ${count} streams have begun` })
  return { ending, goOn: () => upstream.openGate('go-on') }
}

/** Whether nobody takes connections at the address. */
const isClosed = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true))
    socket.once('connect', () => socket.destroy())
  })

/** Answers that the test holds are not cut while it looks around. */
const patient = { STOP_SECONDS: '300' }

async function startOn(world: World, environment: Record<string, string> = {}): Promise<Product> {
  await world.make.channel()
  return startProduct({
    isPatient: true,
    environment: { ...world.environment, ...patient, WORKERS: '2', ...environment },
  })
}

test('on SIGTERM under load running answers end complete, new calls are refused, the ledger balances and the exit code is 0', async () => {
  await using world = await createWorld()
  await using product = await startOn(world)
  const token = await world.make.token(await world.make.user({ quota: 1_000_000_000 }))
  using traffic = startTraffic({ urls: [product.url], tokens: [token], kinds: ['plain', 'stream'], concurrency: 8 })
  const streams = await begunStreams(world, product, { token, count: 20 })
  const ending = product.stop()
  const stoppedAt = Date.now()
  await until(async () => (await product.health()) !== 200, { what: 'it still says that it is ready' })
  await until(() => isClosed(product.url), { what: 'it still takes connections' })
  streams.goOn()
  expect((await streams.ending).filter(({ complete }) => !complete)).toEqual([])
  expect(await ending).toEqual({ code: 0, signal: null })
  expect(Date.now() - stoppedAt).toBeLessThan(120_000)
  const outcomes = await traffic.stop()
  // What had begun was answered to the end: nobody was cut off.
  expect(outcomes.filter(({ status, complete }) => status === 200 && !complete)).toEqual([])
  await untilNothingIsHeld(world.pool)
  expect(await chargeViolations(world.pool, [...outcomes, ...(await streams.ending)])).toEqual([])
})

test('what has not ended is cut at the deadline: streams with an error event and a charge, other calls with a 503 and none', async () => {
  await using world = await createWorld()
  await using product = await startOn(world, { STOP_SECONDS: '1', WORKERS: '1' })
  const token = await world.make.token(await world.make.user({ quota: 1_000_000_000 }))
  const streams = await begunStreams(world, product, { token, count: 1 })
  const plain = callOnce(product.url, token, { kind: 'plain', text: '[[gate=never]] say something' })
  await until(() => world.upstream.open === 2, { what: 'the calls are not under way' })
  expect(await product.stop()).toEqual({ code: 0, signal: null })
  const [[streamed], answered] = (await Promise.all([streams.ending, plain])) as [[Outcome], Outcome]
  expect(streamed.body).toContain('"error"')
  expect(streamed.body).not.toContain('[DONE]')
  expect(answered.status).toBe(503)
  expect(answered.headers.get('retry-after')).not.toBeNull()
  const { rows } = await world.pool.query('select request_id, quota::int, other from logs where type = 2')
  expect(rows).toMatchObject([{ request_id: streamed.id, quota: expect.any(Number), other: { end: 'failed' } }])
  expect(rows[0].quota).toBeGreaterThan(0)
  await untilNothingIsHeld(world.pool)
  expect(await chargeViolations(world.pool, [streamed, answered])).toEqual([])
})

test('SIGTERM to npm start, whose shell does not pass it on, lets running answers end and leaves no process behind', async () => {
  await using world = await createWorld()
  await world.make.channel()
  await using product = await startProduct({
    environment: { ...world.environment, ...patient, WORKERS: '1' },
    entry: 'npm start',
  })
  const token = await world.make.token(await world.make.user({ quota: 1_000_000_000 }))
  const streams = await begunStreams(world, product, { token, count: 2 })
  // Ends when the last process has closed the output that all of them share.
  const stopped = product.stop()
  await until(() => isClosed(product.url), { what: 'it still takes connections' })
  streams.goOn()
  await stopped
  expect((await streams.ending).map(({ complete }) => complete)).toEqual([true, true])
  await expect(fetch(product.url)).rejects.toThrow()
})

test('the end of a terminal, which every process receives by itself, lets running answers end', async () => {
  await using world = await createWorld()
  await using product = await startOn(world)
  const token = await world.make.token(await world.make.user({ quota: 1_000_000_000 }))
  const streams = await begunStreams(world, product, { token, count: 4 })
  product.signalAll('SIGHUP')
  await until(() => isClosed(product.url), { what: 'it still takes connections' })
  streams.goOn()
  expect((await streams.ending).map(({ complete }) => complete)).toEqual([true, true, true, true])
  expect(await product.exited).toEqual({ code: 0, signal: null })
})

test('when the first process is killed its workers still end what they had begun', async () => {
  await using world = await createWorld()
  await using product = await startOn(world)
  const token = await world.make.token(await world.make.user({ quota: 1_000_000_000 }))
  const streams = await begunStreams(world, product, { token, count: 4 })
  sendSignal(product.pid, 'SIGKILL')
  await until(() => isClosed(product.url), { what: 'its workers still take connections' })
  streams.goOn()
  const outcomes = await streams.ending
  expect(outcomes.map(({ complete }) => complete)).toEqual([true, true, true, true])
  await product.exited
  await untilNothingIsHeld(world.pool)
  expect(await chargeViolations(world.pool, outcomes)).toEqual([])
})

test('the database that comes along stops with the product, and the next start is quick', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stop-'))
  const environment = { DATA_DIR: folder, WORKERS: '2' }
  try {
    const first = await startProduct({ environment })
    expect(await first.stop()).toEqual({ code: 0, signal: null })
    const before = Date.now()
    await using second = await startProduct({ environment: { ...environment, WORKERS: '1' } })
    expect(Date.now() - before).toBeLessThan(120_000)
    expect(await second.stop()).toEqual({ code: 0, signal: null })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
